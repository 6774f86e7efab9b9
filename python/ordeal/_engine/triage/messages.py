"""Findings and the messages of triage jobs: objects within a process, checked plain values in files and channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_type_hints

import msgspec
import msgspec.structs

import ordeal._native as _native
from ordeal._base.formatting import writable_text
from ordeal._base.trace_file import Trace, TraceStep
from ordeal._base.untrusted import error_message, remote_error, type_name
from ordeal._engine.execution.bucket import traceback_text
from ordeal._engine.isolation.channel import ChannelError, Value
from ordeal._engine.storage.state_file import SavedFinding
from ordeal._engine.triage.findings import Finding
from ordeal.result import Failure, SeedOutcome, ShrinkSnapshot


class SeedBegun(msgspec.Struct, frozen=True):
    """The seed in the file ``path`` starts to run."""

    path: str


class SeedDone(msgspec.Struct, frozen=True):
    """The seed in the file ``path`` has run, and showed these findings."""

    path: str
    outcome: SeedOutcome
    findings: tuple[Finding, ...]


class Shrinking(msgspec.Struct, frozen=True):
    """Another candidate was tried: from ``steps_before`` steps to ``steps`` so far.

    With ``waits``, what is left is now watched for up to this many seconds, to see whether it hangs.
    """

    steps_before: int
    steps: int
    candidates: int
    waits: float = 0.0


def progress_of(now: Shrinking, elapsed: float, number: int, total: int) -> ShrinkSnapshot:
    """Return the progress of the failure ``number`` of ``total`` for observers."""
    return ShrinkSnapshot(elapsed, number, total, now.steps_before, now.steps, now.candidates, waits=now.waits)


class FailureWritten(msgspec.Struct, frozen=True):
    """A failure so far, with its tape. ``finished`` is False when there was no time to make it minimal."""

    failure: Failure
    tape: _native.Tape
    finished: bool


class Refuted(msgspec.Struct, frozen=True):
    """A step that was suspected to hang does not take its whole limit."""


class TraceWritten(msgspec.Struct, frozen=True):
    """The trace of a run that reached new code."""

    trace: Trace


class NotInDatabase(msgspec.Struct, frozen=True):
    """Why plain pytest does not find one of the failures."""

    reason: str


class CheckFailed(msgspec.Struct, frozen=True):
    """Work ``where`` ended early: at a failed check of the core, or an error that ``is_from_outside``."""

    where: str
    reason: str
    is_from_outside: bool = False

    @property
    def text(self) -> str:
        """Return the note for the user."""
        if self.is_from_outside:
            return f"{self.where} stopped at {self.reason}: see what the rules replace or leave behind."
        return f"{self.where} stopped at a failed check of ordeal's own ({self.reason}): please report it."


Message = SeedBegun | SeedDone | Shrinking | FailureWritten | Refuted | TraceWritten | NotInDatabase | CheckFailed


# -- failures and findings as bytes -----------------------------------------------------------------------------------

#: The fields of a failure except its exception and its trace, which are sent by name.
_PLAIN_FIELDS = [name for name in Failure.__struct_fields__ if name not in ("error", "trace")]
_HINTS = get_type_hints(Failure, localns={"Trace": object})
_PlainFields = msgspec.defstruct(
    "_PlainFields", [(name, _HINTS[name]) for name in _PLAIN_FIELDS], kw_only=True, forbid_unknown_fields=True
)


class _SentFailure(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A failure without the exception itself. ``swarm`` is the configuration of its run."""

    error_type: str
    error_message: str
    trace: bytes | None
    swarm: dict[str, Any]
    fields: _PlainFields  # type: ignore[valid-type]


def pack_failure(failure: Failure) -> bytes:
    """Encode a failure, with its exception as the name of its type and its message."""
    sent = _SentFailure(
        error_type=type_name(type(failure.error)),
        error_message=error_message(failure.error),
        trace=None if failure.trace is None else failure.trace.to_json(),
        swarm=next((step.params for step in _swarm_steps(failure.trace)), {}),
        fields=_PlainFields(**{name: getattr(failure, name) for name in _PLAIN_FIELDS}),
    )
    return pack(_writable(msgspec.to_builtins(sent)))


def unpack_failure(data: Value) -> Failure:
    """Decode what ``pack_failure`` returned. Raises ChannelError for any other bytes."""
    sent = unpack(data, _SentFailure)
    trace = None if sent.trace is None else Trace.from_json(sent.trace)
    for step in _swarm_steps(trace):
        step.params = sent.swarm  # parameters read from a record are text
    error = remote_error(sent.error_type, sent.error_message)
    return Failure(error=error, trace=trace, **msgspec.structs.asdict(sent.fields))


def _swarm_steps(trace: Trace | None) -> list[TraceStep]:
    return [] if trace is None else [step for step in trace.steps if step.kind == "rule_swarm"]


def _writable(value: Any) -> Any:
    """Return ``value``, made of plain values, with texts that any file can hold."""
    if isinstance(value, str):
        return writable_text(value)
    if isinstance(value, dict):
        return {_writable(key): _writable(each) for key, each in value.items()}
    return [_writable(each) for each in value] if isinstance(value, list) else value


def pack(record: object) -> bytes:
    """Encode ``record``, a struct or made of plain values."""
    return msgspec.json.encode(record)


def unpack[Kind](data: Value, kind: type[Kind]) -> Kind:
    """Decode what ``pack`` returned.

    Raises:
        ChannelError: these are no such bytes.
    """
    try:
        if isinstance(data, bytes):
            return msgspec.json.decode(data, type=kind)
    except (ValueError, RecursionError) as error:
        raise ChannelError(f"a record of another process is damaged: {error}") from error
    raise ChannelError(f"a record of another process is a {type(data).__name__}")


def pack_tape(tape: _native.Tape, names: _native.MachineNames) -> bytes:
    """Encode a tape, by names."""
    return _native.encode_entries(names, [_native.SharedEntry(tape)])


def unpack_tape(data: Value, names: _native.MachineNames) -> _native.Tape:
    """Decode what ``pack_tape`` returned.

    Raises:
        ChannelError, ValueError: these are no such bytes.
    """
    if not isinstance(data, bytes):
        raise ChannelError(f"a tape of another process is a {type(data).__name__}")
    (entry,) = _native.decode_entries(data, names)[0]
    return entry.tape


def saved_finding(finding: Finding) -> SavedFinding:
    """Return ``finding`` without its tape; its error by names."""
    return SavedFinding(
        bucket=writable_text(finding.bucket),
        origin=finding.origin,
        error_type=type_name(type(finding.error)),
        error_message=writable_text(error_message(finding.error)),
        traceback=writable_text(finding.error_traceback or traceback_text(finding.error)),
        count=finding.count,
        flaky=finding.flaky,
        outside=finding.outside,
    )


def finding_of(saved: SavedFinding, tape: _native.Tape) -> Finding:
    """Rebuild what ``saved_finding`` returned, with its tape."""
    error = remote_error(saved.error_type, saved.error_message)
    finding = Finding(saved.bucket, tape, saved.origin, error, saved.count, saved.flaky)
    finding.error_traceback = saved.traceback
    finding.outside = saved.outside
    return finding


def pack_finding(finding: Finding, names: _native.MachineNames) -> tuple[bytes, bytes]:
    """Encode a finding: its record, and its tape."""
    return pack(saved_finding(finding)), pack_tape(finding.tape, names)


def unpack_finding(record: Value, tape: Value, names: _native.MachineNames) -> Finding:
    """Decode what ``pack_finding`` returned.

    Raises:
        ChannelError, ValueError: these are no such bytes.
    """
    return finding_of(unpack(record, SavedFinding), unpack_tape(tape, names))


# -- messages as plain values -----------------------------------------------------------------------------------------


def pack_message(message: Message, names: _native.MachineNames) -> tuple[Value, ...]:
    """Encode a message as values for a channel, its kind first."""
    match message:
        case SeedBegun(path):
            return ("seed begun", path)
        case SeedDone(path, outcome, findings):
            packed = [value for finding in findings for value in pack_finding(finding, names)]
            return ("seed replayed", path, pack(outcome), *packed)
        case Shrinking(before, steps, candidates, waits):
            return ("shrinking", before, steps, candidates, waits)
        case FailureWritten(failure, tape, finished):
            return ("failure", pack_failure(failure), pack_tape(tape, names), finished)
        case Refuted():
            return ("refuted",)
        case TraceWritten(trace):
            return ("trace", trace.to_json())
        case NotInDatabase(reason):
            return ("not in database", reason)
        case CheckFailed(where, reason, is_from_outside):
            return ("check failed", where, reason, is_from_outside)


def unpack_message(values: Sequence[Value], names: _native.MachineNames) -> Message:
    """Decode what ``pack_message`` returned.

    Raises:
        ChannelError, ValueError, OrdealError: these are no such values.
    """
    match values:
        case ["seed begun", str(path)]:
            return SeedBegun(path)
        case ["seed replayed", str(path), outcome, *packed] if len(packed) % 2 == 0:
            pairs = zip(packed[::2], packed[1::2], strict=True)
            findings = tuple(unpack_finding(record, tape, names) for record, tape in pairs)
            return SeedDone(path, unpack(outcome, SeedOutcome), findings)
        case ["shrinking", int(before), int(steps), int(candidates), float(waits)]:
            return Shrinking(before, steps, candidates, waits)
        case ["failure", failure, tape, bool(finished)]:
            return FailureWritten(unpack_failure(failure), unpack_tape(tape, names), finished)
        case ["refuted"]:
            return Refuted()
        case ["trace", bytes(record)]:
            return TraceWritten(Trace.from_json(record))
        case ["not in database", str(reason)]:
            return NotInDatabase(reason)
        case ["check failed", str(where), str(reason), bool(is_from_outside)]:
            return CheckFailed(where, reason, is_from_outside)
    raise ChannelError(f"{values[:1]} begins no message of triage")
