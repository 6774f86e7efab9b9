"""Which files of a project a module is made of: its own, and those that it imports, as their source says it."""

from __future__ import annotations

import ast
import importlib.util
import os
import sysconfig
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ordeal._base.regular_file import read_whole, real_path

STANDARD_LIBRARY = f"{real_path(sysconfig.get_path('stdlib'))}{os.sep}"


def files_behind(modules: Iterable[str], roots: Iterable[Path]) -> set[Path]:
    """Return the files below ``roots`` of some modules and of all that these import, directly or not.

    An import is what the source says: one by a name that is put together when the program runs is not seen. A module
    that is in no root belongs to no project, and is left out. A package counts with its ``__init__`` alone.
    """
    places = list(roots)
    left, found = list(modules), dict[str, Path | None]()
    while left:
        name = left.pop()
        if name in found:
            continue
        found[name] = path = file_of(name, places)
        left += filter(None, [name.rpartition(".")[0]])
        if path is not None:
            left += _imported(path, name if path.name == "__init__.py" else name.rpartition(".")[0])
    return {path.resolve() for path in found.values() if path is not None}


def file_of(name: str, roots: Iterable[Path]) -> Path | None:
    """Return the file of a module, or None if it is in none of ``roots``."""
    for root in roots:
        folder = root.joinpath(*name.split("."))
        for path in (folder.with_suffix(".py"), folder / "__init__.py"):
            if path.is_file():
                return path
    return None


@cache
def _imported(path: Path, package: str) -> tuple[str, ...]:
    """Return what a file imports. What follows ``from x import`` may be a module or not: it is tried as one.

    A command asks for each of its classes, and most of these import the same files.
    """
    found: list[str] = []
    try:
        tree = ast.parse(read_whole(path))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, [above, node.module]))
            found += (module, *(f"{module}.{each.name}" for each in node.names))
    return tuple(found)


def library_path(file: str) -> str | None:
    """Return where a file of an installed package, or of Python itself, lies among these; None for any other."""
    for folder in ("site-packages", "dist-packages"):
        _, found, rest = f"{os.sep}{file}".rpartition(f"{os.sep}{folder}{os.sep}")
        if found:
            return rest.replace(os.sep, "/")
    return file[len(STANDARD_LIBRARY) :].replace(os.sep, "/") if file.startswith(STANDARD_LIBRARY) else None


@cache
def machinery_places() -> tuple[str, ...]:
    """Return the folders of what runs tests, with a separator: by place, as a project may have one of the same name."""
    specs = [importlib.util.find_spec(name) for name in ("ordeal", "hypothesis", "_pytest", "pluggy")]
    found = (folder for spec in specs if spec is not None for folder in spec.submodule_search_locations or ())
    return tuple(f"{folder}{os.sep}" for folder in found)
