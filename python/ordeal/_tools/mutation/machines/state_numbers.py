"""Reads the numbers of a state, between which relations are sought."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ordeal._engine.trace_view.values import DEPTH_MAX, StateReader
from ordeal._tools.mutation.machines.relations import Numbers

#: So many attributes are looked at, in the order of the state.
ATTRIBUTES_MAX = 24
_KEYS_MAX = 50


def numbers_of(reader: StateReader, machine: Any) -> dict[str, Numbers]:
    """Return the numbers of each attribute of a machine."""
    walk = _Numbers()
    reader.walk(walk, machine)
    return walk.found


class _Numbers:
    """Notes numbers, mappings of numbers, and the sizes of collections."""

    def __init__(self) -> None:
        self.found: dict[str, Numbers] = {}
        self._seen: set[int] = set()

    def visit(self, path: str, value: Any, depth: int) -> None:
        """Note a value and what it holds."""
        if len(self.found) >= ATTRIBUTES_MAX or path.startswith("bundle "):
            return
        kind = type(value)
        if kind is int or kind is float:
            self.found[path] = {None: value}
        elif issubclass(kind, dict):
            items = list(dict.items(value))
            numbers = {key: item for key, item in items[:_KEYS_MAX] if type(item) in (int, float)}
            if items and len(numbers) == min(len(items), _KEYS_MAX):
                self.found[path] = numbers
            elif issubclass(kind, Counter) and not items:
                self.found[path] = {}
        elif hasattr(value, "__dict__") and depth < DEPTH_MAX and id(value) not in self._seen:
            self._seen.add(id(value))
            self._fields(path, value, kind, depth)

    def _fields(self, path: str, value: Any, kind: type[Any], depth: int) -> None:
        if kind.__module__.partition(".")[0] in ("ordeal", "hypothesis", "builtins"):
            return
        found = object.__getattribute__(value, "__dict__")
        for name, item in list(found.items()) if type(found) is dict else ():
            self.visit(f"{path}.{name}", item, depth + 1)
