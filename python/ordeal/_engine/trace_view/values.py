"""Reads the state of a machine as paths and texts, in bounded time and size, whatever its objects do."""

from __future__ import annotations

import enum
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, Protocol

from hypothesis import stateful
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._base.formatting import one_line
from ordeal._base.untrusted import bounded_call, type_name
from ordeal._engine.execution.recorder import render
from ordeal._native import monotonic
from ordeal.chaos import ChaosTest

DEPTH_MAX = 6
ITEMS_MAX = 200
CHARS_MAX = 64 * 2**10
LEAF_CHARS_MAX = 160
SECONDS_MAX = 0.5
#: A collection of so few plain values, and so short, is shown on one line.
SHORT_ITEMS, SHORT_CHARS = 12, 72
#: The method with which a machine says itself what there is to see.
HOOK = "view_state"

LEAVES = (type, types.FunctionType, types.MethodType, types.ModuleType, BaseException, enum.Enum)
PLAIN = (type(None), bool, int, float, complex, str, bytes)
_QUICK_MAX, _QUICK_CHARS = 1 << 60, 1000
SEQUENCES = (list, tuple, deque)
SETS = (set, frozenset)
#: Objects of these packages are shown by their repr.
OPAQUE = frozenset({*sys.stdlib_module_names, "hypothesis", "ordeal", "numpy", "pandas"})


class Walk(Protocol):
    """What looks at the values of a state."""

    def visit(self, path: str, value: Any, depth: int) -> None:
        """Look at a value, so many steps below the machine."""


class StateReader:
    """Reads the state of machines of one class. What Hypothesis and ordeal keep in a machine is left out."""

    def __init__(self, cls: type[RuleBasedStateMachine]) -> None:
        self._hidden = _own_names(cls)

    def hide(self, names: Iterable[str]) -> None:
        """Leave out some attributes of the machine besides."""
        self._hidden |= frozenset(names)

    def read(self, machine: RuleBasedStateMachine) -> dict[str, str]:
        """Return the text of each part by its path, in the order of the attributes; then the bundles."""
        walk = _Walk()
        bounded_call(lambda: self.walk(walk, machine), lambda _: walk.stop())
        return walk.rows

    def places(self, machine: RuleBasedStateMachine) -> tuple[dict[int, str], set[type], set[str]]:
        """Return the path of each object by its id, the machine's being empty; their types; and other paths to them."""
        walk = _Walk()
        bounded_call(lambda: self.walk(walk, machine), lambda _: walk.stop())
        found, types = {id(machine): ""}, {type(machine)}
        for value, path in walk.visited():
            found[id(value)] = path
            if any(True for _ in _fields(value)):
                types.add(type(value))
        return found, types, walk.aliases

    def is_plain(self, machine: RuleBasedStateMachine) -> bool:
        """Return whether to find out what there is to see runs no code of the program: it has no hook for that."""
        kind = type(machine)
        return not (
            hasattr(kind, HOOK)
            or HOOK in vars(machine)
            or hasattr(kind, "__getattr__")
            or kind.__getattribute__ is not object.__getattribute__
        )

    def walk(self, walk: Walk, machine: RuleBasedStateMachine) -> None:
        """Have ``walk`` visit what there is to see of a machine."""
        hook = getattr(machine, HOOK, None)
        if callable(hook):
            shown = hook()
            if isinstance(shown, Mapping):
                for name, value in dict(shown).items():
                    walk.visit(one_line(str(name)), value, 1)
                return
        for name, value in list(vars(machine).items()):
            if name not in self._hidden:
                walk.visit(one_line(name), value, 1)
        for bundle, references in _bundles(machine):
            if references:
                walk.visit(f"bundle {one_line(bundle)}", references, DEPTH_MAX - 1)


class _Bare(RuleBasedStateMachine):
    """A machine with nothing of its own."""

    @rule()
    def nothing(self) -> None:
        """Do nothing: a machine has a rule."""


class _BareChaos(ChaosTest):
    """The same with what ordeal adds."""

    @rule()
    def nothing(self) -> None:
        """Do nothing: a machine has a rule."""


@cache
def _own_names(cls: type[RuleBasedStateMachine]) -> frozenset[str]:
    """Return the attributes that each machine has by its base class, and those that it is given in a run."""
    made = vars((_BareChaos if issubclass(cls, ChaosTest) else _Bare)())
    ours = [base for base in cls.__mro__ if base.__module__.partition(".")[0] == "ordeal"]
    values = [*vars(stateful).values(), *(each for base in ours for each in vars(base).values())]
    functions = (getattr(each, "__code__", None) for each in values)
    given = {name for code in functions if code is not None for name in _names_in(code) if name.startswith("_")}
    return frozenset({*made, *given})


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


def _bundles(machine: RuleBasedStateMachine) -> Iterator[tuple[str, list[Any]]]:
    names = machine.names_to_values
    for bundle, references in list(machine.bundles.items()):
        yield bundle, [names[each.name] for each in references if each.name in names]


class _Walk:
    """Visits a value and what it holds. What several paths lead to is shown at the first one."""

    def __init__(self) -> None:
        self.rows: dict[str, str] = {}
        self._left = CHARS_MAX
        self._deadline = monotonic() + SECONDS_MAX
        self._kept: list[Any] = []  # so that no other object gets the id of one that was visited
        self._paths: dict[int, str] = {}
        self.aliases: set[str] = set()

    def visited(self) -> Iterator[tuple[Any, str]]:
        """Yield the objects that hold others, with their paths."""
        yield from ((value, self._paths[id(value)]) for value in self._kept)

    def stop(self) -> None:
        """Note that there is more."""
        self.rows["..."] = "not all of the state could be read"
        self._left = 0

    def visit(self, path: str, value: Any, depth: int) -> None:
        """Add the rows of ``value``."""
        if self._left <= 0 or monotonic() > self._deadline:
            if self._left > 0 or "..." not in self.rows:
                self.stop()
            return
        kind = type(value)
        short = leaf_text(value) if kind in PLAIN or depth >= DEPTH_MAX else _short_text(value)
        if short is not None:
            self._leaf(path, short)
        elif (first := self._paths.setdefault(id(value), path)) != path:
            self.aliases.add(path)
            self._leaf(path, f"the same as {first}")
        else:
            self._kept.append(value)
            self._visit_parts(path, value, depth)

    def _visit_parts(self, path: str, value: Any, depth: int) -> None:
        fields = dict(_fields(value))
        if issubclass(type(value), dict):
            self._several(((f"{path}[{_key(key)}]", item) for key, item in list(dict.items(value))), path, value, depth)
        elif issubclass(type(value), SEQUENCES) and not hasattr(type(value), "_fields"):
            items = enumerate(_items_of(value))
            self._several(((f"{path}[{number}]", item) for number, item in items), path, value, depth)
        elif not fields:
            self._leaf(path, leaf_text(value))
        # A class of the program that is a mapping or sequence may have attributes as well.
        if fields:
            self._several(((f"{path}.{name}", item) for name, item in fields.items()), path, value, depth)

    def _several(self, parts: Iterator[tuple[str, Any]], path: str, value: Any, depth: int) -> None:
        number = 0
        for number, (name, item) in enumerate(parts, start=1):
            if number > ITEMS_MAX:
                self._leaf(f"{path}[...]", f"more than {ITEMS_MAX} in all")
                return
            self.visit(name, item, depth + 1)
        if not number:
            self._leaf(path, leaf_text(value))

    def _leaf(self, path: str, text: str) -> None:
        self.rows[path] = text
        self._left -= len(path) + len(text)


def _items_of(value: Any) -> list[Any]:
    """Return the items, bypassing the methods of a subclass."""
    base = next(base for base in SEQUENCES if issubclass(type(value), base))
    return list(base.__iter__(value))


def _short_text(value: Any) -> str | None:
    """Return the text of a collection that is shown on one line: a set always, others with a few plain values."""
    kind = type(value)
    if kind in SETS:
        return leaf_text(value)
    if kind is dict:
        items = [*value, *value.values()]
    elif kind in SEQUENCES:
        items = list(value)
    else:
        return None
    if len(items) > SHORT_ITEMS or not all(type(item) in PLAIN or issubclass(type(item), enum.Enum) for item in items):
        return None
    text = leaf_text(value)
    return text if len(text) <= SHORT_CHARS else None


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of an object of the program itself, without running any code of its class."""
    kind = type(value)
    if issubclass(kind, LEAVES):
        return
    module = type.__getattribute__(kind, "__module__")
    if not isinstance(module, str) or module.partition(".")[0] in OPAQUE:
        return
    with suppress(AttributeError):
        found = object.__getattribute__(value, "__dict__")
        if type(found) is dict:
            yield from ((one_line(str(name)), item) for name, item in list(found.items()))
    for base in kind.__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            if name not in ("__dict__", "__weakref__"):
                with suppress(AttributeError):
                    yield name, object.__getattribute__(value, name)
    if issubclass(type(value), tuple) and hasattr(kind, "_fields"):
        yield from zip(map(str, kind._fields), tuple.__iter__(value), strict=False)


def leaf_text(value: Any) -> str:
    """Return the text of a value that is not looked into."""
    if is_quick(value):
        return one_line(repr(value), limit=LEAF_CHARS_MAX)
    if issubclass(type(value), enum.Enum):
        with suppress(AttributeError):
            return one_line(f"{type_name(type(value))}.{object.__getattribute__(value, '_name_')}")
    return one_line(render(value), limit=LEAF_CHARS_MAX)


def is_quick(value: Any) -> bool:
    """Return whether the text of a value is made by Python alone, and at once: no limit of time is needed."""
    kind = type(value)
    if kind is int:
        return bool(-_QUICK_MAX < value < _QUICK_MAX)
    if kind is str or kind is bytes:
        return len(value) <= _QUICK_CHARS
    return kind in PLAIN


def _key(key: Any) -> str:
    return one_line(leaf_text(key), limit=60)
