"""Makes traces of the runs of one exploration."""

from __future__ import annotations

from collections.abc import Sequence

import ordeal._native as _native
from ordeal._base.records_used import records
from ordeal._base.trace_file import SWARM, Trace, TraceStep
from ordeal._engine.coverage.targets import Target, digest_targets
from ordeal._engine.execution.driver import Driver
from ordeal._engine.execution.machine import source_digest
from ordeal._engine.execution.recorder import RunRecorder
from ordeal._engine.execution.settings import Scope, Settings
from ordeal._engine.storage.state_file import Provenance


class TraceBuilder:
    """Holds what all traces of an exploration have in common, such as the source of ``targets``.

    The source is that of the first trace, unless ``read_sources`` reads it before.
    """

    def __init__(self, settings: Settings | Scope, driver: Driver, targets: Sequence[Target]) -> None:
        self._settings = settings
        self._driver = driver
        self._targets = targets
        self._digests: dict[str, str] | None = None

    def read_sources(self) -> dict[str, str]:
        """Return the digests of the targets, which are read once: what runs is the code that was there at first."""
        if self._digests is None:
            self._digests = digest_targets(self._targets)
        return self._digests

    def make(self, origin: Provenance, tape: _native.Tape, recorder: RunRecorder, invariant: str = "") -> Trace:
        """Return the trace of ``tape``, which ran while ``recorder`` watched and broke ``invariant``, if any."""
        settings, definition = self._settings, self._driver.definition
        steps = recorder.finished_steps(tape, definition)
        if origin.swarm is not None:
            # Begin with the configuration of the run: what was drawn for it, and what came before that. The path to the
            # checkpoint that it started from was made under another configuration.
            rules, faults = origin.swarm
            on = {*rules, *(step.name for step in steps if step.kind == "rule")}
            switched = {*faults, *(step.name[1:] for step in steps if step.kind == "fault_toggle")}
            names = [rule.name for rule in definition.rules]
            active_rules = [name for name in names if name in on]
            active_faults = [fault.name for fault in self._driver.faults if fault.name in switched]
            params: dict[str, object] = {"active_rules": active_rules, "active_faults": active_faults}
            if origin.weights:
                params["weights"] = {name: origin.weights.get(name, 0) for name in names}
            title = f"[swarm rules={len(active_rules)} faults={len(active_faults)}]"
            steps = [TraceStep(kind=SWARM, name=title, params=params), *steps]
        return Trace(
            run_id=origin.run_id,
            seed=settings.seed,
            test_class=settings.test_class,
            from_checkpoint=origin.checkpoint or None,
            steps=steps,
            edges_discovered=origin.edges,
            program=recorder.finished_program(invariant),
            targets=dict(self.read_sources()),
            rule_timeout=settings.rule_timeout,
            max_memory=settings.max_memory,
            machine=source_digest(definition.cls),
            records=list(records.paths),
        )
