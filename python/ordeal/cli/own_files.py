"""Refuses to replace a file that ordeal did not write, before anything runs; ``--force`` replaces it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ordeal._base.formatting import one_line
from ordeal._base.regular_file import read_regular
from ordeal._base.trace_file import Trace
from ordeal._engine.export.generated_tests import HEADER
from ordeal._engine.storage.state_file import MAGIC
from ordeal.errors import ConfigError, TraceError


def refuse_foreign(option: str, path: str | Path | None, is_own: Callable[[Path], bool], *, force: bool) -> None:
    """Raise ConfigError if a file is at ``path`` that is neither empty nor one that ordeal wrote.

    What is not a regular file, such as ``/dev/stdout``, is written to, and not replaced.
    """
    target = None if path is None or force else Path(path)
    if target is None or not target.is_file():
        return
    try:
        replaceable = not target.stat().st_size or is_own(target)
    except OSError:
        replaceable = False
    if not replaceable:
        message = one_line(f"`{option}` would replace {target}, which ordeal did not write")
        raise ConfigError(message, hint="name another file, or add `--force`")


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


def is_none(_path: Path) -> bool:
    """Return False: nothing in a plain program says who wrote it."""
    return False
