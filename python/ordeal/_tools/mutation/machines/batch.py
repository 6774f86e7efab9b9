"""Choose the traces that judge a mutant, and judge mutants one after another in the live functions of one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from itertools import groupby
from types import CodeType
from typing import cast

from ordeal._tools.mutation.machines.bench import State, TraceReplayer, difference
from ordeal._tools.mutation.machines.evidence import Kill, MachineFinding, StateDifference
from ordeal._tools.mutation.machines.traces import JudgingTrace, Lines
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import LiveFunctions, NotSwappable, Swap
from ordeal._tools.mutation.verdicts import Word

#: A trace that runs the lines of a mutant, and the steps in which it does, as bits.
Judging = tuple[JudgingTrace, int]
#: This many traces judge a mutant, unless all are wanted. Of the 337 mutants of five examples that any of at most 35
#: traces notice, one is noticed only by others; of the traces with the fewest steps, twenty are needed for as much.
JUDGING_MAX = 6


def covering(kept: Iterable[JudgingTrace], lines: Lines) -> list[Judging]:
    """Return the traces that run any of the lines, long ones first, and among them those that run the lines often."""
    found = []
    for each in kept:
        hits = 0
        for line in lines:
            hits |= each.hits.get(line, 0)
        if hits:
            found.append((each, hits))
    return sorted(found, key=lambda pair: (-pair[1].bit_count() * len(pair[0].sketches) ** 2, pair[0].number))


#: A rule that took too long gets this many times as long before it counts as a hang.
PATIENCE = 5


class Batch:
    """The mutants that one process judges, and the trace that noticed the last one of each function."""

    def __init__(
        self,
        benches: list[TraceReplayer],
        patient: Callable[[int, int], TraceReplayer],
        watch: Callable[[Iterable[CodeType]], object] = lambda _: None,
    ) -> None:
        self._benches, self._patient, self._watch = benches, patient, watch
        self._killer: dict[tuple[str, tuple[int, int] | None], int] = {}
        self._original_states: dict[tuple[int, int], State] = {}
        self._machine, self._stack = -1, ExitStack()
        self._unproven: dict[int, JudgingTrace] = {}

    def finding(
        self, live: LiveFunctions, source: Source, mutant: Mutant, judges: list[Judging], runs: int
    ) -> MachineFinding:
        """Judge one mutant by these traces, of the ``runs`` that run its lines.

        A kill counts once ``original_passes``.
        """
        try:
            swap = Swap(live, source, mutant)
        except NotSwappable as error:
            return MachineFinding(mutant.id, "not run", note=str(error))
        try:
            self._watch(swap.codes())
            kill, ran = self._first_kill(mutant, judges)
            found = None if kill else self._first_other(ran)
        finally:
            swap.undo()
        replays = len(ran)
        if kill is None:
            difference = self._difference(found[0], *found[1]) if found is not None else None
            return MachineFinding(mutant.id, "survived", (), difference, runs, replays)
        self._unproven[kill.trace] = next(each for each, _ in judges if each.number == kill.trace)
        word = cast("Word", kill.kind) if kill.kind in ("timeout", "memory") else "killed"
        return MachineFinding(mutant.id, word, (kill,), None, runs, replays)

    def _first_kill(self, mutant: Mutant, judges: list[Judging]) -> tuple[Kill | None, list[Judging]]:
        """Return the first failure, and the traces that ran until then, in their order."""
        key = mutant.place
        last = self._killer.get(key)
        ordered = sorted(judges, key=lambda each: each[0].number != last)
        ran: list[Judging] = []
        for machine, group in groupby(ordered, lambda each: each[0].machine):
            bench = self._running(machine)
            for each, hits in group:
                kill = self._kill(bench, each)
                ran.append((each, hits))
                if kill is not None:
                    self._killer[key] = each.number
                    return kill, ran
        return None, ran

    def _kill(self, bench: TraceReplayer, each: JudgingTrace) -> Kill | None:
        kill = bench.run(each.tape, each.number)
        if kill is not None and kill.kind == "timeout" and not bench.is_turning:
            patient = self._patient(each.machine, PATIENCE)
            with patient.running():
                kill = patient.run(each.tape, each.number)
        return kill

    def _first_other(self, ran: list[Judging]) -> tuple[JudgingTrace, tuple[int, str, State]] | None:
        """Return the first trace and step whose state is not the original's, with the rule and the state there.

        Comparing states takes longer than the steps do. So only survivors are compared, after the steps that run their
        lines and after the last one: a hidden difference may show later.
        """
        for each, hits in ran:
            bench, last = self._running(each.machine), 1 << len(each.sketches) - 1
            found = bench.first_other(each.tape, each.sketches, hits | last)
            if found is not None:
                return each, found
        return None

    def _difference(self, each: JudgingTrace, step: int, rule: str, state: State) -> StateDifference:
        place = each.number, step
        if place not in self._original_states:
            bench = self._running(each.machine)
            self._original_states[place] = bench.state_at(each.tape, step)
        expected = each.sketches[step][0] if step < len(each.sketches) else "none"
        return difference(each.number, step, (expected, self._original_states[place]), (rule, state))

    def original_passes(self) -> bool:
        """Return True if the traces that have noticed mutants pass on the original by now.

        Then what they noticed was not left behind by an earlier mutant of this process. The answer is cached.
        """
        unproven = [*self._unproven.values()]
        self._unproven.clear()
        return not any(self._running(each.machine).run(each.tape, each.number) for each in unproven)

    def _running(self, machine: int) -> TraceReplayer:
        """Return the bench of a machine, whose limits hold until another machine runs: each change takes time."""
        if self._machine != machine:
            self.close()
            self._stack.enter_context(self._benches[machine].running())
            self._machine = machine
        return self._benches[machine]

    def close(self) -> None:
        """Lift all limits."""
        self._machine = -1
        self._stack.close()
