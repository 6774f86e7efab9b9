"""``--report observe``: observations as Hypothesis writes them, one JSON object on each line, which Tyche shows.

Each finding is a ``test_case``, and each run that was kept: a sample, or what reached something new if that is kept.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ordeal._base.limits import MESSAGE_CHARS_MAX
from ordeal._engine.search.run_loop import KEPT_MAX
from ordeal._report.formats.document import (
    Finding,
    Result,
    behavior_of,
    clean,
    contained,
    faults_of,
    figures,
    headline,
    id_of,
    line,
    results_of,
    save,
    steps_of,
)
from ordeal.result.exploration import ranges

#: Where Tyche looks, below any folder.
FOLDER = ".hypothesis/observed"


def write(document: Mapping[str, Any], folder: Path, _run: Path | None) -> Path:
    """Write ``.hypothesis/observed/ordeal_testcases.jsonl``."""
    below = folder / FOLDER
    below.mkdir(parents=True, exist_ok=True)
    start = time.time()
    records = (record for result in results_of(document) for record in _records(result, start))
    return save(below, "ordeal_testcases.jsonl", (json.dumps(clean(record)) + "\n" for record in records))


def _records(result: Result, start: float) -> Iterator[dict[str, Any]]:
    common = {"run_start": start, "property": line(result["test_class"])}
    for kept in result.get("kept_runs", ())[:KEPT_MAX]:
        yield {**common, **_test_case(result, kept, "passed", "")}
    for finding in result.get("failures", ()):
        yield {**common, **_test_case(result, finding, "failed", headline(finding))}
    yield {**common, "type": "info", "title": "Explored", "content": figures(result)}


def _test_case(result: Result, run: Finding, status: str, reason: str) -> dict[str, Any]:
    steps, covered = steps_of(run), behavior_of(result).get("covered_lines", {}) if status == "failed" else {}
    coverage = {str(Path(file).absolute()): list(ranges(lines)) for file, lines in covered.items()}
    counts = Counter(step[:MESSAGE_CHARS_MAX] for step in steps)
    features: dict[str, Any] = {"steps": len(steps), "faults": len(faults_of(run))}
    if "edges_discovered" in run:
        features["new edges"] = run["edges_discovered"]
    return {
        "type": "test_case",
        "status": status,
        "status_reason": reason,
        "representation": contained(run.get("program", "")),
        "arguments": {},
        "how_generated": "while exploring with ordeal" if run.get("run_id") else "from a saved failure",
        "features": features | {f"step {name}": count for name, count in counts.items()},
        "coverage": coverage or None,
        "timing": {},
        "metadata": {"ordeal": {"run_id": run.get("run_id"), "id": id_of(run)}},
    }
