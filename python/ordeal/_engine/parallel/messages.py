"""What a worker tells the supervisor, as plain values that are checked where they arrive."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Annotated, Any

import msgspec

from ordeal import _native
from ordeal._engine.formatting import error_message
from ordeal._engine.isolation.channel import ChannelError, Value
from ordeal._engine.storage.state_file import SavedFinding
from ordeal._engine.storage.trace_file import Trace, TraceStep
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.records import FindingRecords, error_of_elsewhere, writable_text
from ordeal.result import Failure, SnapshotKind, StoppedReason

#: What a message begins with. From a worker: what it has to give, a new finding, what it knows, its end, and an error
#: that ends all.
NEWS, FOUND, PART, DONE, ERROR = "news", "found", "part", "done", "error"
#: From the supervisor: what others have to give.
GIVEN = "given"
#: From the other processes: one of the things that they were made for, or a sign of life.
ITEM, TICK = "item", "tick"


class Report(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """How far a worker has come since it began. ``counts`` tells for each bucket how many runs failed in it."""

    tally: dict[str, int]
    notes: list[str]
    snapshot_kind: SnapshotKind
    checkpoints: int
    checkpoints_saved: int
    swarm: dict[str, int]
    run_kinds: dict[str, dict[str, int]]
    counts: dict[str, int]
    properties: dict[str, list[dict[str, str | int | float | bool | None]]]
    lines: dict[str, list[int]]
    discovery: tuple[int, int, float, float, float] | None


def nothing_told() -> Report:
    """Of a process that has told nothing."""
    return Report(
        tally={},
        notes=[],
        snapshot_kind="copy",
        checkpoints=0,
        checkpoints_saved=0,
        swarm={},
        run_kinds={},
        counts={},
        properties={},
        lines={},
        discovery=None,
    )


class Past(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The processes of a worker that have ended in the middle of their work: how many, and what they counted.

    ``given`` is what workers of another number had counted, when they were resumed, and ``untold`` the edges that only
    processes saw which ended before they told how they came there.
    """

    processes: Annotated[int, msgspec.Meta(ge=0)] = 0
    report: Report = msgspec.field(default_factory=nothing_told)
    given: Report | None = None
    untold: list[int] = []

    @property
    def runs(self) -> int:
        """Those that are over for the worker."""
        return max(0, self.report.tally.get("runs", 0))


class Ended(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Why a worker has no more runs to make."""

    reason: StoppedReason


class Broken(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """An error that ends the whole exploration: its type by name, its text, and what to do about it."""

    kind: str
    message: str
    hint: str = ""


class SentFailure(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A failure as the user gets it, without the exception itself. ``swarm`` is the configuration of its run."""

    error_type: str
    error_message: str
    step: int
    run_id: int
    active_faults: list[str]
    rule_log: list[str]
    trace: dict[str, Any] | None
    swarm: dict[str, Any]
    necessary_faults: dict[str, bool] | None
    error_traceback: str
    bucket: str
    count: int
    flaky: bool
    shrunk: bool
    program: str

    @classmethod
    def of(cls, failure: Failure) -> SentFailure:
        """What can be told of ``failure``."""
        return cls(
            error_type=type(failure.error).__name__,
            error_message=writable_text(error_message(failure.error)),
            step=failure.step,
            run_id=failure.run_id,
            active_faults=failure.active_faults,
            rule_log=failure.rule_log,
            trace=None if failure.trace is None else failure.trace.to_dict(),
            swarm=next((step.params for step in _swarm_steps(failure.trace)), {}),
            necessary_faults=failure.necessary_faults,
            error_traceback=writable_text(failure.error_traceback),
            bucket=writable_text(failure.bucket),
            count=failure.count,
            flaky=failure.flaky,
            shrunk=failure.shrunk,
            program=writable_text(failure.program),
        )

    def _trace(self) -> Trace | None:
        if self.trace is None:
            return None
        trace = Trace.from_dict(self.trace)
        for step in _swarm_steps(trace):
            step.params = self.swarm  # what is read from a record is text
        return trace

    def failure(self) -> Failure:
        """The failure that was told of."""
        return Failure(
            error=error_of_elsewhere(self.error_type, self.error_message),
            step=self.step,
            run_id=self.run_id,
            active_faults=self.active_faults,
            rule_log=self.rule_log,
            trace=self._trace(),
            necessary_faults=self.necessary_faults,
            error_traceback=self.error_traceback,
            bucket=self.bucket,
            count=self.count,
            flaky=self.flaky,
            shrunk=self.shrunk,
            program=self.program,
        )


def _swarm_steps(trace: Trace | None) -> list[TraceStep]:
    return [] if trace is None else [step for step in trace.steps if step.kind == "rule_swarm"]


def pack(record: object) -> bytes:
    """``record``, which is one of the above or made of plain values, as bytes."""
    return msgspec.json.encode(record)


def unpack[Kind](data: Value, kind: type[Kind]) -> Kind:
    """What ``pack`` wrote.

    Raises:
        ChannelError: it wrote no such thing.
    """
    try:
        if isinstance(data, bytes):
            return msgspec.json.decode(data, type=kind)
    except (ValueError, RecursionError) as error:
        raise ChannelError(f"a record of another process is damaged: {error}") from error
    raise ChannelError(f"a record of another process is a {type(data).__name__}")


def pack_keys(keys: Iterable[int]) -> bytes:
    """The keys of edges as bytes."""
    return array("Q", keys).tobytes()


def unpack_keys(data: Value) -> list[int]:
    """What ``pack_keys`` wrote. Raises ChannelError when it wrote no such thing."""
    if not isinstance(data, bytes) or len(data) % 8:
        raise ChannelError("keys of edges of another process are damaged")
    keys = array("Q")
    keys.frombytes(data)
    return keys.tolist()


def pack_tape(tape: _native.Tape, names: _native.MachineNames) -> bytes:
    """A tape as bytes, by names."""
    return _native.encode_finds(names, [_native.Find(tape)])


def unpack_tape(data: Value, names: _native.MachineNames) -> _native.Tape:
    """What ``pack_tape`` wrote.

    Raises:
        ChannelError, ValueError: it wrote no such thing.
    """
    if not isinstance(data, bytes):
        raise ChannelError(f"a tape of another process is a {type(data).__name__}")
    (find,) = _native.decode_finds(data, names)[0]
    return find.tape


def pack_finding(finding: Finding, names: _native.MachineNames) -> tuple[bytes, bytes]:
    """A finding as bytes: what it is, and its tape."""
    return pack(FindingRecords(names).saved_finding(finding)), pack_tape(finding.tape, names)


def unpack_finding(record: Value, tape: Value, names: _native.MachineNames) -> Finding:
    """What ``pack_finding`` wrote.

    Raises:
        ChannelError, ValueError: it wrote no such thing.
    """
    return FindingRecords(names).finding(unpack(record, SavedFinding), unpack_tape(tape, names))
