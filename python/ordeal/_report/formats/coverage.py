"""``--report coverage``: which lines ran, as data of coverage.py, for ``coverage html``, ``coverage lcov`` and Codecov.

``coverage combine FOLDER`` adds it to what the tests have measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coverage import CoverageData

from ordeal._report.formats.document import behavior_of, results_of
from ordeal.result.exploration import ranges


def write(document: Mapping[str, Any], folder: Path, _run: Path | None) -> Path:
    """Write ``.coverage.ordeal``, a name that ``coverage combine`` looks for."""
    path = folder / ".coverage.ordeal"
    path.unlink(missing_ok=True)
    data = CoverageData(basename=str(path))
    lines: dict[str, set[int]] = {}
    for result in results_of(document):
        behavior = behavior_of(result)
        for file in behavior.get("missed_lines", {}):
            lines.setdefault(str(Path(file).absolute()), set())
        for file, covered in behavior.get("covered_lines", {}).items():
            lines.setdefault(str(Path(file).absolute()), set()).update(ranges(covered))
    data.add_lines(lines)
    data.touch_files(lines)
    data.write()
    data.close()
    return path
