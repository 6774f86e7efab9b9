"""Traces of runs as an exploration makes them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from ordeal._engine.coverage.targets import Target, resolve_targets
from ordeal._engine.execution.recorder import RunRecorder
from ordeal._engine.replay.loading import load_for_replay
from ordeal._engine.replay.trace_builder import Provenance, TraceBuilder
from ordeal.trace import Trace, TraceStep, replay

from ...samples.traced import Faulty

STEPS = [TraceStep("fault_toggle", "+three(c)"), TraceStep("rule", "go")]


def made(origin: Provenance, targets: Sequence[Target] = ()) -> Trace:
    loaded = load_for_replay(Trace(1, 42, "x:Y", steps=STEPS), Faulty)
    recorder = RunRecorder()
    replayed = loaded.replayer.run(loaded.tape, recorder)
    maker = TraceBuilder("x:Y", 42, loaded.driver.definition, loaded.driver.faults, targets=targets)
    return maker.make(origin, replayed.tape, recorder)


def test_a_trace_says_where_its_run_comes_from() -> None:
    trace = made(Provenance(run_id=7, checkpoint=3, swarm=None, edges=2))
    assert (trace.run_id, trace.seed, trace.from_checkpoint, trace.edges_discovered) == (7, 42, 3, 2)
    assert [step.name for step in trace.steps] == ["+three(c)", "go"]
    assert made(Provenance(run_id=7, checkpoint=0, swarm=None, edges=2)).from_checkpoint is None


def test_the_configuration_of_the_swarm_is_its_first_line_and_no_step() -> None:
    trace = made(Provenance(run_id=1, checkpoint=0, swarm=([True], [False, False, True]), edges=0))
    assert trace.steps[0].name == "[swarm rules=1 faults=1]"
    assert trace.steps[0].params == {"active_rules": ["go"], "active_faults": ["three(c)"]}
    assert [step.name for step in trace.taken_steps()] == ["+three(c)", "go"]
    assert replay(trace, Faulty) is None
    assert Trace.from_dict(trace.to_dict()).content_hash() == trace.content_hash()


def test_the_configuration_describes_the_way_to_the_checkpoint_as_well() -> None:
    trace = made(Provenance(run_id=1, checkpoint=2, swarm=([False], [True, False, False]), edges=0))
    first, _, third = (fault.name for fault in Faulty.faults)
    assert trace.steps[0].params == {"active_rules": ["go"], "active_faults": [first, third]}


def test_the_configuration_is_json_in_a_file() -> None:
    trace = made(Provenance(run_id=1, checkpoint=0, swarm=([True], [False, False, True]), edges=0, weights=[3]))
    loaded = Trace.from_json(trace.to_json())
    assert loaded.steps[0].params == trace.steps[0].params == {
        "active_rules": ["go"], "active_faults": ["three(c)"], "weights": {"go": 3},
    }  # fmt: skip
    assert loaded.to_json() == trace.to_json()


def test_a_trace_holds_digests_of_the_source_of_its_targets() -> None:
    origin = Provenance(run_id=1, checkpoint=0, swarm=None, edges=0)
    trace = made(origin, resolve_targets([__name__]))
    assert list(trace.targets) == [__name__]
    assert len(trace.targets[__name__]) == 64
    assert made(origin).targets == {}
    assert made(origin).content_hash() == trace.content_hash()


def test_a_trace_holds_the_digests_of_what_ran_and_not_of_what_was_written_later(tmp_path: Path) -> None:
    file = tmp_path / "changing.py"
    file.write_text("a = 1\n", "utf-8")
    loaded = load_for_replay(Trace(1, 42, "x:Y", steps=STEPS), Faulty)
    targets = [Target("changing", str(file), is_package=False)]
    maker = TraceBuilder("x:Y", 42, loaded.driver.definition, loaded.driver.faults, targets=targets)
    digests = maker.read_sources()
    file.write_text("a = 2\n", "utf-8")
    recorder = RunRecorder()
    replayed = loaded.replayer.run(loaded.tape, recorder)
    trace = maker.make(Provenance(run_id=1, checkpoint=0, swarm=None, edges=0), replayed.tape, recorder)
    assert trace.targets == digests == {"changing": sha256(b"a = 1\n").hexdigest()}
