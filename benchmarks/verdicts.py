"""Compares the verdicts on random small machines with what was planted in them: 0 differences.

usage: python benchmarks/verdicts.py [--machines N] [--first SEED] [--processes]

Each machine has some rules, and each rule a behaviour that shows once the rule was called a few times. What all of them
come to is known: which failures there must be, whether the machine is skipped, and what the report warns of.
``--processes`` plants what ends or hangs its process as well; such a machine takes seconds.
"""

import argparse
import asyncio
import builtins
import contextlib
import os
import random
import signal
import sys
import threading
import time
import unittest
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

from harness.report import command, host
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal import ChaosTest, always, unreachable
from ordeal.explore import Explorer
from ordeal.result import ExplorationResult

RUNS, STEPS = 40, 20
SKIPPED = "skipped"


@dataclass(frozen=True)
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
    "swallow": Behaviour(_swallowed(lambda: _raise(KeyError("planted")))),
    "violate": Behaviour(_violate, "AssertionError"),
    "swallow a violation": Behaviour(_swallowed(_violate), "AssertionError"),
    "swallow the unreachable": Behaviour(_swallowed(lambda: unreachable("never")), "AssertionError"),
    "mute a violation": Behaviour(lambda: always(False, "muted", mute=True)),
    "reject": Behaviour(lambda: assume(False)),
    "thread": Behaviour(_in_thread(lambda: _raise(OSError("planted"))), "OSError"),
    "thread that answers nothing": Behaviour(_in_thread(lambda: _raise(SilentError())), "SilentError"),
    "thread that exits": Behaviour(_in_thread(sys.exit)),
    "thread that violates": Behaviour(_in_thread(_violate), "AssertionError"),
    "thread that swallows a violation": Behaviour(_in_thread(_swallowed(_violate)), "AssertionError"),
    "task": Behaviour(_in_loop(lambda: _raise(EOFError("planted")), as_task=True), "EOFError"),
    "callback": Behaviour(_in_loop(lambda: _raise(BufferError("planted")), as_task=False), "BufferError"),
    "finaliser": Behaviour(lambda: _Finalised(lambda: _raise(KeyError("planted"))), warning="KeyError"),
    "finaliser that violates": Behaviour(lambda: _Finalised(_violate), "AssertionError"),
    "unawaited": Behaviour(lambda: _nothing(), warning="never awaited"),  # noqa: PLW0108 - each call makes one
    "resource": Behaviour(lambda: Path(os.devnull).open(), warning="unclosed file"),  # noqa: SIM115 - that is planted
    "recursion": Behaviour(lambda: _deep(0), "RecursionError"),
    "exit": Behaviour(lambda: _raise(SystemExit(3)), "SystemExit"),
    "skip": Behaviour(lambda: _raise(unittest.SkipTest("planted")), skips=True),
    "end the process": Behaviour(lambda: os._exit(3), "ProcessExitError", ends_process=True),
    "signal": Behaviour(lambda: os.kill(os.getpid(), signal.SIGKILL), "ProcessKilledError", ends_process=True),
    "hang": Behaviour(lambda: time.sleep(60), "RuleTimeoutError", ends_process=True),
}


def machine(planted: list[tuple[str, int]], *, is_chaos: bool) -> type[RuleBasedStateMachine]:
    """Return a class with a rule for each name of ``BEHAVIOURS``, which shows from a number of calls on."""

    def make(number: int, name: str, calls: int) -> Any:
        def act(self: Any, n: int) -> None:
            self.calls[number] = self.calls.get(number, 0) + 1
            if self.calls[number] >= calls and n % 2:
                BEHAVIOURS[name].act()

        act.__name__ = f"rule_{number}"
        return rule(n=st.integers(0, 9))(act)

    def __init__(self: Any) -> None:  # noqa: N807 - it is one
        base.__init__(self)
        self.calls = {}

    base = ChaosTest if is_chaos else RuleBasedStateMachine
    rules = {f"rule_{number}": make(number, *each) for number, each in enumerate(planted)}
    limit = {"rule_timeout": 0.4} if is_chaos else {}
    return type("Planted", (base,), {"__init__": __init__, "__module__": __name__, **limit, **rules})


def random_machine(seed: int, *, processes: bool) -> tuple[list[tuple[str, int]], bool]:
    """Return what is planted in machine number ``seed``, and whether it is a ChaosTest."""
    rng = random.Random(seed)
    names = [name for name, behaviour in BEHAVIOURS.items() if processes or not behaviour.ends_process]
    planted = [(rng.choice(names), rng.randint(1, 3)) for _ in range(rng.randint(1, 4))]
    return planted, rng.random() < 0.5 or any(BEHAVIOURS[name].ends_process for name, _ in planted)


def differences(planted: list[tuple[str, int]], *, is_chaos: bool, seed: int = 0) -> list[str]:
    """Return where the verdict on a machine differs from what must be."""
    behaviours = [BEHAVIOURS[name] for name, _ in planted]
    isolate = any(behaviour.ends_process for behaviour in behaviours)
    explorer = Explorer(machine(planted, is_chaos=is_chaos), seed=seed, workers=1, isolate=isolate)
    wanted = {behaviour.failure for behaviour in behaviours} - {""}
    skips = any(behaviour.skips for behaviour in behaviours)
    try:
        result = explorer.run(max_runs=RUNS, steps_per_run=STEPS, max_shrink_time=2.0)
    except unittest.SkipTest:
        return [] if skips else ["skipped"]
    return [*_of_failures(result, wanted, is_cut=skips), *_of_warnings(result, behaviours, is_cut=skips)]


def _of_failures(result: ExplorationResult, wanted: set[str], *, is_cut: bool) -> list[str]:
    seen = {type(failure.error).__name__ for failure in result.failures}
    wrong = [f"failure: {name}" for name in seen - wanted]
    wrong += [f"no failure: {name}" for name in wanted - seen if not is_cut]
    wrong += [f"flaky: {type(failure.error).__name__}" for failure in result.failures if failure.flaky]
    wrong += [f"no step: {type(failure.error).__name__}" for failure in result.failures if not failure.step]
    return wrong + (["unconfirmed"] if result.unconfirmed else [])


def _of_warnings(result: ExplorationResult, behaviours: list[Behaviour], *, is_cut: bool) -> list[str]:
    notes = [note for note in result.notes if note.startswith("Outside of the steps")]
    wanted = {behaviour.warning for behaviour in behaviours} - {""}
    missing = [text for text in wanted if not any(text in note for note in notes) and not is_cut]
    odd = [note for note in notes if not any(text in note for text in wanted)]
    return [*(f"no warning: {text}" for text in missing), *(f"warning: {note}" for note in odd)]


def main() -> int:
    """Explore the machines, and print the differences."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--machines", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", action="store_true")
    given = parser.parse_args()
    print(command(), host(), sep="\n")
    different, began = 0, time.monotonic()
    for seed in range(given.first, given.first + given.machines):
        planted, is_chaos = random_machine(seed, processes=given.processes)
        for difference in differences(planted, is_chaos=is_chaos, seed=seed):
            different += 1
            print(f"machine {seed}, {'ChaosTest' if is_chaos else 'plain'} {planted}: {difference}", flush=True)
    print(f"{given.machines} machines, {different} differences, {time.monotonic() - began:.0f} s")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
