"""Traces of runs as an exploration makes them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.recorder import RunRecorder
from ordeal._engine.execution.settings import Scope
from ordeal._engine.replay.loading import load_for_replay
from ordeal._engine.replay.trace_builder import TraceBuilder
from ordeal._engine.storage.state_file import Provenance
from ordeal.trace import Trace, TraceStep

from ...samples.traced import Faulty

SCOPE = Scope(test_class="x:Y", progress=None, corpus_dir=None, rule_timeout=None, seed=42)
STEPS = [TraceStep("fault_toggle", "+three(c)"), TraceStep("rule", "go")]


def made(origin: Provenance, targets: Sequence[Target] = ()) -> Trace:
    loaded = load_for_replay(Trace(1, 42, "x:Y", steps=STEPS), Faulty)
    recorder = RunRecorder()
    replayed = loaded.replayer.run(loaded.tape, recorder)
    maker = TraceBuilder(SCOPE, loaded.driver, targets)
    return maker.make(origin, replayed.tape, recorder)


def test_the_configuration_describes_the_way_to_the_checkpoint_as_well() -> None:
    trace = made(Provenance(run_id=1, checkpoint=2, swarm=([], [Faulty.faults[0].name]), edges=0))
    first, _, third = (fault.name for fault in Faulty.faults)
    assert trace.steps[0].params == {"active_rules": ["go"], "active_faults": [first, third]}


def test_a_trace_holds_the_digests_of_what_ran_and_not_of_what_was_written_later(tmp_path: Path) -> None:
    file = tmp_path / "changing.py"
    file.write_text("a = 1\n", "utf-8")
    loaded = load_for_replay(Trace(1, 42, "x:Y", steps=STEPS), Faulty)
    targets = [Target("changing", str(file), is_package=False)]
    maker = TraceBuilder(SCOPE, loaded.driver, targets)
    digests = maker.read_sources()
    file.write_text("a = 2\n", "utf-8")
    recorder = RunRecorder()
    replayed = loaded.replayer.run(loaded.tape, recorder)
    trace = maker.make(Provenance(run_id=1, checkpoint=0, swarm=None, edges=0), replayed.tape, recorder)
    assert trace.targets == digests == {"changing": sha256(b"a = 1\n").hexdigest()}
