"""``--report github``: annotations for GitHub Actions, which shows them next to the lines of a pull request.

A step shows ten of each kind. Where ordeal runs in such a step, it prints the file, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ordeal._base.formatting import counted
from ordeal._base.limits import LINES_MAX, LISTED_MAX
from ordeal._report.formats.document import (
    Finding,
    details,
    findings_of,
    headline,
    id_of,
    line,
    own_line,
    replay,
    results_of,
    save,
)


def write(document: Mapping[str, Any], folder: Path, _run: Path | None) -> Path:
    """Write ``annotations.txt``."""
    return save(folder, "annotations.txt", annotation_lines(document))


def annotation_lines(document: Mapping[str, Any]) -> str:
    """Return a line for each annotation."""
    findings = [finding for _, finding in findings_of(document)]
    errors = limited("error", "ordeal", findings, _error, "more finding")
    blind = [
        each for each in results_of(document)[:LISTED_MAX] if each.get("inconclusive") and not each.get("failures")
    ]
    texts = [f"{line(each['test_class'])}: {line(each['inconclusive'].get('reason', ''))}" for each in blind]
    warnings = [annotation("warning", {"title": "ordeal: inconclusive"}, text) for text in texts]
    return "".join(f"{each}\n" for each in (*errors, *warnings))


def limited(kind: str, title: str, found: Sequence[Any], annotate: Callable[[Any], str], more: str) -> Iterator[str]:
    """Yield an annotation for each; of more than GitHub shows, the last one counts the rest."""
    shown = found if len(found) <= LISTED_MAX else found[: LISTED_MAX - 1]
    yield from map(annotate, shown)
    if left := len(found) - len(shown):
        yield annotation(kind, {"title": title}, f"and {counted(left, more)}: see the report")


def _error(finding: Finding) -> str:
    at = own_line(finding)
    place = {} if at is None else {"file": _from_workspace(str(at["file"])), "line": str(at["line"])}
    described = [*details(finding), replay(finding)][:LINES_MAX]
    message = "\n".join([headline(finding), *filter(None, described)])
    return annotation("error", {**place, "title": f"ordeal {id_of(finding)}".strip()}, message)


def _from_workspace(path: str) -> str:
    """Return a path from the root of the repository, where the job did not change its folder."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    here = Path.cwd()
    if workspace and here.is_relative_to(workspace) and not Path(path).is_absolute():
        return (here.relative_to(workspace) / path).as_posix()
    return path


def annotation(kind: str, properties: Mapping[str, str], message: str) -> str:
    """Return one annotation, such that no part of it is taken for another."""
    words = ",".join(
        f"{name}={_data(line(value)).replace(':', '%3A').replace(',', '%2C')}" for name, value in properties.items()
    )
    return f"::{kind} {words}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
