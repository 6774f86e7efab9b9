"""The seed corpus: failing traces kept as files and replayed, so that no failure returns unnoticed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from ordeal._base.formatting import describe_error
from ordeal._base.trace_file import Trace
from ordeal._engine.execution.class_path import load_class, trust_settings
from ordeal._engine.execution.machine import MachineFactory
from ordeal._engine.isolation.working_folder import present_folder
from ordeal._engine.replay.rerun import ReplayStatus, Rerun, rerun
from ordeal._engine.seed_corpus.paths import FOLDER_HINT, SeedError, class_seed_paths, seed_name, seed_paths
from ordeal.errors import OrdealError, TraceError
from ordeal.result import SeedStatus

__all__ = ["SeedCorpus", "SeedReplay", "SeedReplayer", "SeedStatus", "load_seed", "replay_seed", "replay_trace"]


class SeedReplay(msgspec.Struct, frozen=True, eq=False):
    """The result of replaying one seed.

    ``trace`` is None when the file cannot be read, ``error`` is what the run failed with, and ``reason`` says why the
    seed no longer applies, its class cannot be used or it cannot be read; otherwise it is empty.
    """

    path: Path
    status: SeedStatus
    trace: Trace | None = None
    error: BaseException | None = None
    reason: str = ""

    @property
    def name(self) -> str:
        """``seed-`` and the twelve digits of the hash."""
        return seed_name(self.path)

    @property
    def fails(self) -> bool:
        """Whether the run fails now, as recorded or differently."""
        return self.status.fails


class SeedCorpus:
    """A folder of seeds, grouped by the names of their classes. Several processes may use it at once."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def paths(self) -> list[Path]:
        """Return all seeds, sorted.

        Raises:
            SeedError: the folder cannot be listed.
        """
        return seed_paths(self.folder)

    def paths_of(self, test_class: str) -> list[Path]:
        """Return the seeds of all classes with the name in ``module:Class``, from any module, sorted."""
        return class_seed_paths(self._class_folder(test_class))

    def save(self, trace: Trace) -> Path:
        """Keep ``trace`` and return its file. The same failure always has the same file, written once.

        Raises:
            SeedError: the file cannot be written.
        """
        path = self._class_folder(trace.test_class) / f"seed-{trace.content_hash()}.json"
        with suppress(TraceError):  # a damaged file is written again
            if path.exists():
                load_seed(path)
                return path
        try:
            trace.save(path)
        except TraceError as error:
            raise SeedError(error.message, hint=FOLDER_HINT) from error
        return path

    def remove(self, paths: Iterable[Path]) -> tuple[list[Path], list[SeedError]]:
        """Delete seeds, ignoring those that are gone already. Return what was deleted, and what went wrong."""
        removed, errors = [], []
        for path in paths:
            try:
                path.unlink(missing_ok=True)
                removed.append(path)
            except OSError as error:
                errors.append(SeedError(f"cannot delete the seed {path}: {error.strerror or error}", hint=FOLDER_HINT))
        return removed, errors

    def _class_folder(self, test_class: str) -> Path:
        _, _, name = test_class.rpartition(":")
        # The name may come from a file: it must not lead out of the corpus.
        return self.folder / (re.sub(r"[^\w.-]", "_", name).strip(".")[:100] or "_")


class SeedReplayer:
    """Replays seeds one after the other in this process. A class that cannot be imported is tried once.

    ``rule_timeout``, in seconds, is the limit of all rules; None uses that of each seed, else of its class.
    ``settings`` is the settings file of the project, which may name functions that make machines.
    """

    def __init__(self, rule_timeout: float | None = None, *, settings: Path | None = None) -> None:
        if settings is not None:
            trust_settings(settings)
        self._rule_timeout = rule_timeout
        self._refused: dict[str, OrdealError] = {}

    def replay(self, path: Path, test_class: MachineFactory | None = None) -> SeedReplay:
        """Read the seed and run it from a fresh machine of ``test_class``, or of the class that it names.

        The result says what is wrong with the seed or its class; nothing but Ctrl-C is raised.
        """
        try:
            trace = load_seed(path)
        except TraceError as error:
            return SeedReplay(path, SeedStatus.UNREADABLE, reason=error.message)
        try:
            if test_class is None and trace.test_class in self._refused:
                raise self._refused[trace.test_class]
            found = test_class or load_class(trace.test_class)
        except OrdealError as error:
            self._refused[trace.test_class] = error
            return SeedReplay(path, SeedStatus.CLASS_UNUSABLE, trace, reason=error.message)
        return replay_trace(path, trace, found, self._rule_timeout)


def replay_seed(path: Path, test_class: MachineFactory | None = None) -> SeedReplay:
    """Replay a single seed, see ``SeedReplayer.replay``."""
    return SeedReplayer().replay(path, test_class)


def replay_trace(path: Path, trace: Trace, test_class: MachineFactory, rule_timeout: float | None = None) -> SeedReplay:
    """Replay the seed ``trace``, which was read from ``path``; see ``SeedReplayer.replay``."""
    before = present_folder()
    try:
        return _judged(path, trace, rerun(trace, test_class, rule_timeout=rule_timeout))
    except TraceError as error:
        return SeedReplay(path, SeedStatus.NO_LONGER_APPLIES, trace, reason=error.message)
    except OrdealError as error:
        return SeedReplay(path, SeedStatus.CLASS_UNUSABLE, trace, reason=error.message)
    except Exception as error:  # noqa: BLE001 - defining a class runs the user's code, which may raise anything
        reason = f"{trace.test_class} cannot be replayed: {describe_error(error)}"
        return SeedReplay(path, SeedStatus.CLASS_UNUSABLE, trace, reason=reason)
    finally:
        # A seed that leaves the folder must not affect the next ones. The code under test may have deleted it.
        with suppress(FileNotFoundError):
            os.chdir(before or ".")


def load_seed(path: Path) -> Trace:
    """Read a seed.

    Raises:
        TraceError: it cannot be read, is not a valid trace, or records no failure.
    """
    trace = Trace.load(path)
    if trace.failure is None:
        raise TraceError(f"{path} records no failure, so it is not a seed")
    return trace


def _judged(path: Path, trace: Trace, result: Rerun) -> SeedReplay:
    if result.status is ReplayStatus.REPRODUCED:
        return SeedReplay(path, SeedStatus.REPRODUCED, trace, result.error)
    if result.status is ReplayStatus.FAILS_DIFFERENTLY:
        return SeedReplay(path, SeedStatus.FAILS_DIFFERENTLY, trace, result.error)
    # A run that passed with other values than recorded does not show that anything was fixed.
    if result.rejected:
        return SeedReplay(path, SeedStatus.NO_LONGER_APPLIES, trace, reason="an assume() in it rejects the run now")
    if result.misfits:
        choices = f"{result.misfits} recorded choice{'s' * (result.misfits > 1)}"
        reason = f"{choices} no longer fit what the rules draw"
        return SeedReplay(path, SeedStatus.NO_LONGER_APPLIES, trace, reason=reason)
    if result.changed:
        return SeedReplay(path, SeedStatus.NO_LONGER_APPLIES, trace, reason=result.changed)
    return SeedReplay(path, SeedStatus.FIXED, trace)
