"""Finds where the state of a machine has numbers and collections, whose magnitudes are features of the search."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterator
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine

from ordeal._engine.execution.own_names import own_names

#: The most attributes that are read after each step, and the most objects between the machine and one of them.
PATHS_MAX = 32
DEPTH_MAX = 3
SIZED = (bool, int, float, str, bytes, bytearray, list, tuple, dict, set, frozenset, deque)
NO_STATE = (type, types.ModuleType, types.FunctionType, types.MethodType, types.BuiltinFunctionType)


def number_paths(machine: RuleBasedStateMachine) -> list[str]:
    """Return what leads from a machine to a number or a collection: attributes with dots between. Runs no user code.

    Those nearest to the machine come first, and of objects that several paths lead to only the first counts.
    """
    found: list[str] = []
    own = own_names(type(machine))
    seen = {id(machine)}
    level: list[tuple[tuple[str, ...], Any]] = [((), machine)]
    for _ in range(DEPTH_MAX):
        deeper: list[tuple[tuple[str, ...], Any]] = []
        for path, holder in level:
            for name, value in _attributes(holder):
                # Hypothesis and ordeal give a machine private attributes while it runs.
                if not name.isidentifier() or (not path and (name.startswith("_") or name in own)):
                    continue
                if isinstance(value, SIZED):
                    found.append(".".join((*path, name)))
                elif not isinstance(value, NO_STATE) and id(value) not in seen and len(deeper) < PATHS_MAX:
                    seen.add(id(value))
                    deeper.append(((*path, name), value))
        level = deeper
    return found[:PATHS_MAX]


def _attributes(holder: object) -> Iterator[tuple[str, Any]]:
    """Yield what is stored in an instance: in its dictionary, and in the slots of its class."""
    try:
        stored = object.__getattribute__(holder, "__dict__")
    except AttributeError:
        stored = {}
    if type(stored) is dict:
        yield from ((name, value) for name, value in list(stored.items()) if type(name) is str)
    for base in type(holder).__mro__:
        for name, member in list(vars(base).items()):
            if type(member) is types.MemberDescriptorType and base.__module__ != "builtins":
                try:
                    yield name, object.__getattribute__(holder, name)
                except AttributeError:
                    continue
