"""Where a command writes if a file is there already: by default, nothing replaces a file that ordeal did not write."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path

from ordeal._base.formatting import one_line
from ordeal._base.limits import PART_BYTES
from ordeal._base.regular_file import read_regular
from ordeal._base.trace_file import PACKED_NAME, Trace, write_atomically
from ordeal._engine.export.generated_tests import HEADER
from ordeal._engine.storage.state_file import MAGIC
from ordeal.errors import ConfigError, TraceError


def place_for[P: (str, Path)](option: str, path: P, is_own: Callable[[Path], bool], on_exists: str | None) -> P:
    """Return the path to write to, before anything runs: another one if ``on_exists`` is ``number`` and it is taken.

    What is neither a file nor a folder, such as ``/dev/stdout``, is written to, and not replaced.

    Raises:
        ConfigError: something is there that may not be replaced. By default, what is empty or ordeal's own may.
    """
    target = Path(path)
    if on_exists == "replace" or not (target.is_file() or (target.is_dir() and is_own is is_export)):
        return path
    if on_exists == "number":
        # The name of a module has no hyphen.
        joint = "_" if target.suffix == ".py" else "-"
        numbered = (target.with_name(f"{target.stem}{joint}{number}{target.suffix}") for number in count(2))
        return type(path)(next(each for each in numbered if not each.exists()))
    try:
        replaceable = on_exists is None and (not target.stat().st_size or is_own(target))
    except OSError:
        replaceable = False
    if not replaceable:
        foreign = ", which ordeal did not write" if on_exists is None else ""
        message = one_line(f"`{option}` would replace {target}{foreign}")
        raise ConfigError(message, hint="name another one, or add `--on-exists replace`")
    return path


def write_placed(option: str, folder: Path, on_exists: str | None, write: Callable[[Path], Path]) -> Path:
    """Write a report, whose name its format decides, into a folder, and return its path.

    Raises:
        ConfigError: as ``place_for``.
        OSError: it cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="ordeal-report-") as place:
        made = write(Path(place))
        if not made.is_relative_to(place):  # observations are in a folder that other programs know
            return made
        path = place_for(option, folder / made.name, is_report, on_exists)
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, made.read_bytes())
    return path


def is_report(path: Path) -> bool:
    """Return True for a page or another report: each names ordeal."""
    return b"ordeal" in path.name.encode(errors="replace") + read_regular(path, PART_BYTES)


def is_generated(path: Path) -> bool:
    """Return True for a file of generated tests."""
    return read_regular(path, len(HEADER)).startswith(HEADER.encode())


def is_state(path: Path) -> bool:
    """Return True for the saved state of a search."""
    return read_regular(path, len(MAGIC)).startswith(MAGIC)


def is_trace(path: Path) -> bool:
    """Return True for a trace."""
    try:
        Trace.load(path)
    except TraceError:
        return False
    return True


def is_export(path: Path) -> bool:
    """Return True for the folder of an exported failure."""
    return is_trace(path / PACKED_NAME)


def is_none(_path: Path) -> bool:
    """Return False: nothing in a plain program says who wrote it."""
    return False
