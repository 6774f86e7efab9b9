"""Shares with other process trees and machines: a child process talks to the store, so that nothing else waits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import sleep

from ordeal import _native
from ordeal._engine.execution.bucket import whole_bucket
from ordeal._engine.isolation.channel import Channel, ChannelError, Value
from ordeal._engine.isolation.child import Child, Job, Limits
from ordeal._engine.parallel.merged import MergedProgress
from ordeal._engine.parallel.messages import ERROR, Broken, pack_keys, unpack_keys
from ordeal._engine.triage.messages import pack, unpack
from ordeal._native import monotonic
from ordeal.errors import OrdealError, StoreError
from ordeal.store import Entry, FailureReport, Incoming, Outgoing, open_store

#: How often the store is synchronised, in seconds.
SYNC_SECONDS = 1.0
#: How many entries of others are taken at a time: each costs a run.
ENTRIES_MAX = 64
#: Time limits for joining and for the last exchange: a slow store must not delay the result.
JOIN_SECONDS_MAX = 30.0
LEAVE_SECONDS_MAX = 5.0
#: How many traces of others are received at a time, and how many bytes each may have.
TRACES_MAX = 64
TRACE_BYTES_MAX = 2**20
#: How long a member holds the lease of a bucket.
LEASE_SECONDS = 120.0

_JOINED, _SYNC, _UPDATE, _LEASE, _ANSWER = "joined", "sync", "news", "lease", "answer"


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How an exploration joins a store. ``folder`` keeps what could not be sent while the store was away."""

    url: str
    namespace: str
    folder: Path


class StoreClient:
    """One member of a store. Owned by the supervisor, which waits for it only to join and to leave.

    Attributes:
        member: its number in the store.
    """

    def __init__(self, store_options: StoreOptions, merged: MergedProgress) -> None:
        self._merged = merged
        self._child = Child(_client_job(store_options), Limits())
        self._due = 0.0
        self._waits = False
        self._entries: list[tuple[bytes, list[int]]] = []
        self._edges: set[int] = set()
        self._failures: dict[str, FailureReport] = {}
        self._leases: list[bool] = []
        self._traces: dict[str, bytes] = {}
        self._paused = ""
        try:
            self.member = self._joined()
        except BaseException:
            self.close()
            raise

    def fileno(self) -> int:
        """Return a descriptor that is readable when others have something new."""
        return self._child.channel.fileno()

    def _joined(self) -> int:
        deadline = monotonic() + JOIN_SECONDS_MAX
        while monotonic() < deadline:
            for kind, value, *rest in self._child.messages():
                if kind == ERROR:
                    broken = unpack(value, Broken)
                    raise StoreError(broken.message, hint=broken.hint or None)
                if kind == _JOINED and isinstance(value, int):
                    if any(rest):
                        self._merged.note(f"The store is read and not written: {', '.join(map(str, rest))}.")
                    return value
            if self._child.has_ended():
                break
            sleep(0.005)
        raise StoreError("the store did not answer", hint="see that this machine can reach it")

    # -- what is found here -------------------------------------------------------------------------------------------

    def add(self, edges: Iterable[int], entries: bytes) -> None:
        """Queue new edges and entries of a worker for sending."""
        if self._child.has_ended():
            return  # the store is read-only
        self._edges.update(edges)
        for entry in _native.decode_entries(entries, self._merged.names)[0]:
            self._entries.append((_native.encode_entries(self._merged.names, [entry]), entry.edges))

    def add_failure(self, report: FailureReport) -> None:
        """Queue a failure for sending; call it again when more is known about it."""
        self._failures[report.bucket] = report

    # -- the exchange -------------------------------------------------------------------------------------------------

    def exchange(self) -> list[tuple[list[int], bytes]]:
        """Send what is new when it is due; return the edges and entries of others that arrived meanwhile."""
        updates = [update for message in self._child.messages() if (update := self._receive(message)) is not None]
        if not self._waits and monotonic() >= self._due and not self._child.has_ended():
            self._send_updates()
        return updates

    def listen(self) -> list[tuple[list[int], bytes]]:
        """Receive what others have found so far, before the search begins."""
        deadline = monotonic() + LEAVE_SECONDS_MAX
        updates = self.exchange()
        while self._waits and monotonic() < deadline and not self._child.has_ended():
            sleep(0.005)
            updates += [update for message in self._child.messages() if (update := self._receive(message)) is not None]
        return updates

    def lease(self, bucket: str) -> bool:
        """Return whether this member may shrink ``bucket``; also true when the store does not answer."""
        if not self._send(_LEASE, bucket):
            return True
        deadline = monotonic() + LEAVE_SECONDS_MAX
        while monotonic() < deadline and not self._child.has_ended():
            for message in self._child.messages():
                self._receive(message)
            if self._leases:
                return self._leases.pop()
            sleep(0.005)
        return True

    def traces(self, bucket: str) -> list[bytes]:
        """Return the shortest traces of ``bucket`` that others sent, as unchecked JSON: one of each failure in it."""
        return [self._traces[name] for name in sorted(self._traces) if whole_bucket(name) == bucket]

    def leave(self) -> None:
        """Send what is left, and end."""
        deadline = monotonic() + LEAVE_SECONDS_MAX
        self._due = 0.0
        sent = False
        while monotonic() < deadline and not self._child.has_ended() and not (sent and not self._waits):
            for message in self._child.messages():
                self._receive(message)
            if not self._waits and not sent:
                sent = True
                self._send_updates()
            sleep(0.005)
        self.close()

    def close(self) -> None:
        """End the process."""
        self._child.close()

    def _send_updates(self) -> None:
        entries, self._entries = self._entries, []
        edges, self._edges = self._edges, set()
        failures, self._failures = list(self._failures.values()), {}
        parts: list[Value] = [len(entries), len(failures), pack_keys(sorted(edges))]
        for tape, keys in entries:
            parts += (tape, pack_keys(keys))
        for report in failures:
            parts += (report.bucket, report.trace, report.steps, report.count)
        self._waits = self._send(_SYNC, *parts)
        self._due = monotonic() + SYNC_SECONDS

    def _send(self, *values: Value) -> bool:
        try:
            self._child.channel.send(*values)
        except ChannelError:
            self._merged.note("The process that shares with the store was lost: nothing more was shared.")
            return False
        return True

    def _receive(self, message: Sequence[Value]) -> tuple[list[int], bytes] | None:
        kind, *values = message
        if kind == _ANSWER:
            self._leases.append(bool(values[0]))
            return None
        if kind != _UPDATE:
            return None
        self._waits = False
        edges, refused, refusal, paused, trace_count, *rest = values
        if not isinstance(trace_count, int) or not 0 <= 2 * trace_count <= len(rest):
            raise ChannelError(f"{trace_count!r} is not the number of traces")
        traces, tapes = rest[: 2 * trace_count], rest[2 * trace_count :]
        for bucket, trace in zip(traces[::2], traces[1::2], strict=True):
            if isinstance(trace, bytes):
                self._traces[str(bucket)] = trace
        if refused:
            self._merged.note(f"{refused!r} records of the store were refused: {refusal!r}.")
        self._note_pause(str(paused))
        loaded: list[_native.SharedEntry] = []
        for tape in tapes:
            try:
                loaded += _native.decode_entries(tape if isinstance(tape, bytes) else b"", self._merged.names)[0]
            except _native.CoreError as error:
                self._merged.note(f"An entry of the store was refused: {error}.")
        return unpack_keys(edges), _native.encode_entries(self._merged.names, loaded) if loaded else b""

    def _note_pause(self, paused: str) -> None:
        if paused and not self._paused:
            self._merged.note(f"The store was away for a while: {paused}.")
        self._paused = paused


def _client_job(store_options: StoreOptions) -> Job:
    """Return the job of the process that talks to the store."""

    def job(channel: Channel, journal: _native.Journal) -> None:
        del journal
        channel.set_timeout(None)
        try:
            store = open_store(store_options.url, store_options.namespace, folder=store_options.folder)
            channel.send(_JOINED, store.join(), store.read_only)
        except OrdealError as error:
            channel.send(ERROR, pack(Broken(kind=type(error).__name__, message=error.message, hint=error.hint or "")))
            return
        with store:
            while True:
                kind, *values = channel.receive()
                if kind == _LEASE:
                    channel.send(_ANSWER, store.lease(str(values[0]), LEASE_SECONDS))
                elif kind == _SYNC:
                    _answer(channel, store.sync(_outgoing(values), max_entries=ENTRIES_MAX))

    return job


def _outgoing(values: Sequence[Value]) -> Outgoing:
    entry_count, failure_count, edges, *parts = values
    assert isinstance(entry_count, int)
    assert isinstance(failure_count, int)
    entries = [
        Entry(parts[2 * number], tuple(unpack_keys(parts[2 * number + 1])))  # type: ignore[arg-type]
        for number in range(entry_count)
    ]
    rest = parts[2 * entry_count :]
    failures = [FailureReport(*rest[4 * number : 4 * number + 4]) for number in range(failure_count)]  # type: ignore[arg-type]
    return Outgoing(tuple(entries), frozenset(unpack_keys(edges)), tuple(failures))


def _answer(channel: Channel, incoming: Incoming) -> None:
    tapes = (entry.tape for entry in incoming.entries)
    with_traces = [each for each in incoming.failures if 0 < len(each.trace) <= TRACE_BYTES_MAX][:TRACES_MAX]
    traces = [value for each in with_traces for value in (each.bucket, each.trace)]
    facts = (incoming.refused, incoming.refusal, incoming.paused)
    channel.send(_UPDATE, pack_keys(incoming.edges), *facts, len(with_traces), *traces, *tapes)


def spool_folder() -> Path:
    """Return the folder where unsent records wait for the user's next exploration."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "ordeal" / "store"
