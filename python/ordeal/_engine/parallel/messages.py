"""What a worker tells the supervisor, as plain values that are checked where they arrive."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Annotated

import msgspec

from ordeal._engine.isolation.channel import ChannelError, Value
from ordeal.result import SnapshotKind, StoppedReason

#: What a message begins with. From a worker: what it has to give, a new finding, what it knows, its end, an error that
#: ends all, and one after which another worker takes its place.
UPDATE, FOUND, PART, DONE, ERROR, FAILED = "news", "found", "part", "done", "error", "failed"
#: From the supervisor: what others have to give.
FROM_OTHERS = "given"


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
    faults: dict[str, list[int]] = {}


def empty_report() -> Report:
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


class EarlierProcesses(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The processes of a worker that have ended in the middle of their work: how many, and what they counted.

    ``resumed`` is what workers of another number had counted before the exploration was resumed, and ``unreported`` the
    edges that only processes saw which ended before they reported the way there.
    """

    processes: Annotated[int, msgspec.Meta(ge=0)] = 0
    report: Report = msgspec.field(default_factory=empty_report)
    resumed: Report | None = msgspec.field(default=None, name="given")
    unreported: list[int] = msgspec.field(default_factory=list, name="untold")

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
