"""The messages between a worker and the supervisor: plain values, checked on arrival."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Annotated

import msgspec

from ordeal._engine.isolation.channel import ChannelError, Value
from ordeal._engine.search.result_builder import SearchReport
from ordeal.errors import OrdealError
from ordeal.result import StoppedReason

#: How a message begins. From a worker: an update, a new finding, all that it knows, what it uses outside, a
#: warning, its end, an error that ends the exploration, and one after which another process replaces it.
UPDATE, FOUND, PART, USES, WARNED = "news", "found", "part", "uses", "warned"
DONE, ERROR, FAILED = "done", "error", "failed"
#: From the supervisor: updates of others.
FROM_OTHERS = "given"


class EarlierProcesses(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The processes of a worker that ended in the middle of their work: how many, and their counts.

    ``resumed`` counts the work of another number of workers before the exploration was resumed, and ``unreported`` are
    the edges seen only by processes that ended before they reported how to reach them.
    """

    processes: Annotated[int, msgspec.Meta(ge=0)] = 0
    report: SearchReport = msgspec.field(default_factory=SearchReport)
    resumed: SearchReport | None = msgspec.field(default=None, name="given")
    unreported: list[int] = msgspec.field(default_factory=list, name="untold")

    @property
    def runs(self) -> int:
        """Return the number of runs that are finished for the worker."""
        return max(0, self.report.tally.get("runs", 0))


class WorkerEnd(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Why a worker has no more runs to make, and what it ran when the time was over."""

    reason: StoppedReason
    place: str = ""


class WorkerError(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """An error that ends the whole exploration: its type by name, its message, and its hint."""

    kind: str
    message: str
    hint: str = ""

    @classmethod
    def of(cls, error: OrdealError) -> WorkerError:
        """Return what is sent of an error."""
        return cls(kind=type(error).__name__, message=error.message, hint=error.hint or "")


def pack_keys(keys: Iterable[int]) -> bytes:
    """Return the keys of edges as bytes."""
    return array("Q", keys).tobytes()


def unpack_keys(data: Value) -> list[int]:
    """Decode what ``pack_keys`` returned. Raises ChannelError for any other bytes."""
    if not isinstance(data, bytes) or len(data) % 8:
        raise ChannelError("keys of edges of another process are damaged")
    keys = array("Q")
    keys.frombytes(data)
    return keys.tolist()
