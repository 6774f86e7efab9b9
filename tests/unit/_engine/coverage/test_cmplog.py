"""What is noted of comparisons in a replay, and that nothing is left of the watching afterwards."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import ordeal._native as _native
from ordeal._engine.coverage.cmplog import EQUAL, INSIDE, ORDER, PREFIX, SUFFIX, Cmplog
from ordeal._engine.coverage.targets import Target

from ...samples.monitored import LEVELS, MakeModule, file_of, monitor_of, tracing


def cmplog_of(module: ModuleType, monitor: _native.Monitor) -> Cmplog:
    return Cmplog([Target(module.__name__, file_of(module), is_package=False)], monitor)


def compared(log: Cmplog, call: Callable[[], object]) -> list[tuple[Any, ...]]:
    """What ``call`` compares, without the steps, once all that has run is rewritten."""
    while log.price() is not None:
        log.rewrite()
    return [each[1:] for each in log.gather(lambda _: call(), _native.Tape())]


def gathered(
    module: ModuleType, call: Callable[[], object], *, before: Callable[[], object] | None = None, level: str = "counts"
) -> list[tuple[Any, ...]]:
    """What ``call`` compares when ``before`` has run under the monitor (``call`` itself by default)."""
    monitor = monitor_of(module, level=level)
    with tracing(monitor):
        (before or call)()
        monitor.set_paused(True)
        found = compared(cmplog_of(module, monitor), call)
        monitor.set_paused(False)
    return found


def body(text: str) -> str:
    return f"def f(x, y=None):\n    if {text}:\n        return 1\n    return 0\n"


@pytest.mark.parametrize(
    ("test", "arguments", "noted"),
    [
        ("x == 500", (3,), [(EQUAL, 3, 500)]),
        ("x != 'magic'", ("word",), [(EQUAL, "word", "magic")]),
        ("x < y", (7, 9), [(ORDER, 7, 9)]),
        ("x >= 2.5", (7,), [(ORDER, 7, 2.5)]),
        ("x in (500, 600)", (3,), [(EQUAL, 3, 500), (EQUAL, 3, 600)]),
        ("x in y", (3, {9, 8, 7}), [(EQUAL, 3, 7), (EQUAL, 3, 8), (EQUAL, 3, 9)]),
        ("x in y", ("k", {"a": 1, "b": 2}), [(EQUAL, "k", "a"), (EQUAL, "k", "b")]),
        ("x in y", ("needle", "hay"), [(INSIDE, "needle", "hay")]),
        ("x.startswith(b'PK')", (b"data",), [(PREFIX, b"data", b"PK")]),
        ("x.endswith(('.a', '.b'))", ("name",), [(SUFFIX, "name", ".a"), (SUFFIX, "name", ".b")]),
        ("y.get(x)", ("k", {"a": 1}), [(EQUAL, "k", "a")]),
        ("y[x]", ("k", {"k": 0, "a": 1}), [(EQUAL, "k", "a")]),
        ("(x, y) == (1, 2)", (5, 6), [(EQUAL, 5, 1), (EQUAL, 6, 2)]),
        ("x == y", (3, "3"), []),
        ("x == y", (None, 3), []),
        ("x == y", (True, 3), []),
        ("x == y", ([1], 3), []),
    ],
)
def test_what_is_noted(
    make_module: MakeModule, test: str, arguments: tuple[Any, ...], noted: list[tuple[Any, ...]]
) -> None:
    module = make_module(body(test))
    assert gathered(module, lambda: module.f(*arguments)) == noted


@pytest.mark.parametrize("level", LEVELS)
def test_a_branch_that_went_both_ways_is_watched_no_more(make_module: MakeModule, level: str) -> None:
    module = make_module(body("x == 500"))

    def both() -> None:
        module.f(3)
        module.f(500)

    assert gathered(module, lambda: module.f(3), level=level) == [(EQUAL, 3, 500)]
    assert gathered(module, lambda: module.f(3), before=both, level=level) == []


def test_match_is_noted_by_its_constants(make_module: MakeModule) -> None:
    module = make_module(
        "def f(x):\n    match x:\n        case 'go' | 'stop': return 1\n        case ['a', _]: return 2\n"
    )
    assert gathered(module, lambda: module.f("word")) == [(EQUAL, "word", "go"), (EQUAL, "word", "stop")]
    assert gathered(module, lambda: module.f(["b", "c"])) == [(EQUAL, "b", "a")]


def test_the_code_of_functions_comes_back(make_module: MakeModule) -> None:
    module = make_module(
        "import functools\nclass A:\n    @property\n    def p(self): return self.x == 3\n    x = 4\n"
        "    @staticmethod\n    def s(x): return x == 5\n    @classmethod\n    def c(cls, x): return x == 6\n"
        "    @functools.lru_cache\n    def cached(self): return self.x == 7\n"
    )
    functions = [module.A.p.fget, module.A.s, module.A.c.__func__]
    own = [function.__code__ for function in functions]
    during: list[object] = []

    def call() -> None:
        a = module.A()
        during.append(functions[0].__code__)
        a.p, a.s(1), a.c(2), a.cached()

    found = gathered(module, call)
    assert found[:3] == [(EQUAL, 4, 3), (EQUAL, 1, 5), (EQUAL, 2, 6)]
    assert during[0] is own[0]
    assert during[1] is not own[0]
    assert [function.__code__ for function in functions] == own


def test_an_error_in_the_replay_leaves_nothing_behind(make_module: MakeModule) -> None:
    module = make_module(body("x == 500"))
    own = module.f.__code__
    calls = []

    def call() -> None:
        module.f(3)
        calls.append(1)
        if len(calls) > 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gathered(module, call)
    assert module.f.__code__ is own


def test_what_outlives_the_replay_shows_nothing_more(make_module: MakeModule) -> None:
    module = make_module("def f(x):\n    while True:\n        x = yield x == 500\n")
    left: list[Any] = []

    def call() -> None:
        left.append(module.f(1))
        next(left[-1])

    assert gathered(module, call) == [(EQUAL, 1, 500)]
    assert left[-1].send(500) is True
