"""Findings as plain values, for a file or another process: by names, and without their tapes."""

from __future__ import annotations

from collections.abc import Sequence

import ordeal._native as _native
from ordeal._base.untrusted import error_message, remote_error, type_name
from ordeal._engine.execution.bucket import traceback_text
from ordeal._engine.replay.trace_builder import Provenance
from ordeal._engine.storage.state_file import SavedFinding, SavedOrigin
from ordeal._engine.triage.findings import Finding


class FindingRecords:
    """Writes and reads the records for a machine whose parts have these ``names``."""

    def __init__(self, names: _native.MachineNames) -> None:
        self._rules, _, self._faults, _ = names

    def saved_provenance(self, origin: Provenance) -> SavedOrigin:
        """Return ``origin`` by names."""
        swarm = None
        if origin.swarm is not None:
            rules, faults = origin.swarm
            swarm = (_chosen(self._rules, rules), _chosen(self._faults, faults))
        weights = {name: weight for name, weight in zip(self._rules, origin.weights, strict=False) if weight}
        return SavedOrigin(
            run_id=origin.run_id, checkpoint=origin.checkpoint, edges=origin.edges, swarm=swarm, weights=weights
        )

    def saved_finding(self, finding: Finding) -> SavedFinding:
        """Return ``finding`` without its tape; its error by names."""
        return SavedFinding(
            bucket=writable_text(finding.bucket),
            origin=self.saved_provenance(finding.origin),
            error_type=type_name(type(finding.error)),
            error_message=writable_text(error_message(finding.error)),
            traceback=writable_text(finding.error_traceback or traceback_text(finding.error)),
            count=finding.count,
            flaky=finding.flaky,
            outside=finding.outside,
        )

    def finding(self, saved: SavedFinding, tape: _native.Tape) -> Finding:
        """Rebuild what ``saved_finding`` returned, with its tape."""
        error = remote_error(saved.error_type, saved.error_message)
        finding = Finding(saved.bucket, tape, self.origin(saved.origin), error, saved.count, saved.flaky)
        finding.error_traceback = saved.traceback
        finding.outside = saved.outside
        return finding

    def origin(self, saved: SavedOrigin) -> Provenance:
        """Rebuild what ``saved_provenance`` returned, for the present machine."""
        swarm = None
        if saved.swarm is not None:
            rules, faults = saved.swarm
            swarm = ([name in rules for name in self._rules], [name in faults for name in self._faults])
        weights = [saved.weights.get(name, 0) for name in self._rules] if saved.weights else []
        return Provenance(saved.run_id, saved.checkpoint, swarm, saved.edges, weights)


def _chosen(names: Sequence[str], flags: Sequence[bool]) -> list[str]:
    return [name for name, on in zip(names, flags, strict=True) if on]


def writable_text(text: str) -> str:
    """Return ``text`` in a form that any file can hold."""
    return text.encode("utf-8", "backslashreplace").decode()
