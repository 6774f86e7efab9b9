"""Which lines of a file run, from one call to the next."""

from __future__ import annotations

from pathlib import Path

from ordeal._engine.mutation.line_coverage import LineCoverage


def test_lines_are_counted_anew_after_each_take(tmp_path: Path) -> None:
    path = str(tmp_path / "a.py")
    names: dict[str, object] = {}
    coverage = LineCoverage({path})
    coverage.start()
    try:
        exec(compile("def f(a):\n    if a:\n        return 1\n    return 2\n", path, "exec"), names)
        f = names["f"]
        assert callable(f)
        assert (path, 1) in coverage.take()
        for given, line in ((1, 3), (0, 4), (1, 3)):
            f(given)
            lines = {number for _, number in coverage.take()}
            assert {2, line} <= lines <= {1, 2, line}
        assert coverage.take() == set()
    finally:
        coverage.stop()
