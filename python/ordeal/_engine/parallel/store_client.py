"""Shares with other process trees and machines: a child process talks to the store, so that nothing else waits."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from time import sleep

import msgspec

import ordeal._native as _native
from ordeal._base.formatting import counted
from ordeal._base.limits import ANSWER_SECONDS, GRACE_SECONDS, LOOK_SECONDS, MEBIBYTE
from ordeal._base.regular_file import read_whole
from ordeal._engine.coverage.targets import Target, digest_targets
from ordeal._engine.isolation.channel import Channel, ChannelError, Value
from ordeal._engine.isolation.child import Child, Job, Limits
from ordeal._engine.parallel.merged import MergedProgress
from ordeal._engine.parallel.messages import ERROR, WorkerError
from ordeal._engine.triage.messages import pack, unpack
from ordeal._native import monotonic
from ordeal.errors import OrdealError, StoreError
from ordeal.store import Entry, FailureReport, Incoming, Outgoing, open_store


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """The store that an exploration shares through."""

    url: str
    namespace: str


#: Packages identified by their versions.
_LIBRARIES = ("builtins", "hypothesis", "ordeal")


def namespace_of(test_class: type, targets: Iterable[Target], *, instrumentation: str) -> str:
    """Return a text that is the same wherever the same code is explored, and differs if anything in it differs.

    It contains the name of the class, the versions of ordeal and Python, the mode of the instrumentation, and a digest
    of the source: of the targets, and of each file that defines the class or its bases.
    """
    digest = hashlib.blake2b(digest_size=16)
    lines = sorted(digest_targets(targets).items())
    for cls in test_class.__mro__:
        if cls.__module__.partition(".")[0] not in _LIBRARIES:
            source = ""  # of a class without a file, such as an interactively defined one
            with suppress(OSError, TypeError):
                path = inspect.getsourcefile(cls)
                source = "" if path is None else hashlib.sha256(read_whole(path)).hexdigest()
            lines.append((f"{cls.__module__}:{cls.__qualname__}", source))
    for name, source in lines:
        # Names contain no zeros, and digests have a fixed length.
        digest.update(f"{name}\0{source}\0".encode())
    python = ".".join(map(str, sys.version_info[:2]))
    name = f"{test_class.__module__}:{test_class.__qualname__}"
    return f"{name} ordeal {_native.__version__} Python {python} {instrumentation} {digest.hexdigest()}"


def digest_of(namespace: str) -> str:
    """Return a short text that is the same for the same namespace, to be shown."""
    return hashlib.blake2b(namespace.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


#: How often the store is synchronised, in seconds, and how often all members together do so in a second.
SYNC_SECONDS = 1.0
SYNCS_PER_SECOND = 200.0
#: How many entries of others are taken at a time, and at first, before the search begins. Each costs every worker a
#: run, and so does at most this share of all runs.
ENTRIES_MAX = 64
FIRST_ENTRIES_MAX = 1024
IMPORTED_SHARE = 0.05

_JOINED, _SYNC, _LAST, _UPDATE = "joined", "sync", "last", "news"


class _StoreRequest(msgspec.Struct):
    """What is to be published, and how many entries of others are taken at most."""

    outgoing: Outgoing
    imported: int


_encode = msgspec.msgpack.encode


def _decode[Kind](data: Value, kind: type[Kind]) -> Kind:
    try:
        if isinstance(data, bytes):
            return msgspec.msgpack.decode(data, type=kind)
    except ValueError as error:
        raise ChannelError(f"what the process of the store sent is damaged: {error}") from error
    raise ChannelError(f"the process of the store sent a {type(data).__name__}")


class StoreClient:
    """One member of a store. Owned by the supervisor, which waits for it only to join and to leave.

    Attributes:
        member: its number in the store.
    """

    def __init__(self, store_options: StoreOptions, merged: MergedProgress, *, workers: int = 1) -> None:
        """``workers`` is how many processes run each entry of others."""
        self._merged = merged
        self._child = Child(_client_job(store_options), Limits())
        self._due = 0.0
        self._is_first = True
        self._members = 1
        self._budget = ImportBudget(workers)
        self._waits = False
        self._entries: list[Entry] = []
        self._edges: set[int] = set()
        self._failures: dict[str, FailureReport] = {}
        self._traces: dict[str, bytes] = {}
        self._shrunk: dict[str, bool] = {}
        self._paused = ""
        self.member = -1
        try:
            self._wait(lambda: self.member >= 0, GRACE_SECONDS)
            if self.member < 0:
                raise StoreError("the store did not answer", hint="check that this computer can reach it")
        except BaseException:
            self.close()
            raise

    # -- what is found here -------------------------------------------------------------------------------------------

    def add(self, edges: Iterable[int], entries: bytes) -> None:
        """Queue new edges and entries of a worker for sending."""
        if self._child.has_ended():
            return  # it was lost
        self._edges.update(edges)
        for entry in _native.decode_entries(entries, self._merged.names)[0]:
            tape = _native.encode_entries(self._merged.names, [entry])
            self._entries.append(Entry(tape, tuple(entry.edges)))

    def add_failure(self, bucket: str, trace: bytes, steps: int, count: int, *, shrunk: bool) -> None:
        """Queue a failure for sending; call it again when more is known about it."""
        self._failures[bucket] = FailureReport(bucket, trace, steps, count, shrunk)

    # -- the exchange -------------------------------------------------------------------------------------------------

    def exchange(self) -> list[tuple[list[int], bytes]]:
        """Send what is new when it is due; return the edges and entries of others that arrived meanwhile."""
        updates = self._received()
        if not self._waits and monotonic() >= self._due and not self._child.has_ended():
            self._send_updates()
        return updates

    def listen(self) -> list[tuple[list[int], bytes]]:
        """Receive what others have found so far, before the search begins."""
        return self.exchange() + self._wait(lambda: not self._waits, ANSWER_SECONDS)

    def trace(self, bucket: str) -> bytes | None:
        """Return the shortest trace of ``bucket`` that others sent, as unchecked JSON, if they sent one."""
        return self._traces.get(bucket)

    def is_shrunk(self, bucket: str) -> bool:
        """Return True if others have said of their trace of ``bucket`` that it is shrunk."""
        return self._shrunk.get(bucket, False)

    def leave(self) -> None:
        """Send what is left, and end."""
        self._wait(lambda: not self._waits, ANSWER_SECONDS)
        if not self._waits and not self._child.has_ended():
            self._send_updates(_LAST)
            self._wait(self._child.has_ended, GRACE_SECONDS)
        self.close()

    def close(self) -> None:
        """End the process."""
        self._child.close()

    def _send_updates(self, kind: str = _SYNC) -> None:
        outgoing = Outgoing(tuple(self._entries), frozenset(self._edges), tuple(self._failures.values()))
        self._entries, self._edges, self._failures = [], set(), {}
        imported = FIRST_ENTRIES_MAX if self._is_first else self._budget.spend(self._merged.tally().runs)
        self._waits = True
        try:
            self._child.channel.send(kind, _encode(_StoreRequest(outgoing, imported)))
        except ChannelError:
            self._merged.note("The process that shares with the store was lost: nothing more was shared.")
            self._waits = False
        self._due = monotonic() + sync_seconds(self._members)
        self._is_first = False

    def _wait(self, is_over: Callable[[], bool], seconds: float) -> list[tuple[list[int], bytes]]:
        """Receive until something holds, the process has ended, or the time is over; return what others have found."""
        deadline, updates = monotonic() + seconds, []
        while True:
            has_ended = self._child.has_ended()
            updates += self._received()
            if is_over() or has_ended or monotonic() >= deadline:
                return updates
            sleep(0.005)

    def _received(self) -> list[tuple[list[int], bytes]]:
        """Take the messages that have arrived; return the edges and entries of others in them."""
        updates = []
        for kind, value in self._child.messages():
            if kind == _UPDATE:
                updates.append(self._take(_decode(value, Incoming)))
            elif kind == ERROR:
                broken = unpack(value, WorkerError)
                raise StoreError(broken.message, hint=broken.hint or None)
            elif kind == _JOINED and isinstance(value, int):
                self.member = value
        return updates

    def _take(self, incoming: Incoming) -> tuple[list[int], bytes]:
        self._waits = False
        self._members = incoming.members
        for report in incoming.failures:
            self._traces[report.bucket], self._shrunk[report.bucket] = report.trace, report.shrunk
        if incoming.refused:
            refused = counted(incoming.refused, "record")
            self._merged.note(f"{refused} of the store could not be read: {incoming.refusal}.")
        if incoming.paused and not self._paused:
            self._merged.note(f"The store was away for a while: {incoming.paused}.")
        self._paused = incoming.paused
        loaded: list[_native.SharedEntry] = []
        for entry in incoming.entries:
            try:
                loaded += _native.decode_entries(entry.tape, self._merged.names)[0]
            except _native.CoreError as error:
                self._merged.note(f"An entry of the store was refused: {error}.")
        return sorted(incoming.edges), _native.encode_entries(self._merged.names, loaded) if loaded else b""


def _client_job(store_options: StoreOptions) -> Job:
    """Return the job of the process that talks to the store."""

    def job(channel: Channel, journal: _native.Journal) -> None:
        del journal
        channel.set_timeout(None)
        try:
            store = open_store(store_options.url, store_options.namespace)
        except OrdealError as error:
            channel.send(ERROR, pack(WorkerError.of(error)))
            return
        channel.send(_JOINED, store.number)
        with store:
            while True:
                kind, value = channel.receive()
                request = _decode(value, _StoreRequest)
                incoming = store.sync(request.outgoing, max_entries=request.imported)
                failures = [each for each in incoming.failures if 0 < len(each.trace) <= MEBIBYTE]
                channel.send(_UPDATE, _encode(replace(incoming, failures=tuple(failures[:64]))))
                if kind == _LAST:
                    while store.trouble:
                        sleep(LOOK_SECONDS)
                        store.sync(Outgoing(), max_entries=0)
                    return

    return job


def sync_seconds(members: int) -> float:
    """Return how long a member waits after an exchange: all together ask the store only so often in a second."""
    return min(max(SYNC_SECONDS, members / SYNCS_PER_SECOND), 30.0)


class ImportBudget:
    """How many entries of others may be run, as a share of the runs so far."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._runs = 0
        self._left = 0.0

    def spend(self, runs: int) -> int:
        """Return how many may be taken after this number of runs by all workers together."""
        self._left = min(ENTRIES_MAX, self._left + IMPORTED_SHARE * max(0, runs - self._runs) / self._workers)
        self._runs = runs
        taken = int(self._left)
        self._left -= taken
        return taken
