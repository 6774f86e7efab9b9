"""The mutants that one process judges by machines, one after another, each in the live functions of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ordeal._engine.mutation.machines.bench import Bench, State, difference
from ordeal._engine.mutation.machines.evidence import Difference, Finding, Kill
from ordeal._engine.mutation.machines.traces import Kept
from ordeal._engine.mutation.mutants import Mutant
from ordeal._engine.mutation.source import Source
from ordeal._engine.mutation.swap import LiveFunctions, NotSwappable, Swap
from ordeal._engine.mutation.verdicts import Word

#: So many traces of a survivor are compared with those of the original.
COMPARED = 20
#: A rule that took too long gets this much more, before it is believed to hang.
PATIENCE = 5


class Batch:
    """The mutants that one process judges, and which trace noticed the last one of each function."""

    def __init__(self, benches: list[Bench], patient: Callable[[int, int], Bench], matrix: bool) -> None:
        self._benches, self._patient, self._matrix = benches, patient, matrix
        self._killer: dict[tuple[str, tuple[int, int] | None], int] = {}
        self.is_dirty = False

    def finding(self, live: LiveFunctions, source: Source, mutant: Mutant, kept: list[Kept]) -> Finding:
        """Judge one mutant by the traces that run its lines."""
        try:
            swap = Swap(live, source, mutant)
        except NotSwappable as error:
            return Finding(mutant.id, "not run", note=str(error))
        try:
            kills, replays = self._kills(mutant, kept)
            other = None if kills else self._first_other(kept)
        finally:
            swap.undo()
        if not kills:
            return Finding(mutant.id, "survived", (), other and self._difference(*other), len(kept), replays)
        if self._is_spoilt(kills[0], kept):
            self.is_dirty = True
            return Finding(mutant.id, "not run", note="the trace that notices it fails on the original afterwards")
        word = cast("Word", kills[0].kind) if kills[0].kind in ("timeout", "memory") else "killed"
        return Finding(mutant.id, word, tuple(kills), None, len(kept), replays)

    def _kills(self, mutant: Mutant, kept: list[Kept]) -> tuple[list[Kill], int]:
        key = (mutant.shown, mutant.function)
        last = self._killer.get(key)
        ordered = sorted(kept, key=lambda each: each.number != last)
        kills: list[Kill] = []
        for count, each in enumerate(ordered, start=1):
            kill = self._kill(each)
            if kill is None:
                continue
            kills.append(kill)
            self._killer[key] = each.number
            if not self._matrix:
                return kills, count
        return kills, len(ordered)

    def _kill(self, each: Kept) -> Kill | None:
        bench = self._benches[each.machine]
        with bench.running():
            kill = bench.run(each.tape, each.number)
        if kill is not None and kill.kind == "timeout":
            patient = self._patient(each.machine, PATIENCE)
            with patient.running():
                kill = patient.run(each.tape, each.number)
        return kill

    def _first_other(self, kept: list[Kept]) -> tuple[Kept, int, tuple[str, State]] | None:
        """Return the first trace and step whose state is not that of the original, and the rule and the state there."""
        for each in kept[:COMPARED]:
            bench = self._benches[each.machine]
            with bench.running():
                step = bench.first_other(each.tape, each.sketches)
                if step is not None:
                    return each, step, bench.state_at(each.tape, step)
        return None

    def _difference(self, each: Kept, step: int, mutant: tuple[str, State]) -> Difference:
        bench = self._benches[each.machine]
        with bench.running():
            return difference(each.number, step, bench.state_at(each.tape, step), mutant)

    def _is_spoilt(self, kill: Kill, kept: list[Kept]) -> bool:
        each = next(each for each in kept if each.number == kill.trace)
        bench = self._benches[each.machine]
        with bench.running():
            return bench.run(each.tape, each.number) is not None
