"""Finds the machines in the files of a project by reading them, to name one where a class path names none."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path

from ordeal._base.formatting import one_line
from ordeal._base.limits import FILES_MAX
from ordeal._base.regular_file import read_regular

#: Matches a class with one of these bases. Text that only looks like one matches too, which does no harm in a hint.
_CLASS = re.compile(rb"^class\s+(\w+)\s*\([^)]*\b(?:ChaosTest|RuleBasedStateMachine)\b", re.MULTILINE)
_NOT_ENTERED = frozenset({"site-packages", "node_modules", "build", "dist"})


def machines_nearby(name: str, folders: Iterable[str] = ()) -> str:
    """Return where machines are below the current folder.

    Those below one of ``folders`` come first, then those that are called ``name``.
    """
    places = [Path(folder).absolute() for folder in folders]

    def distance(found: tuple[Path, str]) -> tuple[bool, float]:
        is_below = any(map(found[0].absolute().is_relative_to, places))
        return not is_below, -SequenceMatcher(None, name, found[1]).ratio()

    found = sorted(_machines(), key=lambda each: (*distance(each), each))
    named = [f"`{cls}` is in `{one_line(file.as_posix())}`" for file, cls in found[:3]]
    more = len(found) - len(named)
    return ", ".join(named) + (f", and {more} more" if more else "")


def class_paths_like(text: str) -> list[str]:
    """Return the class paths of the machines below the current folder that ``text`` means.

    It may be a class, a module, a file, a folder, or a node id of pytest. An empty ``text`` means all machines, those
    in the folder itself first.
    """
    file, _, name = text.partition(":")
    name = name.lstrip(":")
    place = os.path.normpath(file)
    found: list[str] = []
    for path, cls in sorted(_machines(), key=lambda each: (len(each[0].parts), each)):
        parts = path.with_suffix("").parts
        module = ".".join(parts[1:] if parts[0] == "src" and len(parts) > 1 else parts)
        is_there = file == module or place in (path.as_posix(), *(each.as_posix() for each in path.parents))
        if text in ("", cls, f"{module}.{cls}") or (name in ("", cls) and is_there):
            found.append(f"{module}:{cls}")
    return found


def _machines() -> list[tuple[Path, str]]:
    """Return the files below the current folder that define machines, with the name of each class."""
    machines: list[tuple[Path, str]] = []
    with suppress(OSError):  # there may be no current folder
        here = Path.cwd()
        files = (file for folder in folders_below(here) for file in sorted(folder.glob("*.py")))
        for file in islice(files, FILES_MAX):
            with suppress(OSError):
                # Larger files are generated ones.
                found_here = _CLASS.findall(read_regular(file, 200_000))
                machines += [(file.relative_to(here), cls.decode("ascii", "replace")) for cls in found_here]
    return machines


def folders_below(here: Path) -> Iterator[Path]:
    """Yield the folder ``here`` and those below it that may hold files of the project: four levels, 2,000 folders."""
    for count, (folder, below, _) in enumerate(os.walk(here)):
        at = Path(folder)
        names = sorted(name for name in below if not name.startswith(".") and name not in _NOT_ENTERED)
        below[:] = [name for name in names if not (at / name / "pyvenv.cfg").exists()]
        if count >= FILES_MAX or len(at.relative_to(here).parts) >= 4:
            below.clear()
        yield at
