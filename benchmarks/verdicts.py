"""Compares the verdicts on random small machines with what was planted in them: 0 differences.

usage: python benchmarks/verdicts.py [--machines N] [--seconds N] [--first SEED] [--processes | --twins]

Each machine has some rules, a state that may not survive a copy, and a way back to checkpoints. Each rule has a
behaviour, which shows in the rule, an invariant or the teardown once the rule was called a few times. What all of them
come to is known: which failures there must be, whether the machine is skipped, and what the report warns of.
``--processes`` plants what ends or hangs its process as well, and ``--twins`` nothing that is wrong.
"""

import argparse
import asyncio
import builtins
import concurrent.futures
import contextlib
import ctypes
import dataclasses
import decimal
import gc
import json
import os
import queue
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from harness.report import command, host
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ordeal import ChaosTest, always, unreachable
from ordeal.errors import MachineError, OrdealError
from ordeal.explore import Explorer, Tuning
from ordeal.result import ExplorationResult

#: How many runs a search has; those after the first follow where a failure is missing, which may only be rare.
RUNS, STEPS = (12, 60, 480), 20
SKIPPED = "skipped"


@dataclasses.dataclass(frozen=True)
class Behaviour:
    """What a rule does, and what that must come to: a type of failure, a text in a warning, a skip, or nothing."""

    act: Callable[[], object]
    failure: str = ""
    warning: str = ""
    skips: bool = False
    ends_process: bool = False


def _raise(error: BaseException) -> None:
    raise error


def _swallowed(act: Callable[[], object]) -> Callable[[], object]:
    def swallowed() -> None:
        with contextlib.suppress(BaseException):
            act()

    return swallowed


def _in_thread(act: Callable[[], object]) -> Callable[[], object]:
    def in_thread() -> None:
        thread = threading.Thread(target=act)
        thread.start()
        thread.join()

    return in_thread


def _in_loop(act: Callable[[], object], *, as_task: bool) -> Callable[[], object]:
    async def fail() -> None:
        act()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        if as_task:
            loop.create_task(fail())  # noqa: RUF006 - that is planted
        else:
            loop.call_soon(act)
        await asyncio.sleep(0)

    return lambda: asyncio.run(main())


class _Finalised:
    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act

    def __del__(self) -> None:
        self.act()


async def _nothing() -> None: ...


def _deep(n: int) -> int:
    return _deep(n + 1) + 1


def _violate() -> None:
    always(False, "planted")


class EndError(BaseException):
    """An error that `except Exception` does not catch."""


class NoTextError(Exception):
    """An error that cannot be described."""

    def __str__(self) -> str:
        raise LookupError("no text")


class OtherError(Exception):
    """An error that says that it is something else."""

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise LookupError("no class")


class TornError(Exception):
    """An error without a traceback."""

    __traceback__: Any = 5


class SilentError(Exception):
    """An error that answers nothing."""

    def __getattribute__(self, name: str) -> Any:
        raise LookupError(name)


def _moved(**changes: Any) -> Callable[[], object]:
    """Return a function whose code has no lines, or lies in no file."""

    def lost() -> None:
        raise BlockingIOError("planted")

    return FunctionType(lost.__code__.replace(**changes), {**globals(), "__builtins__": builtins})


def _nested() -> None:
    error: Exception = KeyError("in it")
    for _ in range(2_000):
        error = ExceptionGroup("planted", [error])
    raise error


def _circular() -> None:
    one, other = InterruptedError("planted"), KeyError("its cause")
    one.__cause__, other.__cause__ = other, one
    raise one


def _even(n: int) -> bool:
    return _odd(n + 1)


def _odd(n: int) -> bool:
    return _even(n + 1)


class _ShowsItself:
    def __repr__(self) -> str:
        return f"{self!r}"


def _nested_list() -> None:
    nested: list[Any] = []
    for _ in range(200_000):  # more than a stack of 8 MB has room for
        nested = [nested]
    json.dumps(nested)


def _signalled() -> None:
    def handle(_number: int, _frame: object) -> None:
        raise ProcessLookupError("planted")

    before = signal.signal(signal.SIGUSR2, handle)
    try:
        os.kill(os.getpid(), signal.SIGUSR2)
    finally:
        signal.signal(signal.SIGUSR2, before)


def _future() -> None:
    async def main() -> None:
        asyncio.get_running_loop().create_future().set_exception(ConnectionError("planted"))

    asyncio.run(main())


def _cancelled() -> None:
    async def main() -> None:
        task = asyncio.create_task(asyncio.sleep(60))
        task.cancel()
        await task

    asyncio.run(main())


def _handled() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, _context: None)
        loop.call_soon(lambda: _raise(KeyError("handled")))
        await asyncio.sleep(0)

    asyncio.run(main())


def _group() -> None:
    async def fail() -> None:
        raise KeyError("planted")

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())

    asyncio.run(main())


def _in_pool() -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: _raise(KeyError("kept by the future")))


def _violate_and_reject() -> None:
    _swallowed(_violate)()
    assume(False)


def _return_in_finally() -> None:
    try:
        _violate()
    finally:
        return  # noqa: B012 - that is planted


def _then(*acts: Callable[[], object]) -> Callable[[], object]:
    def in_turn() -> None:
        for act in acts:
            act()

    return in_turn


def _raise_in_finally() -> None:
    try:
        raise KeyError("replaced by the next")
    finally:
        raise ConnectionAbortedError("planted")


def _warn(action: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter(action)
        warnings.warn("planted", stacklevel=1)


def _closed_late(act: Callable[[], object]) -> Callable[[], object]:
    def numbers() -> Any:
        try:
            yield 1
        finally:
            act()

    return lambda: next(numbers())


def _asynchronous_closed_late() -> None:
    async def numbers() -> Any:
        try:
            yield 1
        finally:
            raise LookupError("planted")

    async def main() -> Any:
        left = numbers()
        await anext(left)
        return left

    asyncio.run(main())


def _weak_callback() -> None:
    class Referred: ...

    referred = Referred()
    weakref.finalize(referred, _raise, KeyError("planted"))
    kept = weakref.ref(referred, lambda _: _raise(KeyError("planted")))
    del referred
    assert kept() is None


def _alarm() -> None:
    def ring(_number: int, _frame: object) -> None:
        raise TimeoutError("planted")

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        time.sleep(10)
    finally:
        signal.signal(signal.SIGALRM, before)


def _with_own_hook(owner: Any, name: str, act: Callable[[], object]) -> Callable[[], object]:
    def hooked() -> None:
        before = getattr(owner, name)
        setattr(owner, name, lambda _args: None)
        try:
            act()
        finally:
            setattr(owner, name, before)

    return hooked


def _ignore_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR2, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)


def _fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(3)
    os.waitpid(child, 0)


def _locked() -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def _stubborn() -> None:
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(60)


BEHAVIOURS: dict[str, Behaviour] = {
    "pass": Behaviour(lambda: None),
    "raise": Behaviour(lambda: _raise(KeyError("planted")), "KeyError"),
    "raise without text": Behaviour(lambda: _raise(NoTextError()), "NoTextError"),
    "raise without a class": Behaviour(lambda: _raise(OtherError()), "OtherError"),
    "raise without a traceback": Behaviour(lambda: _raise(TornError()), "TornError"),
    "raise what answers nothing": Behaviour(lambda: _raise(SilentError()), "SilentError"),
    "raise where no line is": Behaviour(_moved(co_linetable=b""), "BlockingIOError"),
    "raise where no file is": Behaviour(_moved(co_filename="a\0b\ud800.py"), "BlockingIOError"),
    "raise a nested group": Behaviour(_nested, "ExceptionGroup"),
    "raise a circle of causes": Behaviour(_circular, "InterruptedError"),
    "raise an interrupt": Behaviour(lambda: _raise(KeyboardInterrupt()), "KeyboardInterrupt"),
    "raise the end of a generator": Behaviour(lambda: _raise(GeneratorExit()), "GeneratorExit"),
    "raise the end of an iterator": Behaviour(lambda: _raise(StopIteration()), "StopIteration"),
    "raise an error of ordeal": Behaviour(lambda: _raise(OrdealError("planted")), "OrdealError"),
    "raise an error of Hypothesis": Behaviour(lambda: _raise(InvalidDefinition("planted")), "InvalidDefinition"),
    "raise a failure of pytest": Behaviour(lambda: pytest.fail("planted"), "Failed"),
    "ask for all memory": Behaviour(lambda: bytes(1 << 60), "MemoryError"),
    "raise what is not an Exception": Behaviour(lambda: _raise(EndError("planted")), "EndError"),
    "raise a group": Behaviour(lambda: _raise(ExceptionGroup("planted", [KeyError("in it")])), "ExceptionGroup"),
    "raise a group of an interrupt": Behaviour(
        lambda: _raise(BaseExceptionGroup("planted", [KeyboardInterrupt()])), "BaseExceptionGroup"
    ),
    "raise a group of skips": Behaviour(
        lambda: _raise(ExceptionGroup("planted", [unittest.SkipTest("in it")])), "ExceptionGroup"
    ),
    "raise in finally": Behaviour(_raise_in_finally, "ConnectionAbortedError"),
    "fail a test of unittest": Behaviour(lambda: unittest.TestCase().fail("planted"), "AssertionError"),
    "warn": Behaviour(lambda: _warn("ignore")),
    "raise a warning": Behaviour(lambda: _warn("error"), "UserWarning"),
    "swallow": Behaviour(_swallowed(lambda: _raise(KeyError("planted")))),
    "swallow a skip": Behaviour(_swallowed(lambda: pytest.skip("planted"))),
    "swallow a recursion": Behaviour(_swallowed(lambda: _deep(0))),
    "violate": Behaviour(_violate, "AssertionError"),
    "violate and reject": Behaviour(_violate_and_reject, "AssertionError"),
    "return in finally": Behaviour(_return_in_finally, "AssertionError"),
    "swallow a violation": Behaviour(_swallowed(_violate), "AssertionError"),
    "swallow the unreachable": Behaviour(_swallowed(lambda: unreachable("never")), "AssertionError"),
    "violate and raise": Behaviour(_then(_swallowed(_violate), lambda: _raise(KeyError("planted"))), "KeyError"),
    "violate and skip": Behaviour(_then(_swallowed(_violate), lambda: pytest.skip("planted")), "AssertionError"),
    "violate twice": Behaviour(_then(*[_swallowed(_violate)] * 2), "AssertionError"),
    "mute a violation": Behaviour(lambda: always(False, "muted", mute=True)),
    "reject": Behaviour(lambda: assume(False)),
    "thread": Behaviour(_in_thread(lambda: _raise(OSError("planted"))), "OSError"),
    "thread, then raise": Behaviour(
        _then(_in_thread(lambda: _raise(OSError("planted"))), lambda: _raise(KeyError("planted"))), "KeyError"
    ),
    "thread, then skip": Behaviour(
        _then(_in_thread(lambda: _raise(OSError("planted"))), lambda: pytest.skip("planted")), "OSError"
    ),
    "thread whose end is handled": Behaviour(
        _with_own_hook(threading, "excepthook", _in_thread(lambda: _raise(OSError("handled"))))
    ),
    "thread that answers nothing": Behaviour(_in_thread(lambda: _raise(SilentError())), "SilentError"),
    "thread that exits": Behaviour(_in_thread(sys.exit)),
    "thread that violates": Behaviour(_in_thread(_violate), "AssertionError"),
    "thread that swallows a violation": Behaviour(_in_thread(_swallowed(_violate)), "AssertionError"),
    "thread of a pool": Behaviour(_in_pool),
    "timer": Behaviour(lambda: threading.Timer(0, _raise, [IsADirectoryError("planted")]).start(), "IsADirectoryError"),
    "task": Behaviour(_in_loop(lambda: _raise(EOFError("planted")), as_task=True), "EOFError"),
    "callback": Behaviour(_in_loop(lambda: _raise(BufferError("planted")), as_task=False), "BufferError"),
    "callback that is handled": Behaviour(_handled),
    "future": Behaviour(_future, "ConnectionError"),
    "cancelled task": Behaviour(_cancelled, "CancelledError"),
    "group of tasks": Behaviour(_group, "ExceptionGroup"),
    "finaliser": Behaviour(lambda: _Finalised(lambda: _raise(KeyError("planted"))), warning="KeyError"),
    "finaliser that violates": Behaviour(lambda: _Finalised(_violate), "AssertionError"),
    "finaliser that is handled": Behaviour(
        _with_own_hook(sys, "unraisablehook", lambda: _Finalised(lambda: _raise(KeyError("handled"))))
    ),
    "generator closed late": Behaviour(_closed_late(lambda: _raise(KeyError("planted"))), warning="KeyError"),
    "generator closed late that violates": Behaviour(_closed_late(_violate), "AssertionError"),
    "asynchronous generator closed late": Behaviour(_asynchronous_closed_late, "LookupError"),
    "callback of a weak reference": Behaviour(_weak_callback, warning="KeyError"),
    "unawaited": Behaviour(lambda: _nothing(), warning="never awaited"),  # noqa: PLW0108 - each call makes one
    "resource": Behaviour(lambda: Path(os.devnull).open(), warning="unclosed file"),  # noqa: SIM115 - that is planted
    "recursion": Behaviour(lambda: _deep(0), "RecursionError"),
    "recursion of two": Behaviour(lambda: _even(0), "RecursionError"),
    "recursion in C": Behaviour(_nested_list, "RecursionError"),
    "recursion of a text": Behaviour(lambda: repr(_ShowsItself()), "RecursionError"),
    "exit": Behaviour(lambda: _raise(SystemExit(3)), "SystemExit"),
    "quit": Behaviour(lambda: sys.exit("planted"), "SystemExit"),
    "signal that is handled": Behaviour(_signalled, "ProcessLookupError"),
    "alarm": Behaviour(_alarm, "TimeoutError"),
    "ignore signals": Behaviour(_ignore_signals),
    "have alarms do what they do by default": Behaviour(lambda: signal.signal(signal.SIGALRM, signal.SIG_DFL)),
    "leave an alarm behind": Behaviour(lambda: signal.setitimer(signal.ITIMER_REAL, 60.0)),
    "change the directory": Behaviour(lambda: os.chdir(tempfile.gettempdir())),
    "switch off the collector": Behaviour(gc.disable),
    "seed the generator": Behaviour(lambda: random.seed(5)),
    "change the decimal context": Behaviour(lambda: decimal.setcontext(decimal.Context(prec=2))),
    "clear the environment of locales": Behaviour(lambda: os.environ.pop("LANG", None)),
    "skip": Behaviour(lambda: _raise(unittest.SkipTest("planted")), skips=True),
    "skip of pytest": Behaviour(lambda: pytest.skip("planted"), skips=True),
    "expected failure": Behaviour(lambda: pytest.xfail("planted"), skips=True),
    "process": Behaviour(lambda: subprocess.run([sys.executable, "--version"], capture_output=True, check=True)),
    "fork": Behaviour(_fork),
    "end the process": Behaviour(lambda: os._exit(3), "ProcessExitError", ends_process=True),
    "signal": Behaviour(lambda: os.kill(os.getpid(), signal.SIGKILL), "ProcessKilledError", ends_process=True),
    "end the process from a thread": Behaviour(_in_thread(lambda: os._exit(3)), "ProcessExitError", ends_process=True),
    "abort": Behaviour(os.abort, "ProcessKilledError", ends_process=True),
    "segfault": Behaviour(lambda: ctypes.string_at(0), "ProcessKilledError", ends_process=True),
    "become another program": Behaviour(
        lambda: os.execlp("sleep", "sleep", "60"), "ProcessExitError", ends_process=True
    ),
    "hang": Behaviour(lambda: time.sleep(60), "RuleTimeoutError", ends_process=True),
    "wait for a lock": Behaviour(_locked, "RuleTimeoutError", ends_process=True),
    "hang that catches": Behaviour(_stubborn, "RuleTimeoutError", ends_process=True),
}
BENIGN = [name for name, each in BEHAVIOURS.items() if not (each.failure or each.warning or each.skips)]
#: The share of machines that may draw what takes long.
COSTLY = {"process": 0.01, "fork": 0.02, "recursion in C": 0.02, "recursion of a text": 0.05, "hang that catches": 0.3}
COSTLY |= {"raise a nested group": 0.1} | dict.fromkeys(["recursion", "recursion of two", "swallow a recursion"], 0.05)


@dataclasses.dataclass(frozen=True)
class State:
    """A state that the rules change: what it is made of, a change, whether it is sound, and how it ends."""

    make: Callable[[], Any]
    change: Callable[[Any], object]
    is_sound: Callable[[Any, int], bool]
    end: Callable[[Any], object] = lambda _made: None


GLOBAL: list[int] = []


def _fresh_global() -> list[int]:
    GLOBAL.clear()
    return []


class _Counter:
    def __init__(self) -> None:
        self.count, self.table, self.twin = 0, {id(self): 0}, [self]
        self.reference = weakref.ref(self)

    def add(self) -> None:
        self.count += 1
        self.table[id(self)] = self.count


def _patched() -> _Counter:
    made = _Counter()
    GLOBAL_HOOK[0] = made.add
    return made


GLOBAL_HOOK: list[Callable[[], object]] = [lambda: None]


def _closure() -> tuple[list[int], Callable[[], object]]:
    items: list[int] = []
    return items, lambda: items.append(1)


def _echo() -> tuple[threading.Thread, queue.Queue[int], list[int]]:
    asked: queue.Queue[int] = queue.Queue()
    heard: list[int] = []

    def listen() -> None:
        while asked.get():
            heard.append(1)
            asked.task_done()

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    return thread, asked, heard


def _stop(made: tuple[threading.Thread, queue.Queue[int], list[int]]) -> None:
    made[1].put(0)
    made[0].join()


def _tell(made: tuple[threading.Thread, queue.Queue[int], list[int]]) -> None:
    made[1].put(1)
    made[1].join()


def _signalled_list() -> list[int]:
    got: list[int] = []
    signal.signal(signal.SIGUSR1, lambda _number, _frame: got.append(1))
    return got


def _numbers() -> Any:
    yield from range(1_000)


def _database() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:")
    made.execute("CREATE TABLE t (n)")
    return made


def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="verdicts-")


STATES: dict[str, State] = {
    "plain": State(list, lambda made: made.append(1), lambda made, count: len(made) == count),
    "global": State(_fresh_global, lambda _made: GLOBAL.append(1), lambda _made, count: len(GLOBAL) == count),
    "identity": State(_Counter, lambda made: made.add(), lambda made, count: made.table[id(made)] == count),
    "weak": State(_Counter, lambda made: made.add(), lambda made, count: made.reference().count == count),
    "circle": State(_Counter, lambda made: made.add(), lambda made, count: made.twin[0].count == count),
    "hook": State(_patched, lambda _made: GLOBAL_HOOK[0](), lambda made, count: made.count == count),
    "closure": State(_closure, lambda made: made[1](), lambda made, count: len(made[0]) == count),
    "lock": State(
        threading.Lock,
        lambda made: made.release() if made.locked() else made.acquire(),
        lambda made, count: made.locked() == bool(count % 2),
    ),
    "generator": State(_numbers, next, lambda made, _count: made is not None),
    "iterator": State(lambda: iter(range(1_000)), next, lambda made, count: made.__length_hint__() == 1_000 - count),
    "file": State(
        tempfile.TemporaryFile,
        lambda made: made.write(b"."),
        lambda made, count: made.tell() == count,
        lambda made: made.close(),
    ),
    "database": State(
        _database,
        lambda made: made.execute("INSERT INTO t VALUES (1)"),
        lambda made, count: made.execute("SELECT COUNT(*) FROM t").fetchone() == (count,),
        lambda made: made.close(),
    ),
    "folder": State(
        _folder,
        lambda made: Path(made.name, str(len(os.listdir(made.name)))).touch(),  # noqa: PTH208 - the benchmark's time
        lambda made, count: len(os.listdir(made.name)) == count,  # noqa: PTH208
        lambda made: made.cleanup(),
    ),
    "environment": State(
        lambda: os.environ.update(VERDICTS="0"),
        lambda _made: os.environ.update(VERDICTS=str(int(os.environ["VERDICTS"]) + 1)),
        lambda _made, count: os.environ["VERDICTS"] == str(count),
    ),
    "handler": State(
        _signalled_list,
        lambda _made: os.kill(os.getpid(), signal.SIGUSR1),
        lambda made, count: len(made) == count,
        lambda _made: signal.signal(signal.SIGUSR1, signal.SIG_DFL),
    ),
    "thread": State(_echo, _tell, lambda made, count: len(made[2]) == count, _stop),
}
LATE = ("finaliser", "generator", "asynchronous", "callback", "unawaited", "resource")
KINDS = {"auto": 0.35, "copy": 0.4, "replay": 0.23, "fork": 0.02}
SHRUNK = 0.1
PLACES = ("rule", "rule", "invariant", "teardown", "initialize", "precondition")


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a machine is made of: for each rule a behaviour, after how many calls it shows, and where.

    What is planted in ``__init__`` or ``initialize`` shows without a call.
    """

    planted: list[tuple[str, int, str]]
    is_chaos: bool
    state: str = "plain"
    kind: str = "auto"
    prob: float | None = None
    shrink: bool = True

    @property
    def behaviours(self) -> list[Behaviour]:
        """The behaviours of the rules."""
        return [BEHAVIOURS[name] for name, _, _ in self.planted]


def machine(plan: Plan) -> type[RuleBasedStateMachine]:
    """Return the class that ``plan`` describes."""
    state = STATES[plan.state]

    def make(number: int, calls: int, place: str, act: Callable[[], object]) -> Any:
        def run(self: Any, n: int) -> None:
            state.change(self.state)
            self.changes += 1
            self.calls[number] = self.calls.get(number, 0) + 1
            if self.calls[number] >= calls and n % 2:
                if place == "rule":
                    act()
                else:
                    self.due.setdefault(place, []).append(number)

        def begin(_self: Any, n: int) -> None:
            if n % 2:
                act()

        run.__name__ = begin.__name__ = f"rule_{number}"
        if place == "initialize":
            return initialize(n=st.integers(0, 9))(begin)
        return precondition(is_ready)(rule(n=st.integers(0, 9))(run))

    def is_ready(self: Any) -> bool:
        act_due(self, "precondition")
        return True

    def act_due(self: Any, place: str) -> None:
        for number in self.due.pop(place, []):
            plan.behaviours[number].act()

    def __init__(self: Any) -> None:  # noqa: N807 - it is one
        base.__init__(self)
        self.calls, self.due, self.changes, self.state = {}, {}, 0, state.make()
        for name, _, place in plan.planted:
            if place == "__init__":
                BEHAVIOURS[name].act()

    def is_sound(self: Any) -> None:
        assert state.is_sound(self.state, self.changes), "the state is not sound"
        act_due(self, "invariant")

    def teardown(self: Any) -> None:
        state.end(self.state)
        act_due(self, "teardown")

    base = ChaosTest if plan.is_chaos else RuleBasedStateMachine
    acts = [(calls, place, BEHAVIOURS[name].act) for name, calls, place in plan.planted]
    body: dict[str, Any] = {f"rule_{number}": make(number, *each) for number, each in enumerate(acts)}
    body |= {"__init__": __init__, "is_sound": invariant()(is_sound), "teardown": teardown, "__module__": __name__}
    if any(behaviour.ends_process for behaviour in plan.behaviours):
        body["rule_timeout"] = 0.4  # on a busy machine, others may take that
    made = globals()["Planted"] = type("Planted", (base,), body)  # where the search looks first
    return made


def random_plan(seed: int, *, processes: bool, twins: bool) -> Plan:
    """Return what machine number ``seed`` is made of."""
    rng = random.Random(seed)
    names = [name for name, behaviour in BEHAVIOURS.items() if processes or not behaviour.ends_process]
    names = [name for name in (BENIGN if twins else names) if rng.random() < COSTLY.get(name, 1.0)]
    if rng.random() < 0.04:
        return Plan([(rng.choice(names), 1, "__init__"), ("pass", 1, "rule")], is_chaos=True)
    drawn = [(rng.choice(names), rng.randint(1, 3), rng.choice(PLACES)) for _ in range(rng.randint(1, 4))]
    # A skip after the last step is none.
    planted = [(name, calls, "rule" if BEHAVIOURS[name].skips else place) for name, calls, place in drawn]
    if all(place == "initialize" for _, _, place in planted):
        planted.append(("pass", 1, "rule"))
    is_chaos = rng.random() < 0.5 or any(BEHAVIOURS[name].ends_process for name, _, _ in planted)
    state = rng.choice(list(STATES)) if twins or rng.random() < 0.5 else "plain"
    (kind,) = rng.choices(list(KINDS), list(KINDS.values()))
    return Plan(planted, is_chaos, state, kind, rng.choice((None, None, 0.0, 0.5, 1.0)), rng.random() < SHRUNK)


def differences(plan: Plan, seed: int = 0, attempt: int = 0) -> list[str]:
    """Return where the verdict on a machine differs from what must be."""
    behaviours = plan.behaviours
    isolate = any(behaviour.ends_process for behaviour in behaviours)
    tuning = Tuning(checkpoint_kind=plan.kind)  # type: ignore[arg-type]
    explorer = Explorer(machine(plan), seed=seed, workers=1, isolate=isolate, checkpoint_prob=plan.prob, tuning=tuning)
    wanted = {behaviour.failure for behaviour in behaviours} - {""}
    skips = any(behaviour.skips for behaviour in behaviours)
    refused = {BEHAVIOURS[name].failure for name, _, place in plan.planted if place == "precondition"} - {""}
    try:
        result = explorer.run(max_runs=RUNS[attempt], steps_per_run=STEPS, shrink=plan.shrink, max_shrink_time=2.0)
    except (unittest.SkipTest, pytest.skip.Exception, pytest.xfail.Exception):
        return [] if skips else ["skipped"]
    except MachineError as error:
        return [] if any(f"raised {name}" in str(error) for name in refused) else [f"refused: {error}"]
    missing, odd = _of_failures(result, wanted, is_plain=plan.state == "plain")
    unwarned, warned = _of_warnings(result, behaviours)
    stops = any(f"raised {name}" in note for note in result.notes for name in refused)
    missing = [] if skips or stops else missing + unwarned
    if plan.planted[0][2] == "__init__":
        odd = [difference for difference in odd if not difference.startswith("no step")]
    if missing and attempt + 1 < len(RUNS):
        # Nothing is ever found where each run starts where another failure is certain.
        return differences(dataclasses.replace(plan, prob=None), seed + 1, attempt + 1)
    return [*missing, *odd, *warned]


def _of_failures(result: ExplorationResult, wanted: set[str], *, is_plain: bool) -> tuple[list[str], list[str]]:
    seen = {type(failure.error).__name__ for failure in result.failures}
    odd = [f"failure: {name}" for name in seen - wanted]
    odd += [f"flaky: {type(failure.error).__name__}" for failure in result.failures if failure.flaky]
    odd += [f"no step: {type(failure.error).__name__}" for failure in result.failures if not failure.step]
    return [f"no failure: {name}" for name in wanted - seen], odd + ["unconfirmed"] * (is_plain and result.unconfirmed)


def _of_warnings(result: ExplorationResult, behaviours: list[Behaviour]) -> tuple[list[str], list[str]]:
    notes = [note for note in result.notes if note.startswith("Outside of the steps")]
    wanted = {behaviour.warning for behaviour in behaviours} - {""}
    missing = [text for text in wanted if not any(text in note for note in notes)]
    odd = [note for note in notes if not any(text in note for text in wanted)]
    return [f"no warning: {text}" for text in missing], [f"warning: {note}" for note in odd]


def main() -> int:
    """Explore the machines, and print the differences."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--machines", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so much processor time")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", action="store_true")
    parser.add_argument("--twins", action="store_true")
    given = parser.parse_args()
    print(command(), host(), sep="\n")
    different, began = 0, time.monotonic()
    gc.freeze()
    for machines, seed in enumerate(range(given.first, given.first + given.machines), 1):
        plan = random_plan(seed, processes=given.processes, twins=given.twins)
        for difference in differences(plan, seed):
            different += 1
            print(f"machine {seed}, {plan}: {difference}", flush=True)
        gc.enable()  # a machine may have switched it off
        if any(name.startswith(LATE) for name, _, _ in plan.planted):
            gc.collect()  # what the objects of this machine do at their end must not be done in the next
            gc.freeze()  # the next collection need not look again at what is still here
        is_last = machines == given.machines or time.process_time() > given.seconds
        if machines % 1_000 == 0 or is_last:  # also for a run that is ended before its time
            spent = f"{time.monotonic() - began:.0f} s, {time.process_time():.0f} s of processor time"
            print(f"{machines} machines, {different} differences, {spent}", flush=True)
        if is_last:
            break
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
