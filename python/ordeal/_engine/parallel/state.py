"""The saved state of an exploration with workers: the file has one part for each worker."""

from __future__ import annotations

import functools
from collections.abc import Callable

import msgspec
import msgspec.structs

import ordeal._native as _native
from ordeal._base.formatting import counted
from ordeal._engine.execution.settings import Settings
from ordeal._engine.isolation.channel import ChannelError
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.parallel.merged import MergedProgress
from ordeal._engine.parallel.messages import EarlierProcesses
from ordeal._engine.search.state import (
    check_same_exploration,
    check_what_applies,
    dropped_text,
    save_parts,
    session_seed,
)
from ordeal._engine.storage.state_file import (
    check_writable,
    damaged,
    join_part,
    read_state,
    split_part,
)
from ordeal._engine.triage.messages import pack


class ParallelState:
    """Reads the parts of a resumed exploration, keeps the newest part of each worker, and writes them.

    Attributes:
        parts: the last part from each worker; empty bytes before the first.
        seeds: the seeds of the sessions that the workers resume, if any.
        entries: the shared entries of a state that another number of workers saved.
        seconds: how long the exploration took before.
    """

    def __init__(self, settings: Settings, merged: MergedProgress, folder: WorkingFolder, workers: int) -> None:
        self.parts = [b""] * workers
        self.seeds: list[int | None] = [None] * workers
        self.entries: list[_native.SharedEntry] = []
        self.seconds = 0.0
        self._settings = settings
        self._merged = merged
        self._folder = folder

    @property
    def is_wanted(self) -> bool:
        """Whether the state is to be saved."""
        return self._settings.save_state_to is not None

    def resume(self) -> None:
        """Read the state to resume, if that was asked for. Another number of workers shares the entries.

        Raises:
            StateError: it cannot be read, or the path to save it to cannot be written.
        """
        if self._settings.save_state_to is not None:
            check_writable(self._settings.save_state_to)
        path = self._settings.resume_from
        if path is None:
            return
        parts = read_state(path)
        same = len(parts) == len(self.parts)
        for number, (header, engine) in enumerate(parts):
            check_same_exploration(path, header, self._settings)
            try:
                earlier = msgspec.json.decode(header.past, type=EarlierProcesses | None) or EarlierProcesses()
                loaded = _native.decode_state(engine, self._merged.names)
                if not same:
                    check_what_applies(path, loaded)
                    if loaded.tapes_dropped:
                        self._merged.note(dropped_text(loaded))
                    self._merged.add_part(header, loaded)
                    self._merged.add_resumed(earlier)
                    self.entries += loaded.entries()
                else:
                    self._merged.add_findings(header, loaded)
                    self._merged.add_earlier(number, earlier)
                    self.parts[number] = join_part(header, engine)
                    self.seeds[number] = session_seed(header)
            except (ValueError, TypeError, OverflowError, ChannelError) as error:
                raise damaged(path, error) from error
            self.seconds = max(self.seconds, header.seconds)
        if not same:
            self._merged.note(
                f"The resumed state was saved by {counted(len(parts), 'worker')}; {len(self.parts)} now share it."
            )

    def keep(self, worker: int, part: bytes) -> None:
        """Keep the newest part of ``worker``; once all workers have one, save the state."""
        self.parts[worker] = part
        if all(self.parts):
            self.save()

    def save(self) -> None:
        """Write the state, if that was asked for. A failure to write becomes a note."""
        path = self._settings.save_state_to
        if path is None:
            return
        parts = []
        for worker, part in enumerate(self.parts):
            earlier = self._merged.earlier_to_save(worker)
            if part and earlier != EarlierProcesses():
                header, engine = split_part(part)
                parts.append(join_part(msgspec.structs.replace(header, past=msgspec.Raw(pack(earlier))), engine))
            elif part:
                parts.append(part)
        self._folder.restore()
        save_parts(path, parts, self._merged.notes)

    def save_again(self) -> None:
        """Write the state again if it was written and has been deleted."""
        path = self._settings.save_state_to
        if path is not None and not path.exists():
            self.save()

    def take_in(self, number_of: Callable[[int, int], int]) -> None:
        """Merge the parts. ``number_of`` maps a worker and one of its runs to the number among all runs."""
        for worker, part in enumerate(self.parts):
            if not part:
                continue
            try:
                header, engine = split_part(part)
                loaded = _native.decode_state(engine, self._merged.names)
                self._merged.add_part(header, loaded, number_of=functools.partial(number_of, worker))
            except (ValueError, TypeError, OverflowError, ChannelError) as error:
                self._merged.note(f"The last state of a worker could not be read: {error}.")
