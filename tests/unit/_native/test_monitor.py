"""The edge tracer: what it sees and what it leaves alone."""

from __future__ import annotations

import asyncio
import functools
import importlib
import itertools
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ordeal._native as _native

from ..samples.monitored import BRANCHY, LEVELS, MakeModule, file_of, lines_of, monitor_of, tracing

# -- what is seen -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("def run():\n    x = 1\n    return x\n", [2, 3], id="function"),
        pytest.param(
            "def run():\n    def inner(y):\n        return y\n    return inner(1)\n", [2, 3, 4], id="nested function"
        ),
        pytest.param(
            "def run():\n    return [\n        a\n        for a in range(3)\n        if a\n    ]\n",
            [2, 3, 4, 5],
            id="comprehension",
        ),
        pytest.param(
            "def each():\n    yield 1\n    yield 2\ndef run():\n    return list(each())\n", [2, 3, 5], id="generator"
        ),
        pytest.param(
            "import asyncio\nasync def wait():\n    await asyncio.sleep(0)\n    return 1\ndef run():\n"
            "    return asyncio.run(wait())\n",
            [3, 4, 6],
            id="coroutine",
        ),
        pytest.param(
            "class A:\n    def __init__(self):\n        self.x = 1\n    @property\n    def y(self):\n"
            "        return self.x\ndef run():\n    return A().y\n",
            [3, 6, 8],
            id="methods",
        ),
        pytest.param(
            "def run():\n    class B:\n        x = 1\n        def m(self):\n            return 2\n    return B().m()\n",
            [2, 3, 4, 5, 6],
            id="class body",
        ),
        pytest.param(
            "pick = (\n    lambda: 1,\n    lambda: 2,\n)\ndef run():\n    return pick[1]()\n", [3, 6], id="lambda"
        ),
        pytest.param(
            "import functools\ndef deco(f):\n    @functools.wraps(f)\n    def inner():\n        return f()\n"
            "    return inner\n@deco\ndef run():\n    return 1\n",
            [5, 9],
            id="decorated function",
        ),
        pytest.param(
            "def run():\n    try:\n        1 / 0\n    except ZeroDivisionError:\n        return 2\n    return 3\n",
            [2, 3, 4, 5],
            id="handler",
        ),
        pytest.param(
            "def run(n=3):\n    match n:\n        case 1:\n            return\n        case _:\n            return 2\n",
            [2, 3, 5, 6],
            id="match",
        ),
    ],
)
def test_executed_lines(make_module: MakeModule, source: str, expected: list[int], level: str) -> None:
    module = make_module(source)
    seen = lines_of(module, module.run, level=level)
    assert set(expected) <= set(seen)
    assert set(seen) - set(expected) <= {1}  # a class body and a module begin on a line of their own


@pytest.mark.parametrize("level", LEVELS)
def test_a_function_that_a_thread_is_in_already_is_traced(make_module: MakeModule, level: str) -> None:
    module = make_module(
        """
def serve(started, requests, answers):
    started.set()
    while (request := requests.get()) is not None:
        if request:
            answers.put(1)
        else:
            answers.put(2)
"""
    )
    started, requests, answers = threading.Event(), queue.SimpleQueue[Any](), queue.SimpleQueue[int]()
    thread = threading.Thread(target=module.serve, args=(started, requests, answers))
    thread.start()
    started.wait(300)

    def ask() -> None:
        requests.put(True)
        assert answers.get(timeout=300) == 1

    try:
        assert lines_of(module, ask, level=level)[-2:] == [5, 6]
        # By another monitor, which knows nothing of what the first one traced.
        assert 6 in lines_of(module, ask, level=level)
    finally:
        requests.put(None)
        thread.join(300)


def test_threads_that_run_already_are_traced(make_module: MakeModule) -> None:
    module = make_module("def run():\n    return 1\n")
    go = threading.Event()
    thread = threading.Thread(target=lambda: (go.wait(), module.run()))
    thread.start()

    def let_go() -> None:
        go.set()
        thread.join()

    assert lines_of(module, let_go) == [2]


def test_a_generator_that_was_entered_before_is_traced(make_module: MakeModule) -> None:
    module = make_module("def each():\n    yield 1\n    yield 2\n    yield 3\n")
    generator = module.each()
    next(generator)
    assert {3, 4} <= set(lines_of(module, lambda: list(generator)))


def test_a_coroutine_that_was_entered_before_is_traced(make_module: MakeModule) -> None:
    module = make_module("async def wait(event):\n    await event.wait()\n    return 1\n")

    async def drive() -> list[int]:
        event = asyncio.Event()
        task = asyncio.create_task(module.wait(event))
        await asyncio.sleep(0)
        monitor = monitor_of(module)
        with tracing(monitor):
            event.set()
            await task
        return monitor.lines()[file_of(module)]

    assert 3 in asyncio.run(drive())


def test_only_targets_are_traced(make_module: MakeModule) -> None:
    other = make_module("def run():\n    return 1\n", "other")
    module = make_module("import other\ndef run():\n    return other.run()\n")
    monitor = monitor_of(module)
    with tracing(monitor):
        module.run()
        other.run()
    assert list(monitor.lines()) == [file_of(module)]
    events = 1 + 1  # one entry, one line
    assert monitor.events == events


def test_a_directory_of_the_same_name_is_not_the_target(make_module: MakeModule, tmp_path: Path) -> None:
    """A project directory that bears the package's name holds the tests too; these are not the program under test."""
    project = tmp_path / "myapp"
    make_module("", "myapp.myapp.__init__", import_it=False)
    make_module("def run():\n    return 1\n", "myapp.myapp.core", import_it=False)
    make_module("def test(core):\n    return core.run()\n", "myapp.tests.test_chaos", import_it=False)
    core = importlib.import_module("myapp.myapp.core")
    chaos = importlib.import_module("myapp.tests.test_chaos")
    monitor = _native.Monitor(_native.CoverageMap(), [("myapp", str(project / "myapp"), True)])
    with tracing(monitor):
        chaos.test(core)
    assert list(monitor.lines()) == [str(project / "myapp" / "core.py")]


def test_code_that_says_it_is_the_target_counts_as_the_target(make_module: MakeModule) -> None:
    """So do import hooks: what they compile bears the name of the file it came from."""
    module = make_module("x = 1\ny = 2\n")
    code = compile(Path(file_of(module)).read_text(), file_of(module), "exec")
    assert lines_of(module, lambda: exec(code)) == [1, 2]


def test_a_file_name_that_is_no_text_is_ignored(make_module: MakeModule) -> None:
    module = make_module("def run():\n    return 1\n")
    odd = compile("x = 1\n", "odd\udcff.py", "exec")
    monitor = monitor_of(module)
    with tracing(monitor):
        exec(odd)
        module.run()
    assert monitor.lines() == {file_of(module): [2]}


# -- levels -----------------------------------------------------------------------------------------------------------


def test_novelty_is_silent_once_everything_was_seen(make_module: MakeModule) -> None:
    module = make_module(BRANCHY)
    coverage = _native.CoverageMap()
    with tracing(monitor_of(module, coverage=coverage)) as monitor:
        module.run(10)
        assert coverage.take_new_coverage()[0] > 0
        events = monitor.events
        module.run(10)
        assert monitor.events == events
        assert coverage.take_new_coverage() == (0, 0)


def test_counts_feed_the_hit_count_buckets(make_module: MakeModule) -> None:
    module = make_module(BRANCHY)
    coverage = _native.CoverageMap()
    with tracing(monitor_of(module, coverage=coverage, level="counts")) as monitor:
        module.run(2)
        edges, buckets = coverage.take_new_coverage()
        assert buckets >= edges > 0
        monitor.begin_run()
        module.run(2)
        assert coverage.take_new_coverage() == (0, 0)
        monitor.begin_run()
        module.run(200)
        edges, buckets = coverage.take_new_coverage()
        assert edges == 0
        assert buckets >= 3, "the loop and both sides of the branch reached new buckets"


def test_the_other_side_of_a_branch_is_an_edge(make_module: MakeModule) -> None:
    module = make_module("def run(a, b):\n    return a and b\n")
    for level in LEVELS:
        coverage = _native.CoverageMap()
        with tracing(monitor_of(module, coverage=coverage, level=level)):
            module.run(0, 1)
            coverage.take_new_coverage()
            module.run(1, 1)
            assert coverage.take_new_coverage()[0] == 1


def test_a_one_sided_branch_falls_silent_and_a_full_run_listens_again(make_module: MakeModule) -> None:
    module = make_module("def run(a, b):\n    return a and b\n")
    coverage = _native.CoverageMap()
    with tracing(monitor_of(module, coverage=coverage)) as monitor:
        for _ in range(1000):
            module.run(0, 1)
        events = monitor.events
        assert events <= 300
        module.run(0, 1)
        assert monitor.events == events
        coverage.take_new_coverage()
        monitor.begin_run(full=True)
        module.run(1, 1)
        assert coverage.take_new_coverage()[0] == 1


def test_the_level_can_change_while_tracing(make_module: MakeModule) -> None:
    module = make_module(BRANCHY)
    coverage = _native.CoverageMap()
    with tracing(monitor_of(module, coverage=coverage)) as monitor:
        module.run(10)
        module.run(10)
        monitor.set_level("counts")
        assert monitor.level == "counts"
        coverage.take_new_coverage()
        module.run(10)
        assert coverage.take_new_coverage()[1] > 0
        monitor.set_level("novelty")
        module.run(10)
        events = monitor.events
        module.run(10)
        assert monitor.events == events


def seen_in_runs(
    monitor: _native.Monitor, coverage: _native.CoverageMap, runs: Sequence[Callable[[], object]]
) -> list[Any]:
    """Make runs of which each tenth counts all, and return what each brought, with the events until then."""
    seen = []
    for number, run in enumerate(runs, start=1):
        monitor.begin_run(count_all=number % 10 == 0)
        run()
        seen.append((coverage.take_new_coverage(), monitor.events))
    return seen


def test_what_shows_nothing_new_is_counted_in_a_few_runs(make_module: MakeModule) -> None:
    module = make_module(BRANCHY)
    coverage = _native.CoverageMap()
    with tracing(monitor_of(module, coverage=coverage, level="counts")) as monitor:
        seen = seen_in_runs(monitor, coverage, [lambda: module.run(10)] * 59 + [lambda: module.run(100)])
    events = [after - before for (_, before), (_, after) in itertools.pairwise(seen)]
    assert events[0] > 20
    assert events[50] < 5 < 20 < events[48], "silent, but in each tenth run"
    assert seen[-1][0][1] > 0, "more passages than before are new in a run that counts all"


def test_what_shows_something_new_is_counted_on(make_module: MakeModule) -> None:
    module = make_module(BRANCHY)
    coverage = _native.CoverageMap()
    runs: list[Callable[[], object]] = [lambda: module.run(2)] * 15 + [lambda: module.run(10)] * 15
    with tracing(monitor_of(module, coverage=coverage, level="counts")) as monitor:
        seen = seen_in_runs(monitor, coverage, runs)
    assert seen[15][0][1] > 0
    assert seen[28][1] - seen[27][1] > 15


def test_silent_locations_count_alike_where_another_process_ran(make_module: MakeModule) -> None:
    module = make_module(BRANCHY)
    lengths = [(number * 7) % 5 for number in range(40)] + [3] * 40 + [(number * 7) % 11 for number in range(40)]
    runs = [functools.partial(module.run, length) for length in lengths]
    here = _native.CoverageMap()
    with tracing(monitor_of(module, coverage=here, level="counts")) as monitor:
        seen_here = seen_in_runs(monitor, here, runs)
    records = []
    with tracing(monitor_of(module, level="counts")) as recorder:
        for run in runs:
            recorder.record()
            run()
            records.append(recorder.take_record())
    there = _native.CoverageMap()
    with tracing(monitor_of(module, coverage=there, level="counts")) as monitor:
        seen_there = seen_in_runs(monitor, there, [functools.partial(monitor.replay, record) for record in records])
    assert seen_there == seen_here


def test_an_unknown_level_is_refused(make_module: MakeModule) -> None:
    module = make_module("")
    with pytest.raises(Exception, match="'fast'; it must be 'novelty' or 'counts'"):
        monitor_of(module, level="fast")


# -- keys -------------------------------------------------------------------------------------------------------------

PRINT_KEYS = """
import sys
import ordeal._native as _native
import sut
coverage = _native.CoverageMap()
monitor = _native.Monitor(coverage, [("sut", sut.__file__, False)], level=sys.argv[1])
monitor.start()
sut.run()
monitor.stop()
print(len(coverage.keys()), coverage.keys())
"""


def keys_in_a_process(tmp_path: Path, level: str, hash_seed: str) -> str:
    package = Path(_native.__file__ or "").parent.parent
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": f"{tmp_path}{os.pathsep}{package}"}
    command = [sys.executable, "-c", PRINT_KEYS, level]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("level", LEVELS)
def test_keys_are_the_same_in_every_process(tmp_path: Path, level: str) -> None:
    tmp_path.joinpath("sut.py").write_text(
        "def run():\n    words = {'a', 'b', 'c'}\n    big = 10 ** 400\n    f = lambda: 1.5 in {1.5, 'é', b'x', None}\n"
        "    return [f() for w in sorted(words) if w in {'a', 'b'}], big\n"
    )
    first = keys_in_a_process(tmp_path, level, "0")
    assert first == keys_in_a_process(tmp_path, level, "1234")
    assert int(first.split()[0]) > 5


def keys_of(module: ModuleType, call: Callable[[], Any]) -> list[int]:
    coverage = _native.CoverageMap()
    with tracing(monitor_of(module, coverage=coverage)):
        call()
    return coverage.keys()


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("a, b = lambda: 1, lambda: 2\n", id="lambdas on one line"),
        pytest.param("a = lambda: 1\nb = lambda: 2\n", id="lambdas below each other"),
        pytest.param("def _(): return str()\na = _\ndef _(): return int()\nb = _\n", id="functions of one name"),
    ],
)
def test_code_objects_of_the_same_name_have_their_own_keys(make_module: MakeModule, source: str) -> None:
    module = make_module(source)
    assert not set(keys_of(module, module.a)) & set(keys_of(module, module.b))


def test_a_reloaded_module_keeps_its_keys(make_module: MakeModule) -> None:
    module = make_module("def run():\n    return 1\n")
    coverage = _native.CoverageMap()
    with tracing(monitor_of(module, coverage=coverage)):
        module.run()
        importlib.reload(module)
        module.run()
        seen = coverage.edges_seen
        for _ in range(3):
            importlib.reload(module)
            module.run()
        assert coverage.edges_seen == seen
