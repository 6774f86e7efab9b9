"""Searches runs that notice survivors, several of which are in the program at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine

from ordeal._engine.trace_view.values import sketch_of
from ordeal._native import monotonic
from ordeal._tools.mutation.machines.closed import Closed
from ordeal._tools.mutation.machines.closing import Closing
from ordeal._tools.mutation.mutants import Mutant
from ordeal.chaos import ChaosTest
from ordeal.explore import Explorer

#: So many mutants are in one pool: each of another function, so that the code of each can be exchanged.
POOL_MAX = 8
#: Short searches, each with a seed of its own: a failure of the original as well ends what one can find of its kind.
RUNS_A_SEARCH = 400


def pools_of(mutants: Iterable[Mutant]) -> list[list[Mutant]]:
    """Deal mutants to pools, no two of a function to one, in their order."""
    pools: list[list[Mutant]] = []
    for mutant in mutants:
        free = (each for each in pools if len(each) < POOL_MAX and mutant.place not in {one.place for one in each})
        pool = next(free, None)
        if pool is None:
            pools.append(pool := [])
        pool.append(mutant)
    return pools


class Pool:
    """Survivors that are searched together. ``attributes`` are the parts of the state that some of them change.

    Every other search takes new values there for something new, and so climbs from what differs to what fails.
    """

    def __init__(self, given: Any, closings: Sequence[Closing], attributes: Sequence[str] = ()) -> None:
        self._given, self._left = given, list(closings)
        self._attributes = [attribute.split(".*")[0].split(".") for attribute in attributes]
        self.searched = 0

    def search(self, targets: list[str], seed: int, seconds: float) -> Iterator[tuple[Closing, Closed]]:
        """Explore the broken program. Yield what is closed when it is, and at the end what stays open."""
        deadline, searches = monotonic() + seconds, 0
        while self._left and (left := deadline - monotonic()) > 0:
            with self._broken(), self._watched() if searches % 2 else ExitStack():
                explorer = Explorer(self._given, target_modules=targets, seed=seed + searches, workers=1)
                result = explorer.run(max_runs=RUNS_A_SEARCH, max_time=left, shrink=False)
            searches += 1
            self.searched += RUNS_A_SEARCH
            began = monotonic()
            for failure in result.failures:
                trace = failure.trace
                if trace is None or not trace.has_choices:
                    continue
                # It is of whichever mutant has it fail alone; of none, if it is the original's.
                for closing in [each for each in self._left if each.tells(trace)]:
                    closed = closing.killed(trace)
                    if closed.how == "killed":
                        self._left.remove(closing)
                        yield closing, closed
            deadline += monotonic() - began
        for closing in self._left:
            yield closing, Closed("open", "no run failed on the mutant alone")

    @contextmanager
    def _broken(self) -> Iterator[None]:
        with ExitStack() as stack:
            for each in self._left:
                stack.enter_context(each.broken())
            yield

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Let new values of the attributes count as new, unless the machine has a number for its state."""
        given = self._given
        if not self._attributes or getattr(given, "state_hash", None) is not ChaosTest.state_hash:
            yield
            return
        given.state_hash = _number_of(self._attributes)
        try:
            yield
        finally:
            del given.state_hash


def _number_of(attributes: list[list[str]]) -> Callable[[RuleBasedStateMachine], int]:
    def state_hash(machine: RuleBasedStateMachine) -> int:
        return sketch_of([_part(machine, names) for names in attributes])

    return state_hash


def _part(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        value = getattr(value, name, None)
    return value
