"""Compacts the store from a process of its own, while the search goes on."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import ordeal._native as _native
from ordeal._engine.isolation.channel import Channel
from ordeal._engine.isolation.child import Child, Job, Limits
from ordeal._native import monotonic
from ordeal.errors import OrdealError
from ordeal.store import open_store

#: How long this exploration waits after a compaction before it begins another one, in seconds.
PAUSE_SECONDS = 30.0
#: How much the process gives way to the search.
NICE = 10


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How an exploration joins a store. ``folder`` keeps what could not be sent while the store was away."""

    url: str
    namespace: str
    folder: Path


class BackgroundCompaction:
    """At most one process that compacts. Owned by one thread. Its end, however it comes, changes nothing else."""

    def __init__(self, options: StoreOptions) -> None:
        self._options = options
        self._child: Child | None = None
        self._due = 0.0

    @property
    def is_running(self) -> bool:
        """Whether a process compacts now."""
        return self._child is not None and not self._child.has_ended()

    def begin_if(self, is_due: bool) -> None:
        """Begin when it is due, unless that was tried a short while ago."""
        if self.is_running:
            return
        self.close()
        now = monotonic()
        if is_due and now >= self._due:
            self._due = now + PAUSE_SECONDS
            self._child = Child(_job(self._options), Limits())

    def close(self) -> None:
        """End the process. The next compaction makes what it had not finished."""
        if self._child is not None:
            self._child.close()
            self._child = None


def _job(options: StoreOptions) -> Job:
    def job(channel: Channel, journal: _native.Journal) -> None:
        del channel, journal
        os.nice(NICE)
        with suppress(OrdealError), open_store(options.url, options.namespace, folder=options.folder) as store:
            store.compact()

    return job


def spool_folder() -> Path:
    """Return the folder where unsent records wait for the user's next exploration."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "ordeal" / "store"
