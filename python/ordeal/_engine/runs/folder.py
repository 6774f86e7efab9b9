"""The folders of runs below `.ordeal/runs`: makes one, finds one, reads it, and deletes those that are too old."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from ordeal._base.limits import INPUT_BYTES_MAX
from ordeal._base.regular_file import read_regular
from ordeal._engine.runs.events import AnyEvent, Event, RunStatus
from ordeal.errors import ConfigError

RUNS_PATH = ".ordeal/runs"
LATEST = "latest"
EVENTS, STATUS, RESULT = "events.ndjson", "status.json", "result.json"
#: What a session and the reports of it write; anything else in the folder of a run belongs to others and stays.
_OWN_FILES = (EVENTS, STATUS, RESULT, "report.html")
#: More than any session writes.
EVENTS_BYTES_MAX = 32 * 2**20
_ID = re.compile(r"\d{8}-\d{6}-\d+(-\d+)?")


def make_folder(runs: Path, now: datetime | None = None) -> Path:
    """Make the folder of a run that begins now, and have ``latest`` name it.

    Raises:
        OSError: it cannot be made.
    """
    runs.mkdir(parents=True, exist_ok=True)
    name = f"{now or datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}"
    folder, number = runs / name, 1
    while folder.exists() and number < 100:
        number += 1
        folder = runs / f"{name}-{number}"
    folder.mkdir()
    # Without links, the latest is the one whose name comes last.
    link, partial = runs / LATEST, runs / f".{LATEST}-{folder.name}"
    with suppress(OSError):
        partial.symlink_to(folder.name, target_is_directory=True)
        try:
            partial.replace(link)
        finally:
            partial.unlink(missing_ok=True)
    return folder


def run_folders(runs: Path) -> list[Path]:
    """Return the folders of all runs, the oldest first."""
    try:
        return sorted(each for each in runs.iterdir() if _ID.fullmatch(each.name) and _is_folder(each))
    except OSError:
        return []


def _is_folder(path: Path) -> bool:
    with suppress(OSError):
        return stat.S_ISDIR(path.lstat().st_mode)
    return False


def prune(runs: Path, keep: int, own: Path) -> None:
    """Delete all but the last ``keep`` runs. One that goes on, and files that are not of a run, stay."""
    for folder in run_folders(runs)[: -keep or None]:
        if folder != own and not goes_on(read_status(folder)):
            for name in _OWN_FILES:
                with suppress(OSError):
                    (folder / name).unlink()
            with suppress(OSError):
                folder.rmdir()


def goes_on(status: RunStatus | None) -> bool:
    """Return True if the process of a run that was under way still exists, no matter which user started it."""
    if status is None or status.state != "running" or status.pid <= 0:
        return False
    try:
        os.kill(status.pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def find_run(name: str | None, runs: Path) -> Path:
    """Return the folder of the run ``name``, which may be a path, or of the latest one.

    Raises:
        ConfigError: there is none, or none of that name.
    """
    if name is not None and ("/" in name or Path(name).is_dir()):
        folder = Path(name)
        if not _is_folder(folder.resolve()):
            raise ConfigError(f"no folder of a run: {name}", hint="`ordeal explore` makes them below .ordeal/runs")
        return folder
    known = run_folders(runs)
    if not known:
        raise ConfigError(f"no run is kept in {runs}", hint="run `ordeal explore` first: it keeps its runs")
    if name in (None, LATEST):
        return known[-1]
    found = [folder for folder in known if folder.name == name] or [
        folder for folder in known if folder.name.startswith(str(name))
    ]
    if not found:
        listed = ", ".join(folder.name for folder in reversed(known[-5:]))
        raise ConfigError(f"no run is named `{name}`", hint=f"the latest are: {listed}")
    return found[-1]


_EVENT = msgspec.json.Decoder(AnyEvent)
_STATUS = msgspec.json.Decoder(RunStatus)


def read_events(folder: Path, bytes_max: int = EVENTS_BYTES_MAX) -> Iterator[Event]:
    """Yield the events of a run, as far as they are whole: the last line of a session that was killed may be torn.

    Only the first ``bytes_max`` bytes are read.
    """
    try:
        data = read_regular(folder / EVENTS, bytes_max)
    except OSError:
        return
    for line in data.split(b"\n"):
        if line:
            with suppress(msgspec.DecodeError, RecursionError):
                yield _EVENT.decode(line)


def read_status(folder: Path) -> RunStatus | None:
    """Return the status of a run, or None where it has none that can be read."""
    try:
        return _STATUS.decode(read_regular(folder / STATUS, EVENTS_BYTES_MAX))
    except (OSError, msgspec.DecodeError, RecursionError):
        return None


def read_result(folder: Path) -> dict[str, Any] | None:
    """Return the report of a run as it was written, or None where there is none that can be read."""
    try:
        found = msgspec.json.decode(read_regular(folder / RESULT, INPUT_BYTES_MAX), type=dict[str, Any])
    except (OSError, msgspec.DecodeError, RecursionError):
        return None
    return found
