"""Which lines of a file run, from one call to the next."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import CodeType, FunctionType

from ordeal._tools.mutation.line_coverage import LineCoverage


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


def defined_in(path: str) -> FunctionType:
    """A function of one line, which follows that of its definition."""
    names: dict[str, object] = {}
    exec(compile("def f(a):\n    return a\n", path, "exec"), names)
    f = names["f"]
    assert isinstance(f, FunctionType)
    return f


def test_counting_anew_restarts_nobody_else(tmp_path: Path) -> None:
    path = str(tmp_path / "a.py")
    f = defined_in(path)
    events, seen = sys.monitoring.events, []
    coverage = LineCoverage({path})
    other = next(each for each in (2, 3, 4) if sys.monitoring.get_tool(each) is None)
    sys.monitoring.use_tool_id(other, "another")
    coverage.start()
    try:

        def once(code: CodeType, _line: int) -> object:
            seen.append(code)
            return sys.monitoring.DISABLE

        sys.monitoring.register_callback(other, events.LINE, once)
        sys.monitoring.set_local_events(other, f.__code__, events.LINE)
        for _ in range(3):
            f(1)
            assert coverage.take() == {(path, 1), (path, 2)}
        assert seen == [f.__code__]
    finally:
        coverage.stop()
        sys.monitoring.set_local_events(other, f.__code__, 0)
        sys.monitoring.register_callback(other, events.LINE, None)
        sys.monitoring.free_tool_id(other)


def test_a_second_coverage_in_one_process_counts_what_the_first_one_counted(tmp_path: Path) -> None:
    path = str(tmp_path / "a.py")
    f = defined_in(path)
    for _ in range(2):
        coverage = LineCoverage({path})
        coverage.start()
        try:
            f(1)
            assert coverage.take() == {(path, 1), (path, 2)}
        finally:
            coverage.stop()


def test_lines_of_a_fork_stay_while_it_lives(tmp_path: Path) -> None:
    path, beside = str(tmp_path / "a.py"), tmp_path / "lines"
    names: dict[str, object] = {}
    exec(compile("def f(a):\n    return a\n", path, "exec"), names)
    ends, end = os.pipe()
    ran, says = os.pipe()
    tester = os.fork()
    if tester == 0:
        # What watches forks can never be taken off again, so this is not a process of the tests.
        coverage = LineCoverage({path}, beside)
        coverage.start()
        child = os.fork()
        if child == 0:
            names["f"](1)  # type: ignore[operator]
            os.write(says, b".")
            os.read(ends, 1)
            os._exit(0)
        os.read(ran, 1)
        found = [coverage.take(), coverage.take_beside(), coverage.take_beside()]
        os.write(end, b".")
        os.waitpid(child, 0)
        found.append(coverage.take_beside())
        os._exit(found != [set(), {(path, 1), (path, 2)}, {(path, 1), (path, 2)}, set()])
    assert os.waitpid(tester, 0)[1] == 0
    for each in (ends, end, ran, says):
        os.close(each)
