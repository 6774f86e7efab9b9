"""Finds the machines in the files of a project by reading them, to name one where a class path names none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path

from ordeal._base.formatting import one_line
from ordeal._base.regular_file import read_regular
from ordeal._engine.execution.project_modules import folders_below

#: A class with one of these bases, and lines that are no code but look like one, which does no harm in a hint.
_CLASS = re.compile(rb"^class\s+(\w+)\s*\([^)]*\b(?:ChaosTest|RuleBasedStateMachine)\b", re.MULTILINE)


def machines_nearby(name: str, folders: Iterable[str] = ()) -> str:
    """Return where below the current folder there are machines.

    Those first that are below one of ``folders``, then those that are called like ``name``.
    """
    places = [Path(folder).absolute() for folder in folders]

    def distance(found: tuple[Path, str]) -> tuple[bool, float]:
        is_below = any(map(found[0].absolute().is_relative_to, places))
        return not is_below, -SequenceMatcher(None, name, found[1]).ratio()

    machines: list[tuple[Path, str]] = []
    with suppress(OSError):  # there may be no current folder
        here = Path.cwd()
        files = (file for folder in folders_below(here) for file in sorted(folder.glob("*.py")))
        for file in islice(files, 2_000):
            with suppress(OSError):
                # Larger files are generated ones.
                found_here = _CLASS.findall(read_regular(file, 200_000))
                machines += [(file.relative_to(here), cls.decode("ascii", "replace")) for cls in found_here]
    found = sorted(machines, key=lambda each: (*distance(each), each))
    named = [f"`{cls}` is in `{one_line(file.as_posix(), limit=200)}`" for file, cls in found[:3]]
    more = len(found) - len(named)
    return ", ".join(named) + (f", and {more} more" if more else "")
