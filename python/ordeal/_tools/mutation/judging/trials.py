"""Judges mutants in a fork: swaps the code, runs the tests until one fails, and reports which."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import types
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ordeal._base.code_objects import codes_in
from ordeal._base.monitoring_tools import free_tools, take_tool
from ordeal._native import LoopCounter
from ordeal._tools.mutation.forks import Say
from ordeal._tools.mutation.interpreters.sitecustomize import MUTANT, real_path
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.own_process import send_output_to
from ordeal._tools.mutation.pytest_items import Items
from ordeal._tools.mutation.sandbox import is_isolated, write_anew
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import LiveFunctions, NotSwappable, Swap

#: Tests may replace the original names.
_TEMPORARY = tempfile.gettempdir()
#: The factor and the number of turns beyond the original that a test may take before its time is cut. Some loops a
#: thousand times as long still end; endless ones would use up all the time.
TURNS_FREE, TURNS_FACTOR = 100_000, 100
LONG_TURNS, LONG_SECONDS = 5_000_000, 1.0


@dataclass(frozen=True, slots=True)
class Trial:
    """One mutant, the numbers of the tests to run, and their limit in seconds of CPU.

    Where a test starts interpreters, the mutant is ``served`` to them. A survivor of a batch is judged again,
    ``alone``.
    """

    mutant: Mutant
    numbers: list[int]
    cpu: float
    served: bool = False
    alone: bool = False


class Turns:
    """Counts the calls of the functions of the program, and the turns of their loops."""

    def __init__(self, functions: LiveFunctions) -> None:
        free = free_tools()
        self._tool = free[0] if len(free) > 1 else None
        self._counter = LoopCounter(self._stop)
        self._say: Say | None = None
        self._longer, self._is_longer = 0, False
        if self._tool is None:
            return
        self._events = sys.monitoring.events.JUMP | sys.monitoring.events.PY_START
        take_tool(self._tool, "ordeal mutate loops")
        for event in (sys.monitoring.events.JUMP, sys.monitoring.events.PY_START):
            sys.monitoring.register_callback(self._tool, event, self._counter.callback)
        self.watch(function.__code__ for function in functions.all())

    def watch(self, codes: Iterable[types.CodeType]) -> None:
        """Count in these, too."""
        if self._tool is not None:
            for code in codes:
                for each in codes_in(code):
                    sys.monitoring.set_local_events(self._tool, each, self._events)

    def start(self, limit: int, say: Say, longer: int = 0) -> None:
        """Count from zero. At the limit the process reports it and ends, or goes on for some ``longer``."""
        self._say, self._longer = say, longer
        self._counter.start(limit)

    @property
    def count(self) -> int:
        """The number of calls and turns so far."""
        return self._counter.count

    def _stop(self) -> None:
        assert self._say is not None
        if self._longer:
            self._say({"turning": True})
            if not self._is_longer:
                signal.setitimer(signal.ITIMER_PROF, max(LONG_SECONDS, signal.getitimer(signal.ITIMER_PROF)[0]))
            self._is_longer = True
            self.start(self._longer, self._say)
            return
        self._say({"loop": True})
        os._exit(0)


def killer_first(killer: int | None, numbers: Sequence[int]) -> list[int]:
    """Order tests so that the one which noticed the last mutant of the function comes first, if it is among them."""
    return sorted(numbers, key=lambda number: number != killer)


def offer(source: Source, mutant: Mutant) -> bool:
    """Serve a mutant to code that reads its file from now on, and to interpreters that this process starts.

    Without namespaces other forks would read it as well: then only interpreters meet it. Return True if all do.
    """
    text = mutant.applied(source.text)
    with suppress(OSError):  # files outside the project are read-only
        if is_isolated():
            write_anew(source.path, text)
            return True
    path = Path(_TEMPORARY, f"mutant-{mutant.id}")
    path.write_bytes(os.fsencode(real_path(str(source.path))) + b"\n" + text)
    os.environ[MUTANT] = str(path)
    return False


def withdraw(source: Source) -> None:
    """Undo ``offer``."""
    if os.environ.pop(MUTANT, None) is None:
        write_anew(source.path, source.text)


def run_unchanged(items: Items, numbers: Sequence[int], say: Say) -> None:
    """Run tests on the original until one fails."""
    send_output_to(os.devnull)
    failure = items.first_failure(numbers)
    say({"survived": len(numbers)} if failure is None else {"failed": failure[0], "kind": failure[1]})


@dataclass(frozen=True, slots=True)
class TestRunner:
    """The means of a fork to judge: the tests, the turns of each on the original, and the functions of the program.

    A test in ``trusted`` passes on the original after it has noticed a mutant.
    """

    items: Items
    turns: Turns
    turns_of: Callable[[int], int]
    live: LiveFunctions
    sources: Mapping[str, Source]
    trusted: Set[int]


def run_trials(trials: Sequence[Trial], runner: TestRunner, say: Say) -> None:
    """Judge mutants one after another, with one message for each; end where the process may know an earlier one.

    After a test has failed, it must pass on the original in this process. If it does not, effects of the mutant outlast
    it, and all further ones are left to another process. For a single mutant this is checked once for each test.
    """
    send_output_to(os.devnull)
    killers: dict[tuple[str, tuple[int, int] | None], int] = {}
    longer = LONG_TURNS if trials[0].alone else 0

    def before(number: int) -> None:
        runner.turns.start(TURNS_FREE + TURNS_FACTOR * runner.turns_of(number), say, longer)

    for trial in trials:
        signal.setitimer(signal.ITIMER_PROF, trial.cpu)
        source, mutant = runner.sources[trial.mutant.shown], trial.mutant
        try:
            swap = Swap(runner.live, source, mutant)
        except NotSwappable as error:
            say({"not swappable": str(error)})
            continue
        except Exception as error:  # noqa: BLE001 - a mistake of ours must not pass for a test that fails
            say({"not run": f"{type(error).__name__}: {error}"[:300]})
            continue
        if trial.served:
            offer(source, mutant)
        runner.turns.watch(swap.codes())
        numbers = killer_first(killers.get(mutant.place), trial.numbers)
        failure = runner.items.first_failure(numbers, before=before)
        swap.undo()
        if trial.served:
            withdraw(source)
        if failure is None:
            say({"survived": len(trial.numbers)})
            continue
        number, kind = failure
        killers[mutant.place] = number
        found = {"failed": number, "kind": kind, "ran": numbers.index(number) + 1}
        if len(trials) == 1 and number in runner.trusted:
            say(found)
            return
        with suppress(Exception):
            if runner.items.first_failure([number], before=before) is None:
                say({**found, "passes": True})
                continue
        # No mutant follows a single one, which it could mislead: another process checks its verdict.
        say(found if len(trials) == 1 else {"dirty": number})
        return
