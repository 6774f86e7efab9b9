"""Makes traces of the runs of one exploration."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

import ordeal._native as _native
from ordeal._base.trace_file import SWARM, Trace, TraceStep
from ordeal._engine.coverage.digests import digest_targets
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.machine import source_digest
from ordeal._engine.execution.recorder import RunRecorder
from ordeal._hypothesis.machines import MachineDefinition
from ordeal.faults import Fault


class Provenance(msgspec.Struct, frozen=True):
    """Where a tape comes from: its run, the checkpoint that it branched from (0: none), its swarm configuration.

    ``weights`` are the weights of the rules, 0 for one that was left out, and empty when all rules were equal.
    """

    run_id: int
    checkpoint: int
    swarm: tuple[list[bool], list[bool]] | None
    edges: int
    weights: Sequence[int] = ()


class TraceBuilder:
    """Holds what all traces of an exploration have in common, such as the source of ``targets``.

    The source is that of the first trace, unless ``read_sources`` reads it before.
    """

    def __init__(
        self,
        test_class: str,
        seed: int,
        definition: MachineDefinition,
        faults: Sequence[Fault],
        *,
        targets: Sequence[Target] = (),
        rule_timeout: float | None = None,
        max_memory: int = 0,
    ) -> None:
        self._test_class = test_class
        self._seed = seed
        self._definition = definition
        self._faults = faults
        self._targets = targets
        self._digests: dict[str, str] | None = None
        self._rule_timeout = rule_timeout
        self._max_memory = max_memory

    def read_sources(self) -> dict[str, str]:
        """Return the digests of the targets, which are read once: what runs is the code that was there at first."""
        if self._digests is None:
            self._digests = digest_targets(self._targets)
        return self._digests

    def make(self, origin: Provenance, tape: _native.Tape, recorder: RunRecorder, invariant: str = "") -> Trace:
        """Return the trace of ``tape``, which ran while ``recorder`` watched and broke ``invariant``, if any."""
        steps = recorder.finished_steps(tape, self._definition)
        if origin.swarm is not None:
            steps = [self._swarm_step(*origin.swarm, origin.weights, steps), *steps]
        return Trace(
            run_id=origin.run_id,
            seed=self._seed,
            test_class=self._test_class,
            from_checkpoint=origin.checkpoint or None,
            steps=steps,
            edges_discovered=origin.edges,
            program=recorder.finished_program(invariant),
            targets=dict(self.read_sources()),
            rule_timeout=self._rule_timeout,
            max_memory=self._max_memory,
            machine=source_digest(self._definition.cls),
        )

    def _swarm_step(
        self, rules: list[bool], faults: list[bool], weights: Sequence[int], steps: Sequence[TraceStep]
    ) -> TraceStep:
        """Return the configuration step of a run that took ``steps``: what was drawn for it, and what came before that.

        The path to the checkpoint that it started from was made under another configuration.
        """
        ran = {step.name for step in steps if step.kind == "rule"}
        switched = {step.name[1:] for step in steps if step.kind == "fault_toggle"}
        active_rules = [
            rule.name for rule, on in zip(self._definition.rules, rules, strict=True) if on or rule.name in ran
        ]
        active_faults = [
            fault.name for fault, on in zip(self._faults, faults, strict=True) if on or fault.name in switched
        ]
        params: dict[str, object] = {"active_rules": active_rules, "active_faults": active_faults}
        if weights:
            names = [rule.name for rule in self._definition.rules]
            params["weights"] = dict(zip(names, weights, strict=True))
        return TraceStep(
            kind=SWARM,
            name=f"[swarm rules={len(active_rules)} faults={len(active_faults)}]",
            params=params,
        )
