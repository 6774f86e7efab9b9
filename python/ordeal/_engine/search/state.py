"""Saves what an exploration knows while it runs, so that another process can continue as if it had not stopped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import ordeal._native as _native
from ordeal._base.formatting import counted, writable_text
from ordeal._base.property_tracker import Snapshot as PropertySnapshot
from ordeal._engine.coverage.targets import Target
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.search.uses import FaultUses, RuleUses
from ordeal._engine.storage.state_file import (
    NO_PAST,
    Header,
    Option,
    Provenance,
    SavedAids,
    SavedFile,
    SavedMonitor,
    check_writable,
    damaged,
    join_part,
    read_state,
    versions,
    write_state,
)
from ordeal._engine.triage.findings import Findings
from ordeal._engine.triage.messages import finding_of, saved_finding
from ordeal._native import monotonic
from ordeal.errors import StateError
from ordeal.result import NoteKind, Notes, SnapshotKind

if TYPE_CHECKING:
    from ordeal._engine.execution.settings import Settings, Tally

#: How often the state is saved while exploring, in seconds.
PERIOD_SECONDS = 30.0


class SearchProgress(msgspec.Struct):
    """What an exploration learns outside its session.

    ``seconds_before`` is how long earlier processes explored. ``rule_files`` holds the monitor's file ids, by rule.
    """

    tally: Tally
    findings: Findings
    watch: PropertyWatch
    faults: FaultUses
    rules: RuleUses
    kind: SnapshotKind = "copy"
    seconds_before: float = 0.0
    productive: list[tuple[Provenance, _native.Tape]] = msgspec.field(default_factory=list)
    rule_files: dict[int, set[int]] = msgspec.field(default_factory=dict)
    aids: SavedAids = msgspec.field(default_factory=SavedAids)


class SessionState:
    """Writes the state of one exploration and reads an earlier one, if ``settings`` names a file for it."""

    def __init__(
        self,
        settings: Settings,
        names: _native.MachineNames,
        targets: list[Target],
        session: _native.Session,
        folder: WorkingFolder,
    ) -> None:
        self._settings = settings
        self._names = names
        self._rules, _, self._faults, _ = self._names
        self._targets = targets
        self._session = session
        self._save_to = None if settings.save_state_to is None else folder.path_of(settings.save_state_to)
        self._resume_from = settings.resume_from
        self._parts: list[bytes] = []  # the parts saved last
        self._started = monotonic()
        self._due = self._started + PERIOD_SECONDS

    # -- saving -------------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Check before the first run that the state can be saved.

        Raises:
            StateError: it cannot be saved.
        """
        if self._save_to is not None:
            check_writable(self._save_to)

    def save_when_due(self, progress: SearchProgress, monitor: _native.Monitor | None) -> None:
        """Save if the last time was long ago. Call it between two runs; it does not change what follows."""
        if self._save_to is not None and monotonic() >= self._due:
            self.save(progress, monitor)
            self._due = monotonic() + PERIOD_SECONDS

    def save(self, progress: SearchProgress, monitor: _native.Monitor | None) -> None:
        """Save, if that was asked for. A failure becomes a note: the exploration itself is worth more."""
        if self._save_to is None:
            return
        self._parts = [self.part(progress, monitor)]
        save_parts(self._save_to, self._parts, progress.tally.notes)

    def save_again(self, tally: Tally) -> None:
        """Write again what was saved last, if it is gone."""
        if self._save_to is not None and self._parts and not self._save_to.exists():
            save_parts(self._save_to, self._parts, tally.notes)

    def part(self, progress: SearchProgress, monitor: _native.Monitor | None) -> bytes:
        """Return what is saved, as a part of a state."""
        saved_monitor = None
        if monitor is not None:
            files, touched, codes, events = monitor.save()
            saved = [self._saved_file(path, lines) for path, lines in files]
            saved_monitor = SavedMonitor(level=monitor.level, files=saved, touched=touched, codes=codes, events=events)
        tapes = [finding.tape for finding in progress.findings.all()] + [tape for _, tape in progress.productive]
        engine = _native.encode_state(self._names, self._session, tapes)
        header = Header(
            versions=versions(),
            test_class=self._settings.test_class,
            options=self._options(),
            tally=progress.tally.counts(),
            notes=[str(note) for note in progress.tally.notes],
            seconds=progress.seconds_before + monotonic() - self._started,
            snapshot_kind=progress.kind,
            findings=[saved_finding(finding) for finding in progress.findings.all()],
            unfaithful=progress.findings.unfaithful(),
            productive=[origin for origin, _ in progress.productive],
            properties=writable_snapshot(progress.watch.snapshot()),
            faults={writable_text(name): counts for name, counts in progress.faults.counts().items()},
            rules=progress.rules.counts(),
            nearest={writable_text(name): checkpoint for name, checkpoint in progress.watch.nearest.items()},
            monitor=saved_monitor,
            rule_files={self._rules[rule]: sorted(files) for rule, files in sorted(progress.rule_files.items())},
            aids=progress.aids,
        )
        return join_part(header, engine)

    def _options(self) -> dict[str, Option]:
        options: dict[str, Option] = self._settings.saved_options()
        options["target_modules"] = [target.name for target in self._targets]
        return options

    def _saved_file(self, path: str, lines: list[int]) -> SavedFile:
        for target in self._targets:
            root = Path(target.path).resolve()
            if Path(path).is_relative_to(root):
                return SavedFile(target=target.name, path=Path(path).relative_to(root).as_posix(), lines=lines)
        return SavedFile(target="", path=writable_text(path), lines=lines)

    # -- resuming -----------------------------------------------------------------------------------------------------

    def resume(self, progress: SearchProgress, monitor: _native.Monitor | None) -> None:
        """Load the saved state into the session, the monitor (which has started) and ``progress``.

        Raises:
            StateError: the file cannot be read, belongs to another exploration, or no longer applies at all.
        """
        if self._resume_from is not None:
            part, *others = read_state(self._resume_from)
            if others:
                raise StateError(
                    f"the state {self._resume_from} was saved by {len(others) + 1} workers",
                    hint=f"resume it with as many (`workers={len(others) + 1}`), or with `isolate=True`",
                )
            if part[0].past != NO_PAST:
                # Shrinking one of its findings might end this process.
                raise StateError(
                    f"the state {self._resume_from} was saved by several processes in turn",
                    hint="resume it with `isolate=True`, as `ordeal explore` does",
                )
            self.load_part(self._resume_from, part, progress, monitor)

    def load_part(
        self, path: Path, part: tuple[Header, bytes], progress: SearchProgress, monitor: _native.Monitor | None
    ) -> None:
        """Resume from a part of the state that was read from ``path``."""
        header, engine = part
        check_same_exploration(path, header, self._settings)
        try:
            loaded = _native.decode_state(engine, self._names)
            loaded.restore_into(self._session)
            self._put_back(header, loaded.tapes, progress)
            if monitor is not None and (saved := header.monitor) is not None:
                if saved.level != monitor.level:
                    monitor.set_level(saved.level)
                paths = [self._path(file) for file in saved.files]
                files = [(path, file.lines) for path, file in zip(paths, saved.files, strict=True)]
                monitor.restore(files, saved.touched, saved.codes, saved.events)
                ids = {path: number for number, path in enumerate(monitor.files())}
                for rule, numbers in header.rule_files.items():
                    if rule in self._rules:
                        touched = [paths[number] for number in numbers if 0 <= number < len(paths)]
                        known = {ids[each] for each in touched if each in ids}
                        progress.rule_files[self._rules.index(rule)] = known
        except (ValueError, TypeError, OverflowError) as error:
            raise damaged(path, error) from error
        check_what_applies(path, loaded)
        tally = progress.tally
        if loaded.tapes_dropped:
            tally.note(dropped_text(loaded))
        elif loaded.machine_changed:
            tally.note("The rules or faults of the class have changed since the resumed state was saved.")
        for name, now in self._options().items():
            if name in header.options and (then := header.options[name]) != now:
                is_now = "not set" if now is None else repr(now)
                was = "without it" if then is None else f"with {then!r}"
                tally.note(f"{name} is {is_now} since the resumed state was saved {was}.")
        for what, version in versions().items():
            then_version = header.versions.get(what, "of an unknown version")
            if then_version != version:
                tally.note(f"The resumed state was saved under {what} {then_version}; this is {version}.")

    def _put_back(self, header: Header, tapes: list[_native.Tape | None], progress: SearchProgress) -> None:
        if len(tapes) != len(header.findings) + len(header.productive):
            raise ValueError(
                f"{len(tapes)} tapes for {len(header.findings)} findings and {len(header.productive)} runs"
            )
        for saved, value in header.tally.items():
            name = "runs_without_novelty" if saved == "barren_runs" else saved  # its name in earlier versions
            if name not in progress.tally.counts():
                raise ValueError(f"unknown count {name!r}")
            setattr(progress.tally, name, value)
        # The notes of the earlier process come first, in its order.
        fresh, progress.tally.notes = progress.tally.notes, Notes(header.notes)
        for text in fresh:
            progress.tally.note(text)
        if header.properties:
            progress.watch.restore(header.properties, header.nearest)
        progress.faults.restore(header.faults)
        progress.rules.restore(header.rules)
        progress.aids = header.aids
        progress.kind = header.snapshot_kind
        progress.seconds_before = max(0.0, header.seconds)
        of_findings, of_runs = tapes[: len(header.findings)], tapes[len(header.findings) :]
        progress.findings.restore(
            [finding_of(saved, tape) for saved, tape in zip(header.findings, of_findings, strict=True) if tape],
            header.unfaithful,
        )
        progress.productive.extend(
            (saved, tape) for saved, tape in zip(header.productive, of_runs, strict=True) if tape
        )

    def _path(self, file: SavedFile) -> str:
        for target in self._targets:
            if target.name == file.target:
                found = (Path(target.path).resolve() / file.path) if file.path != "." else Path(target.path).resolve()
                if found.is_file():
                    return str(found)
        return file.path


def save_parts(path: Path, parts: list[bytes], notes: Notes) -> None:
    """Write a state. A failure becomes a note, which a later success takes back; without parts there is one too."""
    notes.forget(NoteKind.STATE_NOT_SAVED)
    try:
        if not parts:
            raise StateError("no worker sent its state")
        write_state(path, parts)
    except StateError as error:
        notes.add(f"The state was not saved: {error.message}.", NoteKind.STATE_NOT_SAVED)


def check_what_applies(path: Path, loaded: _native.LoadedState) -> None:
    """Refuse a state, read from ``path``, if nothing in it fits the present machine.

    Raises:
        StateError: nothing in it fits.
    """
    if loaded.tapes_in_file and loaded.tapes_dropped == loaded.tapes_in_file:
        raise StateError(
            f"nothing in the state {path} applies any more: each of its {counted(loaded.tapes_in_file, 'tape')} "
            "names a rule, fault or argument that the class lacks now",
            hint="explore again without `--resume`",
        )


def dropped_text(loaded: _native.LoadedState) -> str:
    """Return how many tapes of a state do not fit the present machine."""
    return (
        f"{loaded.tapes_dropped} of {counted(loaded.tapes_in_file, 'tape')} of the resumed state were dropped: "
        "they name rules, faults or arguments that the class does not have now."
    )


def check_same_exploration(path: Path, header: Header, settings: Settings) -> None:
    """Refuse a state, read from ``path``, if it is of another class or seed.

    Raises:
        StateError: it is of another class or seed.
    """
    if header.test_class != settings.test_class:
        raise StateError(
            f"the state {path} belongs to {header.test_class}, not to {settings.test_class}",
            hint="resume it with the class that it was saved for, or explore again without `--resume`",
        )
    seed = header.options.get("seed")
    if seed != settings.seed:
        raise StateError(
            f"the state {path} was explored with seed {seed}, not {settings.seed}",
            hint=f"give the same seed (`--seed {seed}`), or explore again without `--resume`",
        )


def session_seed(header: Header) -> int | None:
    """Return the seed of the saved session, which may belong to one of several workers."""
    seed = header.options.get("session_seed")
    return seed if isinstance(seed, int) and 0 <= seed < 2**64 else None


def writable_snapshot(snapshot: PropertySnapshot) -> PropertySnapshot:
    """Return ``snapshot`` in a form that any file can hold."""
    return {
        part: [
            {key: writable_text(each) if isinstance(each, str) else each for key, each in row.items()} for row in rows
        ]
        for part, rows in snapshot.items()
    }
