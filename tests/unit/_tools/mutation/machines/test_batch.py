"""A batch of mutants in one process: verdicts, and the original as it was afterwards."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from tests.unit._tools.mutation.machines import Mutants, till

import ordeal._native as _native
from ordeal._base.trace_file import Trace
from ordeal._tools.mutation.interpreters.sitecustomize import real_path
from ordeal._tools.mutation.machines import batch as batch_module
from ordeal._tools.mutation.machines.batch import Batch
from ordeal._tools.mutation.machines.bench import Bench
from ordeal._tools.mutation.machines.evidence import Finding
from ordeal._tools.mutation.machines.traces import Kept
from ordeal._tools.mutation.machines.turns import TurnLimit
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import LiveFunctions


@pytest.fixture
def kept(tapes: list[_native.Tape]) -> list[Kept]:
    trace = Trace(run_id=0, seed=0, test_class="")
    bench = Bench(till.Till, str(Path.cwd()))
    with bench.running():
        return [
            Kept(number, 0, trace, tape, {}, 0.001, bench.sketches(tape) or [])
            for number, tape in enumerate(tapes[:4], start=1)
        ]


def judge(source: Source, mutant: Mutant, kept: list[Kept]) -> tuple[Batch, Finding]:
    folder = str(Path(till.__file__).parent)
    live = LiveFunctions({real_path(till.__file__)})
    turns = TurnLimit(live)
    bench = Bench(till.Till, folder, 10.0, turns, 100)
    batch = Batch([bench], lambda _, patience: Bench(till.Till, folder, 10.0 * patience), turns.watch)
    try:
        return batch, batch.finding(live, source, mutant, [(each, -1) for each in kept], 9)
    finally:
        batch.close()
        turns.end()


def test_a_killed_mutant_leaves_the_original(source: Source, mutants: Mutants, kept: list[Kept]) -> None:
    before = till.Drawer.put.__code__
    mutant = next(each for (name, *_), each in mutants.items() if name == "Drawer.put" and "-" in each.replacement)
    batch, finding = judge(source, mutant, kept)
    assert (finding.word, finding.kills[0].by) == ("killed", "invariant:coins_are_not_negative")
    with closing(batch):  # to ask opens a bench once more, and with it an alarm
        assert batch.original_passes()
    assert till.Drawer.put.__code__ is before


def test_what_the_last_state_breaks_is_told_where_it_broke_first(
    source: Source, mutants: Mutants, kept: list[Kept], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant = next(each for (name, *_), each in mutants.items() if name == "Drawer.put" and "-" in each.replacement)
    looking = [msgspec.structs.replace(each, only_looks=True) for each in kept]
    _, expected = judge(source, mutant, kept)
    monkeypatch.setattr(batch_module, "CHECKED_TRACES", 0)
    _, found = judge(source, mutant, looking)
    assert expected.kills[0].step < len(kept[0].sketches) - 1
    assert found == expected


def test_a_survivor_says_which_state_differs(source: Source, mutants: Mutants, kept: list[Kept]) -> None:
    mutant = next(
        each for (name, *_), each in mutants.items() if name == "Drawer.give_back" and each.replacement == "-="
    )
    _, finding = judge(source, mutant, kept)
    assert finding.why_it_survived == "state differs"
    assert finding.difference is not None
    assert finding.difference.path == "drawer.given_back"


def test_a_loop_without_end_is_a_timeout(source: Source, mutants: Mutants, kept: list[Kept]) -> None:
    mutant = next(each for (name, *_), each in mutants.items() if name == "Drawer.close" and each.replacement == "+=")
    _, finding = judge(source, mutant, kept)
    assert (finding.word, finding.replays, finding.traces) == ("timeout", 1, 9)
