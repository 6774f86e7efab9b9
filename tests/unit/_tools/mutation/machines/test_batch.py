"""A batch of mutants in one process: verdicts, and the original as it was afterwards."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.unit._tools.mutation.machines import Mutants, till

import ordeal._native as _native
from ordeal._base.trace_file import Trace
from ordeal._tools.mutation.interpreters.sitecustomize import real_path
from ordeal._tools.mutation.machines.batch import Batch, covering
from ordeal._tools.mutation.machines.bench import TraceReplayer
from ordeal._tools.mutation.machines.evidence import MachineFinding
from ordeal._tools.mutation.machines.traces import JudgingTrace
from ordeal._tools.mutation.machines.turns import TurnLimit
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import LiveFunctions

LINE = ("shop.py", 3)


def numbered(number: int, steps: int, hits: int) -> JudgingTrace:
    nothing: Any = None
    return JudgingTrace(number, 0, nothing, nothing, {LINE: hits} if hits else {}, 0.0, [("rule", 0)] * steps)


def test_long_traces_that_run_the_lines_often_come_first() -> None:
    traces = [numbered(1, 5, 0b11), numbered(2, 40, 0b1), numbered(3, 40, 0b111), numbered(4, 90, 0)]
    assert [each.number for each, _ in covering(traces, {LINE, ("shop.py", 4)})] == [3, 2, 1]


@pytest.fixture
def kept(tapes: list[_native.Tape]) -> list[JudgingTrace]:
    trace = Trace(run_id=0, seed=0, test_class="")
    bench = TraceReplayer(till.Till, str(Path.cwd()))
    with bench.running():
        return [
            JudgingTrace(number, 0, trace, tape, {}, 0.001, bench.sketches(tape) or [])
            for number, tape in enumerate(tapes[:4], start=1)
        ]


def judge(source: Source, mutant: Mutant, kept: list[JudgingTrace]) -> tuple[Batch, MachineFinding]:
    folder = str(Path(till.__file__).parent)
    live = LiveFunctions({real_path(till.__file__)})
    turns = TurnLimit(live)
    bench = TraceReplayer(till.Till, folder, 10.0, turns, 100)
    batch = Batch([bench], lambda _, patience: TraceReplayer(till.Till, folder, 10.0 * patience), turns.watch)
    try:
        return batch, batch.finding(live, source, mutant, [(each, -1) for each in kept], 9)
    finally:
        batch.close()
        turns.end()


def test_a_killed_mutant_leaves_the_original(source: Source, mutants: Mutants, kept: list[JudgingTrace]) -> None:
    before = till.Drawer.put.__code__
    mutant = next(each for (name, *_), each in mutants.items() if name == "Drawer.put" and "-" in each.replacement)
    batch, finding = judge(source, mutant, kept)
    assert (finding.word, finding.kills[0].by) == ("killed", "invariant:coins_are_not_negative")
    with closing(batch):  # to ask opens a bench once more, and with it an alarm
        assert batch.original_passes()
    assert till.Drawer.put.__code__ is before


def test_a_survivor_says_which_state_differs(source: Source, mutants: Mutants, kept: list[JudgingTrace]) -> None:
    mutant = next(
        each for (name, *_), each in mutants.items() if name == "Drawer.give_back" and each.replacement == "-="
    )
    _, finding = judge(source, mutant, kept)
    assert finding.why_it_survived == "state differs"
    assert finding.difference is not None
    assert finding.difference.path == "drawer.given_back"


def test_a_loop_without_end_is_a_timeout(source: Source, mutants: Mutants, kept: list[JudgingTrace]) -> None:
    mutant = next(each for (name, *_), each in mutants.items() if name == "Drawer.close" and each.replacement == "+=")
    _, finding = judge(source, mutant, kept)
    assert (finding.word, finding.replays, finding.traces) == ("timeout", 1, 9)
