"""Two reports of explorations compared: which findings are new, which are gone, which lines ran in one of them only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ordeal._base.formatting import JSON_SCHEMA_VERSION, counted, one_line
from ordeal._base.limits import INPUT_BYTES_MAX, ROWS_MAX
from ordeal._base.regular_file import read_regular
from ordeal._engine.runs.report import ReportDocument
from ordeal._report.formats.document import behavior_of, findings_of, fingerprint, headline, id_of, results_of, where
from ordeal.errors import ConfigError
from ordeal.result.exploration import line_ranges, ranges


def read_document(path: Path) -> dict[str, Any]:
    """Return the document that a file holds.

    Raises:
        ConfigError: the file cannot be read, or is not a JSON report of this version.
    """
    hint = "name a file that `ordeal explore --json` or `--report json` wrote"
    try:
        data = read_regular(path, INPUT_BYTES_MAX)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ConfigError(f"cannot read the report `{path}`: {reason}", hint=hint) from None
    if len(data) > INPUT_BYTES_MAX:
        raise ConfigError(f"the report `{path}` is larger than {INPUT_BYTES_MAX} bytes", hint=hint)
    try:
        # The decoder of msgspec refuses half of a pair of surrogates, which messages may hold.
        document: dict[str, Any] = json.loads(data)
        checked = msgspec.convert(document, ReportDocument)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        reason = re.sub(r"\s+", " ", str(error))
        raise ConfigError(f"`{path}` is not a JSON report of ordeal: {reason}", hint=hint) from None
    if checked.schema_version != JSON_SCHEMA_VERSION:
        raise ConfigError(f"`{path}` has schema version {checked.schema_version}", hint="explore again")
    return document


@dataclass(frozen=True, slots=True)
class ReportComparison:
    """What the second report has that the first one has not, and the other way round.

    Findings are objects of the JSON report, and lines are texts such as ``3,5-7`` by file. Those of a file that was
    edited in between are not compared: the same number is another line.
    """

    new: list[Mapping[str, Any]]
    gone: list[Mapping[str, Any]]
    both: list[Mapping[str, Any]]
    lost_lines: dict[str, str]
    gained_lines: dict[str, str]
    edited_files: list[str]


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> ReportComparison:
    """Return how two documents differ."""
    first, second = _findings(before), _findings(after)
    covered, covers = _lines(before), _lines(after)
    # A file that ran in both reports and has other lines that can run was edited.
    lines, other_lines = _all_lines(before), _all_lines(after)
    edited = sorted(file for file in lines.keys() & other_lines.keys() if lines[file] != other_lines[file])
    for file in edited:
        del covered[file], covers[file]
    return ReportComparison(
        new=[finding for key, finding in second.items() if key not in first],
        gone=[finding for key, finding in first.items() if key not in second],
        both=[finding for key, finding in second.items() if key in first],
        lost_lines=_beyond(covered, covers),
        gained_lines=_beyond(covers, covered),
        edited_files=edited,
    )


def _findings(document: Mapping[str, Any]) -> dict[tuple[str, str], Mapping[str, Any]]:
    return {(result["test_class"], fingerprint(finding)): finding for result, finding in findings_of(document)}


def _lines(document: Mapping[str, Any]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for result in results_of(document):
        for file, lines in behavior_of(result).get("covered_lines", {}).items():
            found.setdefault(file, set()).update(ranges(lines))
    return found


def _all_lines(document: Mapping[str, Any]) -> dict[str, set[int]]:
    """Return the lines that can run, of files where some did; nothing where a report does not list the missed ones."""
    found: dict[str, set[int]] = {}
    for result in results_of(document):
        missed = behavior_of(result).get("missed_lines")
        if missed is not None:
            for file, lines in _lines({"results": [result]}).items():
                found.setdefault(file, set()).update(lines, missed.get(file, ()))
    return found


def _beyond(one: Mapping[str, set[int]], other: Mapping[str, set[int]]) -> dict[str, str]:
    left = {file: sorted(lines - other.get(file, set())) for file, lines in sorted(one.items())}
    return {file: ",".join(line_ranges(lines)) for file, lines in left.items() if lines}


def comparison_text(found: ReportComparison) -> str:
    """Return the comparison for people, with a newline at the end."""
    return "".join(f"{line}\n" for line in _told(found))


def _told(found: ReportComparison) -> Iterator[str]:
    for word, findings in (("new", found.new), ("gone", found.gone), ("in both", found.both)):
        yield f"{counted(len(findings), 'finding')} {word}"
        for finding in findings[:ROWS_MAX]:
            place = where(finding)
            yield f"  {id_of(finding)}  {headline(finding)}" + (f"  {place}" if place else "")
        if len(findings) > ROWS_MAX:
            yield f"  ... and {len(findings) - ROWS_MAX} more"
    for word, lines in (("no longer run", found.lost_lines), ("run now", found.gained_lines)):
        number = sum(1 for each in lines.values() for _ in ranges(each))
        if number:
            yield f"{counted(number, 'line')} {word}"
            yield from (f"  {one_line(f'{file}:{numbers}')}" for file, numbers in list(lines.items())[:ROWS_MAX])
    if found.edited_files:
        yield f"Lines not compared, as {'it was' if len(found.edited_files) == 1 else 'they were'} edited:"
        yield from (f"  {one_line(file)}" for file in found.edited_files[:ROWS_MAX])
