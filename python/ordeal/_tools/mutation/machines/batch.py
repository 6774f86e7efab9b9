"""Choose the traces that judge a mutant, and judge mutants one after another in the live functions of one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from itertools import groupby
from types import CodeType
from typing import cast

import ordeal._native as _native
from ordeal._tools.mutation.interpreters.sitecustomize import real_path
from ordeal._tools.mutation.machines.bench import State, TraceReplayer, difference
from ordeal._tools.mutation.machines.evidence import Difference, Kill, MachineFinding
from ordeal._tools.mutation.machines.traces import JudgingTrace, Lines
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import LiveFunctions, NotSwappable, Swap
from ordeal._tools.mutation.verdicts import Word

#: A trace that runs the lines of a mutant, and the steps in which it does, as bits.
Judging = tuple[JudgingTrace, int]
#: So many traces judge a mutant, unless all shall. Of the 337 mutants of five examples that any of at most 35 traces
#: notice, one is noticed only by others; of the traces with the fewest steps, twenty are needed for as much.
JUDGING_MAX = 6
#: In so many of them the invariants are asked after each step; in the others only after the last one: most of what is
#: broken stays so, and invariants may take three quarters of a replay. Of 588 mutants of three programs that any of at
#: most 84 traces notices, six such traces notice 584, and six that are asked after each step 586 in twice the time.
CHECKED_TRACES = 2
#: States are compared after so many steps of so many of them; in the others only the last states.
COMPARED_STEPS, COMPARED_TRACES = 16, 3


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


def first_step(each: JudgingTrace, path: str, function: tuple[int, int]) -> int:
    """Return the first step that can differ from the original; 0 where the invariants must be asked in any case.

    It is the one that enters the function: one without its ``yield`` differs before the changed line would run.
    """
    if not each.only_looks:
        return 0
    hits = 0
    for line in range(function[0], function[1] + 1):
        hits |= each.hits.get((path, line), 0)
    return max(0, (hits & -hits).bit_length() - 1)


def only_steps_differ(each: JudgingTrace, path: str, function: tuple[int, int]) -> bool:
    """Return whether invariants have no part in the states of a trace: they change nothing, and run no mutant."""
    return each.only_looks and not any((path, line) in each.looked for line in range(function[0], function[1] + 1))


def compared(each: JudgingTrace, hits: int, place: int) -> int:
    """Return the steps after which the states of a trace are compared, the trace with this place among the judges.

    A state differs first where the lines run, or later, through what no state shows: so the last one is looked at, too.
    """
    due = 1 << len(each.sketches) - 1
    for _ in range(COMPARED_STEPS if place < COMPARED_TRACES else 0):
        due |= hits & -hits
        hits &= hits - 1
    return due


#: A rule that took too long gets this much more, before it is believed to hang.
PATIENCE = 5


class Batch:
    """The mutants that one process judges, and which trace noticed the last one of each function."""

    def __init__(
        self,
        benches: list[TraceReplayer],
        patient: Callable[[int, int], TraceReplayer],
        watch: Callable[[Iterable[CodeType]], object] = lambda _: None,
    ) -> None:
        self._benches, self._patient, self._watch = benches, patient, watch
        self._killer: dict[tuple[str, tuple[int, int] | None], int] = {}
        self._beginnings: dict[tuple[int, int], _native.Tape] = {}
        self._original_states: dict[tuple[int, int], State] = {}
        self._machine, self._stack = -1, ExitStack()
        self._unproven: dict[int, tuple[JudgingTrace, int]] = {}
        self._first_steps: dict[tuple[int, tuple[str, tuple[int, int] | None]], int] = {}

    def finding(
        self, live: LiveFunctions, source: Source, mutant: Mutant, judges: list[Judging], runs: int
    ) -> MachineFinding:
        """Judge one mutant by these traces, of the ``runs`` that run its lines.

        What notices it is believed once ``original_passes``.
        """
        try:
            swap = Swap(live, source, mutant)
        except NotSwappable as error:
            return MachineFinding(mutant.id, "not run", note=str(error))
        try:
            self._watch(swap.codes())
            path = real_path(str(source.path))
            kill, ran = self._first_kill(mutant, judges, path)
            found = None if kill else self._first_other(mutant, ran, path)
        finally:
            swap.undo()
        replays = len(ran)
        if kill is None:
            told = self._difference(found[0], *found[1]) if found is not None else None
            return MachineFinding(mutant.id, "survived", (), told, runs, replays)
        each = next(each for each, _ in judges if each.number == kill.trace)
        steps = max(kill.step + 1, self._unproven[each.number][1] if each.number in self._unproven else 0)
        self._unproven[each.number] = each, steps
        word = cast("Word", kill.kind) if kill.kind in ("timeout", "memory") else "killed"
        return MachineFinding(mutant.id, word, (kill,), None, runs, replays)

    def _first_kill(self, mutant: Mutant, judges: list[Judging], path: str) -> tuple[Kill | None, list[Judging]]:
        """Return the first failure, and the traces that ran until then, in their order."""
        key = mutant.place
        last = self._killer.get(key)
        ordered = sorted(judges, key=lambda each: each[0].number != last)
        ran: list[Judging] = []
        for machine, group in groupby(ordered, lambda each: each[0].machine):
            bench = self._running(machine)
            for each, hits in group:
                first = self._first_step(each, path, mutant)
                if each.only_looks and len(ran) >= CHECKED_TRACES:
                    kill = self._kill(bench, each, len(each.sketches) - 1)
                    # What it broke first is asked for once it is known that it broke anything.
                    kill = kill and (self._kill(bench, each, first) or kill)
                else:
                    kill = self._kill(bench, each, first)
                ran.append((each, hits))
                if kill is not None:
                    self._killer[key] = each.number
                    return kill, ran
        return None, ran

    def _first_step(self, each: JudgingTrace, path: str, mutant: Mutant) -> int:
        key = each.number, mutant.place
        if key not in self._first_steps:
            self._first_steps[key] = first_step(each, path, mutant.function or (0, 0))
        return self._first_steps[key]

    def _kill(self, bench: TraceReplayer, each: JudgingTrace, first: int) -> Kill | None:
        kill = bench.run(each.tape, each.number, each.sketches, first=first)
        if kill is not None and kill.kind == "timeout" and not bench.is_turning:
            patient = self._patient(each.machine, PATIENCE)
            with patient.running():
                kill = patient.run(each.tape, each.number)
        return kill

    def _first_other(
        self, mutant: Mutant, ran: list[Judging], path: str
    ) -> tuple[JudgingTrace, tuple[int, str, State]] | None:
        """Return the first trace and step whose state is not the original's, with the rule and the state there.

        To compare states takes longer than the steps do, so that only what survives is compared.
        """
        for place, (each, hits) in enumerate(ran):
            bench = self._running(each.machine)
            due, asks = compared(each, hits, place), not only_steps_differ(each, path, mutant.function or (0, 0))
            found = bench.first_other(each.tape, each.sketches, due, asks=asks)
            if found is None:
                continue
            # What is behind a hit and equal is equal until the next one.
            between = hits & ~due & (1 << found[0]) - 1 & -1 << bench.equal_until + 1
            if between:
                found = bench.first_other(each.tape, each.sketches, between | 1 << found[0], asks=asks) or found
            return each, found
        return None

    def _difference(self, each: JudgingTrace, step: int, rule: str, state: State) -> Difference:
        place = each.number, step
        if place not in self._original_states:
            bench = self._running(each.machine)
            self._original_states[place] = bench.state_at(each.tape, step, asks=not each.only_looks)
        expected = each.sketches[step][0] if step < len(each.sketches) else "none"
        return difference(each.number, step, (expected, self._original_states[place]), (rule, state))

    def original_passes(self) -> bool:
        """Return whether the traces that have noticed mutants pass on the original, by now, to where they failed.

        Then what they noticed was not left behind by an earlier mutant, of this process. Each is asked once.
        """
        unproven = [*self._unproven.values()]
        self._unproven.clear()
        return not any(self._is_spoilt(each, steps) for each, steps in unproven)

    def _is_spoilt(self, each: JudgingTrace, steps: int) -> bool:
        bench = self._running(each.machine)
        if steps < len(each.sketches) - 1:
            begin = self._beginnings.get((each.number, steps))
            if begin is None:
                begin = self._beginnings[each.number, steps] = _native.Tape.from_steps(each.tape.steps()[:steps])
            if bench.run(begin, each.number) is None:
                return False
            # A machine may not like to be torn down there.
        return bench.run(each.tape, each.number) is not None

    def _running(self, machine: int) -> TraceReplayer:
        """Return the bench of a machine, whose limits hold until another machine runs: each change takes time."""
        if self._machine != machine:
            self.close()
            self._stack.enter_context(self._benches[machine].running())
            self._machine = machine
        return self._benches[machine]

    def close(self) -> None:
        """Take all limits back."""
        self._machine = -1
        self._stack.close()
