"""``--report ndjson``: one JSON object on each line, for programs that read lines as they come.

The first line is ``session``. For each class there is one ``class``, then its ``finding``, ``known``, ``seed`` and
``property`` lines; the last line is ``finished``. All but the first and the last name their ``test_class``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ordeal._report.formats.document import results_of, save

_PARTS = {"failures": "finding", "known": "known", "seed_replays": "seed", "properties": "property"}


def write(document: Mapping[str, Any], folder: Path, _run: Path | None) -> Path:
    """Write ``ordeal.ndjson``."""
    return save(folder, "ordeal.ndjson", (json.dumps(record) + "\n" for record in _records(document)))


def _records(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    results = results_of(document)
    yield {"type": "session", "schema_version": document.get("schema_version"), "options": document.get("options")}
    for result in results:
        test_class = result["test_class"]
        yield {"type": "class", **{name: value for name, value in result.items() if name not in _PARTS}}
        for part, kind in _PARTS.items():
            for record in result.get(part, ()):
                # What the record itself calls its type keeps another name.
                own = {"kind" if name == "type" else name: value for name, value in record.items()}
                yield {"type": kind, "test_class": test_class, **own}
    findings = sum(len(result.get("failures", ())) for result in results)
    yield {"type": "finished", "classes": len(results), "findings": findings}
