"""Globals of modules that several nodes of a run write, though real machines would each have their own."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Iterator
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from ordeal.simulate.replacement import namespace_of, program_modules
from ordeal.simulate.runtime.sites import is_of_project

_CODE = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def _data_of(module: ModuleType) -> dict[str, Any]:
    """Return the globals of a module that are data: no functions, classes, modules, nor names of Python's."""
    return {
        name: value
        for name, value in namespace_of(module).items()
        # What an object says of its class may be its own code.
        if not (name.startswith("__") and name.endswith("__")) and not issubclass(type(value), _CODE)
    }


#: How many values are compared in a run, at most: some million take a second.
_COMPARED_MAX = 1_000_000
#: How many items of a container count.
_ITEMS_MAX = 100


class SharedGlobals:
    """Who wrote which globals of the project's modules. For one run."""

    def __init__(self, *, without: str) -> None:
        """Leaves out the module ``without``: that of the test, which takes notes of what nodes do."""
        self._modules = [
            (name, module)
            for name, module in program_modules()
            if name != without and is_of_project(namespace_of(module).get("__file__"))
        ]
        self._seen = {name: _shapes(module) for name, module in self._modules}
        self._left = _COMPARED_MAX
        self._writers: dict[str, set[str]] = {}

    def stepped(self, node: str) -> None:
        """Note what a node has written in the step that has ended."""
        if self._left <= 0:
            return
        for name, module in self._modules:
            before, after = self._seen[name], _shapes(module)
            self._left -= len(after)
            for key, shape in after.items():
                if key not in before or not _is_same(before[key], shape):
                    self._writers.setdefault(f"{name}.{key}", set()).add(node)
            self._seen[name] = after

    def found(self) -> dict[str, tuple[str, ...]]:
        """Return who wrote the globals that more than one node has written."""
        return {name: tuple(sorted(nodes)) for name, nodes in sorted(self._writers.items()) if len(nodes) > 1}


def _shapes(module: Any) -> dict[str, tuple[Any, ...]]:
    """Return each global and what it holds itself, to be compared by identity."""
    return {name: (value, *islice(_items(value), _ITEMS_MAX)) for name, value in _data_of(module).items()}


def _items(value: Any) -> Iterator[Any]:
    kind = type(value)
    if kind is dict:
        for key, item in value.items():
            yield key
            yield item
    elif kind in (list, deque, set):
        yield from value
    elif kind.__module__ != "builtins":
        yield from _attributes(value).values()


def _attributes(value: Any) -> dict[str, Any]:
    try:
        found = object.__getattribute__(value, "__dict__")
    except Exception:  # noqa: BLE001 - code of the program, which may do anything
        return {}
    return found if type(found) is dict else {}


def _is_same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return len(one) == len(other) and all(map(operator.is_, one, other))
