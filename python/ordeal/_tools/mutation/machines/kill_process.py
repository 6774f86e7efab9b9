"""Closes survivors, in an interpreter of its own that runs no rule itself: all that runs is a fork of it.

``python -m ordeal._tools.mutation.machines.kill_process ORDER FD PARENT`` writes what it finds in lines of JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from ordeal._engine.execution.class_path import load_class
from ordeal._tools.mutation.forks import Ended, Job, Say, run_jobs
from ordeal._tools.mutation.machines.closed import Closed
from ordeal._tools.mutation.machines.closing import SHRINK_SECONDS, Closing
from ordeal._tools.mutation.machines.judge_process import KeepingJudge, Order, answering
from ordeal._tools.mutation.machines.pool import Pool, pools_of
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.own_process import begun

#: The part of the time that goes to pools; the rest goes to what they have left open, one at a time.
_POOLED = 2 / 3


class KillOrder(msgspec.Struct):
    """The mutants to close, how long to search, and whether to pin what they change where nothing fails."""

    judging: Order
    budget: float
    pin: bool


class Killer(KeepingJudge):
    """A judge of mutants that goes on to close what survives."""

    def __init__(self, order: KillOrder) -> None:
        super().__init__(order.judging)
        self._kill_order = order
        self._searched = 0

    def close(self) -> Iterator[tuple[str, Closed]]:
        """Judge the mutants, and close each by the trace that notices it, by a search, or by a pin."""
        self.judge()
        survivors: list[Mutant] = []
        for mutant in self._order.mutants:
            finding = self._findings[mutant.id]
            if finding.kills:
                kept = self._kept[finding.kills[0].trace - 1]
                closed = self._closed_in_fork(mutant, kept.machine, lambda each, kept=kept: each.killed(kept.trace))  # type: ignore[misc]
                yield mutant.id, closed
            elif finding.word == "survived":
                survivors.append(mutant)
            elif finding.word == "uncovered":
                yield mutant.id, Closed("open", "uncovered: no machine runs its lines")
            else:
                yield mutant.id, Closed("open", finding.note or finding.word)
        left = dict.fromkeys(survivors)
        for pool, seconds in self._searches(left):
            for name, closed in self._searched_in_fork(pool, seconds):
                if closed.how == "killed":
                    del left[next(each for each in left if each.id == name)]
                    yield name, closed
        for mutant in left:
            yield mutant.id, self._pinned(mutant)

    def _searches(self, left: dict[Mutant, None]) -> Iterator[tuple[list[Mutant], float]]:
        """Yield what is searched together, and for how long; what is closed meanwhile leaves ``left``."""
        pools, budget = pools_of(left), self._kill_order.budget
        if len(left) == 1:  # it has all the time
            yield from ((pool, budget) for pool in pools)
            return
        for pool in pools:
            yield pool, _POOLED * budget / len(pools)
        alone = list(left)
        for mutant in alone:
            yield [mutant], (1 - _POOLED) * budget / len(alone)

    def _searched_in_fork(self, pool: list[Mutant], seconds: float) -> Iterator[tuple[str, Closed]]:
        """Search by each machine, for a part of the time."""
        order, left = self._kill_order.judging, list(pool)
        for machine in range(len(self._benches)):
            found = self._in_fork(left, machine, seconds / len(self._benches), order.seed + 1)
            for name, closed in found.items():
                self._searched = max(self._searched, closed.searched)
                yield name, closed
            left = [each for each in left if each.id not in found or found[each.id].how != "killed"]

    def _in_fork(self, mutants: list[Mutant], machine: int, seconds: float, seed: int) -> dict[str, Closed]:
        if not mutants or seconds <= 0:
            return {}
        targets = self._kill_order.judging.targets
        differences = (self._findings[each.id].difference for each in mutants)
        attributes = list(dict.fromkeys(each.attribute for each in differences if each is not None))

        def run(say: Say) -> None:
            given = load_class(self._order.machines[machine])
            pool = Pool(given, [self._closing(each, machine) for each in mutants], attributes)
            for closing, closed in pool.search(targets, seed, seconds):
                closed = msgspec.structs.replace(closed, searched=pool.searched)
                say({"id": closing.id, "closed": msgspec.to_builtins(closed)})

        # It begins anew with each that is closed.
        ended = next(run_jobs([Job(run, 0, seconds + 2 * SHRINK_SECONDS + 60.0)], 1))
        found = {each["id"]: msgspec.convert(each["closed"], Closed) for each in ended.said if "closed" in each}
        if len(found) < len(mutants):
            why = _why_it_ended(ended)
            found = {**{each.id: Closed("open", why) for each in mutants}, **found}
        return found

    def _pinned(self, mutant: Mutant) -> Closed:
        """Pin what a mutant changes, if that is wanted, and if it changes anything."""
        difference, searched = self._findings[mutant.id].difference, self._searched
        why = "no run failed on the mutant alone"
        if difference is None:
            return Closed("open", f"{why}, and no state differs", searched=searched)
        if not self._kill_order.pin:
            return Closed("open", why, searched=searched)
        kept = self._kept[difference.trace - 1]
        closed = self._closed_in_fork(mutant, kept.machine, lambda each: each.pinned(kept.trace, difference.step))
        return msgspec.structs.replace(closed, searched=searched)

    def _closed_in_fork(self, mutant: Mutant, machine: int, close: Callable[[Closing], Closed]) -> Closed:
        def run(say: Say) -> None:
            say({"closed": msgspec.to_builtins(close(self._closing(mutant, machine)))})

        ended = next(run_jobs([Job(run, 0, 2 * SHRINK_SECONDS + 60.0)], 1))
        for each in ended.said:
            if "closed" in each:
                return msgspec.convert(each["closed"], Closed)
        return Closed("open", _why_it_ended(ended))

    def _closing(self, mutant: Mutant, machine: int) -> Closing:
        given = load_class(self._order.machines[machine])
        return Closing(self._live, self._sources[mutant.shown], mutant, given, self._bench(machine))


def _why_it_ended(ended: Ended) -> str:
    return f"the search ended: {ended.raised or 'it did not come to an end'}"


def main() -> None:
    """Close the mutant of an order."""
    text, say = begun()
    with answering(say):
        order = msgspec.json.decode(text, type=KillOrder)
        for name, closed in Killer(order).close():
            say({"id": name, "closed": msgspec.to_builtins(closed)})


if __name__ == "__main__":
    main()
