"""Which lines ran, as coverage.py reads it."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from ordeal._report.formats import write_report


def test_coverage_is_read_by_coverage_py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.py").write_text("def f(x):\n    if x:\n        return 1\n    return 2\n")
    behavior = {"missed_lines": {"shop.py": [4], "never.py": [1]}, "covered_lines": {"shop.py": "1-3"}}
    document = {"results": [{"test_class": "a:B", "telemetry": {"behavior": behavior}}]}
    for _ in range(2):  # over the file of an earlier run, too
        path = write_report("coverage", document, tmp_path / "r")
    with sqlite3.connect(path) as connection:
        files = connection.execute("select path from file order by path").fetchall()
    connection.close()
    assert files == [(str(tmp_path / "never.py"),), (str(tmp_path / "shop.py"),)]
    Path("never.py").write_text("x = 1\n")
    command = [sys.executable, "-m", "coverage", "report", f"--data-file={path}", "-m"]
    shown = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    assert re.search(r"shop\.py +4 +1 +75% +4", shown)
