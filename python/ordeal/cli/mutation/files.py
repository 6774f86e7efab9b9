"""The files that ``ordeal mutate`` is told to write: the report for the tools of Stryker, and beginnings of tests."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ordeal._base.formatting import one_line
from ordeal._base.trace_file import write_atomically
from ordeal._report.mutation_stubs import mutation_stubs
from ordeal._report.stryker import stryker_json
from ordeal._tools.mutation.machines.running import MachineJudgement
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Source
from ordeal.cli import terminal
from ordeal.errors import ConfigError


def refuse_existing(given: Mapping[str, Any]) -> None:
    """Refuse to write beginnings of tests over a file, before anything is judged.

    Raises:
        ConfigError: there is such a file.
    """
    if given["generate_stubs"] and Path(given["generate_stubs"]).exists():
        raise ConfigError(f"`{given['generate_stubs']}` is there already", hint="name a new file")


def refuse_unwritable(given: Mapping[str, Any]) -> None:
    """Refuse files that cannot be written, before anything is judged: that may take hours.

    Raises:
        ConfigError: there is no folder to write one to, or it may not be written.
    """
    for name in filter(None, (given["report_json"], given["generate_stubs"])):
        path = Path(name)
        place = path if path.exists() else path.parent
        if place is path and path.is_dir():
            raise _unwritable(name, "it is a folder")
        if place is not path and not place.is_dir():
            raise _unwritable(name, f"there is no folder {place}")
        if not os.access(place, os.W_OK):
            raise _unwritable(name, "Permission denied")


def _unwritable(name: str, why: str) -> ConfigError:
    return ConfigError(f"`{name}` cannot be written: {why}", hint="name another file")


def write_files(
    given: Mapping[str, Any],
    sources: Sequence[Source],
    judgement: Judgement,
    machines: MachineJudgement | None = None,
) -> None:
    """Write what was asked for.

    Raises:
        ConfigError: it cannot be written.
    """
    if given["report_json"]:
        _save(given["report_json"], json.dumps(stryker_json(sources, judgement, machines)))
    if given["generate_stubs"]:
        refuse_existing(given)
        _save(given["generate_stubs"], mutation_stubs(sources, judgement))


def say_if_lost(why: str) -> None:
    """Say that a run could not be kept, and why, if it could not."""
    if why:
        terminal.say(f"this run cannot be kept in .ordeal/mutate, for `show`, `report` and `--resume`: {one_line(why)}")


def _save(path: str, text: str) -> None:
    try:
        target = Path(path)
        # A link stays one.
        write_atomically(target.resolve() if target.is_symlink() and target.is_file() else target, text.encode())
    except OSError as error:
        raise _unwritable(path, str(error.strerror)) from None
