"""Closes one survivor, in an interpreter of its own that runs no rule itself: all that runs is a fork of it.

``python -m ordeal._engine.mutation.machines.kill_process ORDER FD PARENT`` writes what it finds in lines of JSON.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ordeal._engine.execution.class_path import load_class
from ordeal._engine.mutation.forks import Job, Message, run_jobs
from ordeal._engine.mutation.machines.closing import SHRINK_SECONDS, Closed, Closing
from ordeal._engine.mutation.machines.evidence import Finding
from ordeal._engine.mutation.machines.judge_process import Judge, Order, answering
from ordeal._engine.mutation.own_process import begun


class KillOrder(msgspec.Struct):
    """One mutant to close, how long to search, and whether to pin what it changes where nothing fails."""

    judging: Order
    budget: float
    pin: bool


class Killer(Judge):
    """A judge of one mutant that goes on to close it."""

    def __init__(self, order: KillOrder) -> None:
        super().__init__(order.judging, self._hear)
        self._kill_order = order
        self._finding = Finding("", "not run")

    def _hear(self, message: Message) -> None:
        if "finding" in message:
            self._finding = msgspec.convert(message["finding"], Finding)

    def close(self) -> Closed:
        """Judge the mutant, and close it by the trace that notices it, by a search, or by a pin."""
        self.judge()
        finding, order = self._finding, self._kill_order
        if finding.word == "not run":
            return Closed("open", finding.note)
        if finding.kills:
            kept = self._kept[finding.kills[0].trace - 1]
            return self._in_fork(kept.machine, lambda each: each.killed(kept.trace), 0.0)
        closed = Closed("open", f"{finding.word}: no machine runs its lines")
        targets, seed = order.judging.targets, order.judging.seed + 1
        for machine in range(len(self._benches)) if finding.word == "survived" else ():
            closed = self._in_fork(machine, lambda each: each.search(targets, seed, order.budget), order.budget)
            if closed.how == "killed":
                return closed
        difference = finding.difference
        if difference is None and finding.word == "survived":
            return msgspec.structs.replace(closed, why=f"{closed.why}, and no state differs")
        if not order.pin or difference is None:
            return closed
        kept = self._kept[difference.trace - 1]
        pinned = self._in_fork(kept.machine, lambda each: each.pinned(kept.trace, difference.step), 0.0)
        return msgspec.structs.replace(pinned, searched=closed.searched)

    def _in_fork(self, machine: int, close: Callable[[Closing], Closed], seconds: float) -> Closed:
        (mutant,) = self._order.mutants

        def run(say: Callable[[Message], None]) -> None:
            given = load_class(self._order.machines[machine])
            closing = Closing(self._live, self._sources[mutant.shown], mutant, given, self._bench(machine))
            say({"closed": msgspec.to_builtins(close(closing))})

        ended = next(run_jobs([Job(run, 0, seconds + 2 * SHRINK_SECONDS + 60.0)], 1))
        for each in ended.said:
            if "closed" in each:
                return msgspec.convert(each["closed"], Closed)
        raised = next((each["raised"] for each in ended.said if "raised" in each), "it did not come to an end")
        return Closed("open", f"the search ended: {raised}")


def main() -> None:
    """Close the mutant of an order."""
    text, say = begun()
    with answering(say):
        order = msgspec.json.decode(text, type=KillOrder)
        say({"closed": msgspec.to_builtins(Killer(order).close())})


if __name__ == "__main__":
    main()
