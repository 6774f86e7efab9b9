"""Closes survivors, in a separate interpreter that runs no rule itself: all that runs is a fork of it.

``python -m ordeal._tools.mutation.machines.kill_process ORDER FD PARENT`` writes what it finds in lines of JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import msgspec.structs

from ordeal._engine.execution.class_path import load_class
from ordeal._tools.mutation.forks import Ended, Job, Message, Say, run_jobs
from ordeal._tools.mutation.machines.closing import SHRINK_SECONDS, Closing
from ordeal._tools.mutation.machines.evidence import Closed, MachineFinding, Order
from ordeal._tools.mutation.machines.judge_process import Judge, answering
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.own_process import begun


class Killer(Judge):
    """A judge that keeps its findings and goes on to close what survives."""

    def __init__(self, order: Order) -> None:
        super().__init__(order, self._keep)
        self._findings = {mutant.id: MachineFinding(mutant.id, "not run") for mutant in order.mutants}

    def _keep(self, message: Message) -> None:
        for finding in msgspec.convert(message.get("findings", []), list[MachineFinding]):
            self._findings[finding.id] = finding

    def close(self) -> Iterator[tuple[str, Closed]]:
        """Judge the mutants, and close each by the trace that notices it, or by a search."""
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
        for mutant, closed in self._searched(survivors):
            found = self._findings[mutant.id].difference
            why = closed.why if closed.how == "killed" or found is not None else f"{closed.why}, and no state differs"
            yield mutant.id, msgspec.structs.replace(closed, why=why)

    def _searched(self, survivors: list[Mutant]) -> Iterator[tuple[Mutant, Closed]]:
        """Search by each machine, for an equal part of the time; with several workers, for several mutants at once."""
        left, workers = (
            {each.id: (each, Closed("open", "not searched")) for each in survivors},
            self._order.options.workers,
        )
        for machine in range(len(self._benches)):
            share = min(1.0, workers / max(1, len(left))) / len(self._benches)
            jobs = [self._search(each, machine, share * self._order.budget) for each, _ in left.values()]
            for ended in run_jobs(jobs, workers):
                mutant, closed = ended.job.tag, _closed(ended)
                left[mutant.id] = mutant, closed
                if closed.how == "killed":
                    yield left.pop(mutant.id)
        yield from left.values()

    def _search(self, mutant: Mutant, machine: int, seconds: float) -> Job:
        difference = self._findings[mutant.id].difference
        attribute = difference.attribute if difference is not None else ""

        def run(say: Say) -> None:
            options, closing = self._order.options, self._closing(mutant, machine)
            closed = closing.searched(options.targets, attribute, options.seed + 1, seconds)
            say({"closed": msgspec.to_builtins(closed)})

        return Job(run, 0, seconds + 2 * SHRINK_SECONDS + 60.0, mutant)

    def _closed_in_fork(self, mutant: Mutant, machine: int, close: Callable[[Closing], Closed]) -> Closed:
        def run(say: Say) -> None:
            say({"closed": msgspec.to_builtins(close(self._closing(mutant, machine)))})

        return _closed(next(run_jobs([Job(run, 0, 2 * SHRINK_SECONDS + 60.0)], 1)))

    def _closing(self, mutant: Mutant, machine: int) -> Closing:
        given = load_class(self._order.options.machines[machine])
        return Closing(self._live, self._sources[mutant.shown], mutant, given)


def _closed(ended: Ended) -> Closed:
    for each in ended.said:
        if "closed" in each:
            return msgspec.convert(each["closed"], Closed)
    return Closed("open", f"the search ended: {ended.raised or 'it did not come to an end'}")


def main() -> None:
    """Close the mutant of an order."""
    text, say = begun()
    with answering(say):
        order = msgspec.json.decode(text, type=Order)
        for name, closed in Killer(order).close():
            say({"id": name, "closed": msgspec.to_builtins(closed)})


if __name__ == "__main__":
    main()
