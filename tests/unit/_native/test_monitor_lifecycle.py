"""The edge tracer: what it takes when it starts, gives back when it stops, and whom it works beside."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ordeal._native as _native

from ..samples.monitored import BRANCHY, IDS, LEVELS, MakeModule, file_of, lines_of, monitor_of, tool_names, tracing

# -- starting and stopping --------------------------------------------------------------------------------------------


def test_the_tool_id_is_free_after_stop(make_module: MakeModule) -> None:
    module = make_module("def run():\n    return 1\n")
    before = tool_names()
    monitor = monitor_of(module)
    monitor.start()
    assert monitor.tool_id == IDS[0]
    assert sys.monitoring.get_tool(IDS[0]) == "ordeal"
    module.run()
    monitor.stop()
    assert tool_names() == before
    events = monitor.events
    module.run()
    assert monitor.events == events
    monitor.stop()


def test_no_event_is_left_on_a_code_object(make_module: MakeModule) -> None:
    module = make_module(BRANCHY)
    with tracing(monitor_of(module, level="counts")):
        module.run(3)
    sys.monitoring.use_tool_id(IDS[0], "probe")
    try:
        assert sys.monitoring.get_events(IDS[0]) == 0
        assert sys.monitoring.get_local_events(IDS[0], module.run.__code__) == 0
    finally:
        sys.monitoring.free_tool_id(IDS[0])


def test_the_tool_id_is_free_when_the_monitor_is_forgotten(make_module: MakeModule) -> None:
    module = make_module("def run():\n    return 1\n")
    before = tool_names()
    monitor = monitor_of(module)
    monitor.start()
    module.run()
    del monitor
    module.run()
    assert tool_names() == before


def test_a_second_monitor_hears_what_the_first_one_silenced(make_module: MakeModule) -> None:
    """Both use one tool id, and a silenced location stays silent for the id, whoever holds it."""
    module = make_module("def run():\n    return 1\n")
    other = make_module("def run():\n    return 1\n", "other")
    with tracing(monitor_of(module)):
        other.run()
        module.run()
    assert lines_of(other, other.run) == [2]
    assert lines_of(module, module.run) == [2]


def test_two_monitors_trace_side_by_side(make_module: MakeModule) -> None:
    module = make_module("def run():\n    return 1\n")
    first, second = monitor_of(module), monitor_of(module)
    with tracing(first), tracing(second):
        assert (first.tool_id, second.tool_id) == IDS
        module.run()
    assert first.lines() == second.lines() == {file_of(module): [2]}


def test_the_holders_of_the_tool_ids_are_named(make_module: MakeModule) -> None:
    module = make_module("")
    sys.monitoring.use_tool_id(IDS[0], "a profiler")
    try:
        with tracing(monitor_of(module)) as first:
            assert first.tool_id == IDS[1]
            with pytest.raises(Exception, match=r"4 by 'a profiler', 3 by 'ordeal'"):
                monitor_of(module).start()
    finally:
        sys.monitoring.free_tool_id(IDS[0])


def test_an_id_that_was_taken_away_is_left_to_its_new_holder(make_module: MakeModule) -> None:
    module = make_module("def run():\n    return 1\n")
    monitor = monitor_of(module)
    monitor.start()
    sys.monitoring.free_tool_id(IDS[0])
    sys.monitoring.use_tool_id(IDS[0], "another")
    try:
        assert monitor.error == f"other code has taken tool id {IDS[0]} of sys.monitoring away"
        monitor.stop()
        assert sys.monitoring.get_tool(IDS[0]) == "another"
        assert monitor.error == f"other code has taken tool id {IDS[0]} of sys.monitoring away"
    finally:
        sys.monitoring.free_tool_id(IDS[0])


@pytest.mark.parametrize("level", LEVELS)
def test_exceptions_of_the_program_pass_unchanged(make_module: MakeModule, level: str) -> None:
    module = make_module(
        """
        def inner(x):
            if x:
                raise KeyError(x)
            return x

        def run():
            try:
                inner(1)
            except KeyError as error:
                inner(0)
                raise RuntimeError("outer") from error
            finally:
                [inner(0) for _ in range(2)]
        """
    )
    with tracing(monitor_of(module, level=level)), pytest.raises(RuntimeError, match="outer") as caught:
        module.run()
    assert isinstance(caught.value.__cause__, KeyError)
    assert sys.exc_info() == (None, None, None)


def test_a_target_without_a_path_is_refused() -> None:
    with pytest.raises(Exception, match=r"target 'gone' is at '', which cannot be resolved"):
        _native.Monitor(_native.CoverageMap(), [("gone", "", False)])


def test_code_whose_file_was_deleted_is_traced(make_module: MakeModule) -> None:
    module = make_module("def run(n):\n    return n\n")
    path = module.__file__
    assert path is not None
    Path(path).unlink()
    monitor = _native.Monitor(_native.CoverageMap(), [("sut", path, False)])
    with tracing(monitor):
        module.run(1)
    assert monitor.lines() == {str(Path(path).resolve()): [2]}


# -- beside coverage.py -----------------------------------------------------------------------------------------------

BESIDE_COVERAGE = """
import os, sys
import coverage
import ordeal._native as _native
measured = coverage.Coverage(data_file=None, config_file=False)
measured.start()
import sut
assert sys.monitoring.get_tool(1) == "coverage.py", sys.monitoring.get_tool(1)
monitor = _native.Monitor(_native.CoverageMap(), [("sut", sut.__file__, False)], level=sys.argv[1])
monitor.start()
assert monitor.tool_id == 4
sut.run(5)
monitor.begin_run(full=True)
sut.run(5)
monitor.stop()
sut.after()
measured.stop()
ours = monitor.lines()[os.path.realpath(sut.__file__)]
theirs = sorted(measured.get_data().lines(sut.__file__))
assert monitor.error is None, monitor.error
print(ours, theirs)
"""


@pytest.mark.parametrize("level", LEVELS)
def test_coverage_py_keeps_working_beside_it(tmp_path: Path, level: str) -> None:
    pytest.importorskip("coverage")
    tmp_path.joinpath("sut.py").write_text(
        "def run(n):\n    t = 0\n    for i in range(n):\n        if i % 2:\n            t += 1\n    return t\n"
        "def after():\n    return 1\n"
    )
    package = Path(_native.__file__ or "").parent.parent
    environment = os.environ | {"COVERAGE_CORE": "sysmon", "PYTHONPATH": f"{tmp_path}{os.pathsep}{package}"}
    command = [sys.executable, "-c", BESIDE_COVERAGE, level]
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == "[2, 3, 4, 5, 6] [1, 2, 3, 4, 5, 6, 7, 8]"
