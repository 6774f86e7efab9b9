"""The mutants that one process judges by machines, one after another, each in the live functions of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from itertools import groupby
from types import CodeType
from typing import cast

from ordeal._engine.mutation.interpreters.sitecustomize import real_path
from ordeal._engine.mutation.machines.bench import Bench, State, difference
from ordeal._engine.mutation.machines.choosing import Judging, compared, first_step
from ordeal._engine.mutation.machines.evidence import Difference, Finding, Kill
from ordeal._engine.mutation.machines.traces import Kept
from ordeal._engine.mutation.mutants import Mutant
from ordeal._engine.mutation.source import Source
from ordeal._engine.mutation.swap import LiveFunctions, NotSwappable, Swap
from ordeal._engine.mutation.verdicts import Word

#: A rule that took too long gets this much more, before it is believed to hang.
PATIENCE = 5


class Batch:
    """The mutants that one process judges, and which trace noticed the last one of each function."""

    def __init__(
        self,
        benches: list[Bench],
        patient: Callable[[int, int], Bench],
        matrix: bool,
        watch: Callable[[Iterable[CodeType]], object] = lambda _: None,
    ) -> None:
        self._benches, self._patient, self._matrix, self._watch = benches, patient, matrix, watch
        self._killer: dict[tuple[str, tuple[int, int] | None], int] = {}
        self._original_states: dict[tuple[int, int], State] = {}
        self._machine, self._stack = -1, ExitStack()
        self.is_dirty = False

    def finding(self, live: LiveFunctions, source: Source, mutant: Mutant, judges: list[Judging], runs: int) -> Finding:
        """Judge one mutant by these traces, of the ``runs`` that run its lines."""
        try:
            swap = Swap(live, source, mutant)
        except NotSwappable as error:
            return Finding(mutant.id, "not run", note=str(error))
        try:
            self._watch(swap.codes())
            kills, replays, other = self._kills(mutant, judges, real_path(str(source.path)))
            found = None if kills or other is None else self._first_other(*other)
        finally:
            swap.undo()
        if not kills:
            told = self._difference(found[0], *found[1]) if found is not None else None
            return Finding(mutant.id, "survived", (), told, runs, replays)
        if self._is_spoilt(kills[0], judges):
            self.is_dirty = True
            return Finding(mutant.id, "not run", note="the trace that notices it fails on the original afterwards")
        word = cast("Word", kills[0].kind) if kills[0].kind in ("timeout", "memory") else "killed"
        return Finding(mutant.id, word, tuple(kills), None, runs, replays)

    def _kills(self, mutant: Mutant, judges: list[Judging], path: str) -> tuple[list[Kill], int, Judging | None]:
        """Return what fails, how many traces ran, and the first of them that leads to another state."""
        key = (mutant.shown, mutant.function)
        last = self._killer.get(key)
        ordered = sorted(judges, key=lambda each: each[0].number != last)
        kills: list[Kill] = []
        other: Judging | None = None
        replays = 0
        for machine, group in groupby(ordered, lambda each: each[0].machine):
            bench = self._running(machine)
            for each, hits in group:
                due = compared(each, hits, replays) if other is None and not kills else 0
                kill = self._kill(bench, each, due, first_step(each, path, mutant.function or (0, 0)))
                replays += 1
                if kill is None:
                    if other is None and bench.differs(each.sketches):
                        # What is behind a hit and equal is equal until the next one.
                        other = each, (hits | 1 << len(each.sketches) - 1) & -1 << bench.equal_until + 1
                    continue
                kills.append(kill)
                self._killer[key] = each.number
                if not self._matrix:
                    return kills, replays, None
        return kills, replays, other

    def _kill(self, bench: Bench, each: Kept, due: int, first: int) -> Kill | None:
        kill = bench.run(each.tape, each.number, each.sketches, due, first)
        if kill is not None and kill.kind == "timeout" and not bench.is_turning:
            patient = self._patient(each.machine, PATIENCE)
            with patient.running():
                kill = patient.run(each.tape, each.number)
        return kill

    def _first_other(self, each: Kept, due: int) -> tuple[Kept, tuple[int, str, State]] | None:
        """Return the first step of a trace whose state is not the original's, with the rule and the state there."""
        found = self._running(each.machine).first_other(each.tape, each.sketches, due)
        return found and (each, found)

    def _difference(self, each: Kept, step: int, rule: str, state: State) -> Difference:
        place = each.number, step
        if place not in self._original_states:
            self._original_states[place] = self._running(each.machine).state_at(each.tape, step)
        expected = each.sketches[step][0] if step < len(each.sketches) else "none"
        return difference(each.number, step, (expected, self._original_states[place]), (rule, state))

    def _is_spoilt(self, kill: Kill, judges: list[Judging]) -> bool:
        each = next(each for each, _ in judges if each.number == kill.trace)
        return self._running(each.machine).run(each.tape, each.number) is not None

    def _running(self, machine: int) -> Bench:
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
