"""Writes the imports at the top of a file in the order and the groups that ``ruff`` sorts them into."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from ordeal._engine.export.code_layout import INDENT, WIDTH

#: A module, and what is imported from it by name; None for the module itself.
type Import = tuple[str, str | None]
type _Natural = list[tuple[str, int]]

#: Where ruff looks for the project's own modules.
_OWN_ROOTS = ("", "src")
_STANDARD, _INSTALLED, _OWN = range(3)


def import_lines(imports: Iterable[Import]) -> list[str]:
    """The lines that make ``imports``: standard library, installed packages, modules below the current folder."""
    distinct = set(imports)
    groups = [[each for each in distinct if _group(each[0]) == group] for group in (_STANDARD, _INSTALLED, _OWN)]
    lines: list[str] = []
    for group in groups:
        if group and lines:
            lines.append("")
        lines += _group_lines(group)
    return lines


def _group(module: str) -> int:
    if module.partition(".")[0] in sys.stdlib_module_names:
        return _STANDARD
    places = [Path(root, *module.split(".")) for root in _OWN_ROOTS]
    is_own = any(place.is_dir() or place.with_name(f"{place.name}.py").is_file() for place in places)
    return _OWN if is_own else _INSTALLED


def _group_lines(imports: list[Import]) -> list[str]:
    whole = sorted((module for module, name in imports if name is None), key=_module_order)
    lines = [f"import {module}" for module in whole]
    for module in sorted({module for module, name in imports if name is not None}, key=_module_order):
        names = sorted((name for owner, name in imports if owner == module and name is not None), key=_name_order)
        lines += _from_lines(module, names)
    return lines


def _from_lines(module: str, names: list[str]) -> list[str]:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return [line]
    return [f"from {module} import (", *(f"{INDENT}{name}," for name in names), ")"]


def _module_order(name: str) -> tuple[_Natural, _Natural]:
    return _natural(name.lower()), _natural(name)


def _name_order(name: str) -> tuple[int, _Natural, _Natural]:
    """Constants, then classes, then the rest."""
    is_constant = len(name) > 1 and name.isupper()
    kind = 0 if is_constant else 1 if name[0].isupper() else 2
    return kind, *_module_order(name)


def _natural(name: str) -> _Natural:
    """A key that sorts numbers in names by value."""
    parts = re.findall("[0-9]+|[^0-9]", name)
    return [("0", int(part)) if part.isdecimal() and part.isascii() else (part, 0) for part in parts]
