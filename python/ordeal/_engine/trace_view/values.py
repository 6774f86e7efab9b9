"""Reads the state of a machine in bounded time and size: as texts by their paths, or as one number to compare."""

from __future__ import annotations

import enum
import hashlib
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, override

from hypothesis.stateful import RuleBasedStateMachine

from ordeal._base.formatting import one_line
from ordeal._base.limits import LINE_CHARS_MAX, PARTS_MAX, SHOWN_DEPTH_MAX, TEXT_CHARS_MAX
from ordeal._base.untrusted import bounded_call, type_name
from ordeal._engine.execution.own_names import own_names
from ordeal._engine.execution.recorder import PLAIN, is_quick, render
from ordeal._native import monotonic

#: Code of the user's that shows a state may take this long for all of it, after each step.
SECONDS_MAX = 0.5
#: A collection with at most this many plain values, and this short, is shown on one line.
SHORT_ITEMS, SHORT_CHARS = 12, 72
#: The method with which a machine says itself what there is to see.
HOOK = "view_state"

LEAVES = (type, types.FunctionType, types.MethodType, types.ModuleType, BaseException, enum.Enum)
SEQUENCES = (list, tuple, deque)
SETS = (set, frozenset)
#: Objects of these packages are shown by their repr.
OPAQUE = frozenset({*sys.stdlib_module_names, "hypothesis", "ordeal", "numpy", "pandas"})


class StateReader:
    """Reads the state of machines of one class. What Hypothesis and ordeal keep in a machine is left out."""

    def __init__(self, cls: type[RuleBasedStateMachine]) -> None:
        self._hidden = own_names(cls)

    def hide(self, names: Iterable[str]) -> None:
        """Leave out some attributes of the machine besides."""
        self._hidden |= frozenset(names)

    def read(self, machine: RuleBasedStateMachine) -> dict[str, str]:
        """Return the text of each part by its path, in the order of the attributes; then the bundles."""
        walk = _Texts()
        bounded_call(lambda: self.walk(walk, machine), lambda _: walk.stop())
        return walk.rows

    def places(self, machine: RuleBasedStateMachine) -> tuple[dict[int, str], set[type], set[str]]:
        """Return the path of each object by its id, the machine's being empty; their types; and other paths to them."""
        walk = _Texts()
        bounded_call(lambda: self.walk(walk, machine), lambda _: walk.stop())
        found, types = {id(machine): ""}, {type(machine)}
        for value, path in walk.visited():
            found[id(value)] = path
            if any(True for _ in _fields(value)):
                types.add(type(value))
        return found, types, walk.aliases

    def is_plain(self, machine: RuleBasedStateMachine) -> bool:
        """Return True if looking at the state runs no code of the program: the machine has no hook for that."""
        kind = type(machine)
        return not (
            hasattr(kind, HOOK)
            or HOOK in vars(machine)
            or hasattr(kind, "__getattr__")
            or kind.__getattribute__ is not object.__getattribute__
        )

    def walk(self, walk: _Walk, machine: RuleBasedStateMachine) -> None:
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
        names = machine.names_to_values
        for bundle, references in list(machine.bundles.items()):
            held = [names[each.name] for each in references if each.name in names]
            if held:
                walk.visit(f"bundle {one_line(bundle)}", held, SHOWN_DEPTH_MAX - 1)


class _Walk:
    """Visits a value and what it holds. What several paths lead to is shown at the first one."""

    items_max = 200

    def __init__(self, left: int) -> None:
        self._left = left
        self._deadline = monotonic() + SECONDS_MAX
        self._kept: list[Any] = []  # so that no other object gets the id of one that was visited
        self._paths: dict[int, str] = {}
        self.aliases: set[str] = set()

    def leaf(self, path: str, value: Any) -> None:
        """Note a value that is not looked into."""
        self.note(path, leaf_text(value))

    def note(self, path: str, text: str) -> None:
        """Note the text of a part."""

    def holder(self, path: str, value: Any) -> None:
        """Note that a value holds the parts that are visited next."""

    def is_short(self, value: Any) -> bool:
        """Return True for a collection that is not looked into: a set, as its items have no paths."""
        return type(value) in SETS

    def visited(self) -> Iterator[tuple[Any, str]]:
        """Yield the objects that hold others, with their paths."""
        yield from ((value, self._paths[id(value)]) for value in self._kept)

    def stop(self) -> None:
        """Note that there is more."""
        if self._left >= 0:
            self.note("...", "not all of the state could be read")
        self._left = -1

    def visit(self, path: str, value: Any, depth: int) -> None:
        """Visit a value that lies ``depth`` steps below the machine."""
        kind = type(value)
        if self._left <= 0 or (kind not in PLAIN and monotonic() > self._deadline):
            self.stop()
        elif kind in PLAIN or depth >= SHOWN_DEPTH_MAX or self.is_short(value):
            self.leaf(path, value)
        elif (first := self._paths.setdefault(id(value), path)) != path:
            self.aliases.add(path)
            self.note(path, f"the same as {first}")
        else:
            self._kept.append(value)
            self.holder(path, value)
            fields = {} if kind in (dict, list, tuple) else dict(_fields(value))
            if issubclass(kind, dict):
                items = [(leaf_text(key), item) for key, item in list(dict.items(value))]
                named = ((f"{path}[{key if len(key) <= 60 else one_line(key, limit=60)}]", item) for key, item in items)
                self._several(named, path, value, depth)
            elif issubclass(kind, SEQUENCES) and not hasattr(kind, "_fields"):
                # The methods of a subclass are bypassed.
                base = next(base for base in SEQUENCES if issubclass(kind, base))
                numbered = enumerate(list(base.__iter__(value)))
                self._several(((f"{path}[{number}]", item) for number, item in numbered), path, value, depth)
            elif not fields:
                self.leaf(path, value)
            # A class of the program that is a mapping or sequence may have attributes as well.
            if fields:
                self._several(((f"{path}.{name}", item) for name, item in fields.items()), path, value, depth)

    def _several(self, parts: Iterator[tuple[str, Any]], path: str, value: Any, depth: int) -> None:
        number = 0
        for number, (name, item) in enumerate(parts, start=1):
            if number > self.items_max:
                self.note(f"{path}[...]", f"more than {self.items_max} in all")
                return
            self.visit(name, item, depth + 1)
        if not number:
            self.leaf(path, value)


class _Texts(_Walk):
    """Notes the text of each part by its path."""

    def __init__(self) -> None:
        super().__init__(TEXT_CHARS_MAX)
        self.rows: dict[str, str] = {}

    @override
    def note(self, path: str, text: str) -> None:
        self.rows[path] = text
        self._left -= len(path) + len(text)

    @override
    def is_short(self, value: Any) -> bool:
        """Return True for a collection that is shown on one line: one with a few plain values as well."""
        kind = type(value)
        if kind is not dict and kind not in SEQUENCES:
            return kind in SETS
        items = [*value, *value.values()] if kind is dict else list(value)
        is_plain = all(type(item) in PLAIN or issubclass(type(item), enum.Enum) for item in items)
        return is_plain and len(items) <= SHORT_ITEMS and len(leaf_text(value)) <= SHORT_CHARS


class StateParts(_Walk):
    """Notes the parts of a state in their order, each with its kind."""

    items_max = PARTS_MAX

    def __init__(self) -> None:
        super().__init__(PARTS_MAX)
        self._parts: list[Any] = []

    @override
    def leaf(self, path: str, value: Any) -> None:
        kind = type(value)
        if kind is int:  # Python writes no decimals of long numbers
            value = value if value.bit_length() < 1_000 else hex(value)
        elif kind in SETS:
            value = kind.__name__, sorted(repr(each) if is_quick(each) else leaf_text(each) for each in value)
        elif kind not in PLAIN:
            value = kind.__name__, leaf_text(value)
        self._parts += (path, value)
        self._left -= 1

    @override
    def note(self, path: str, text: str) -> None:
        self._parts += (path, text)

    @override
    def holder(self, path: str, value: Any) -> None:
        self._parts.append(type(value).__name__)

    def number(self) -> int:
        """Return a hash of the parts. All of them are plain, so their text is exact."""
        text = repr(self._parts).encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest())


def sketch(reader: StateReader, machine: RuleBasedStateMachine) -> int:
    """Return a number that is equal for equal states, in every process."""
    walk = StateParts()
    # The time limit itself takes a good part of the time. Without a hook, only texts of objects run code of the
    # program.
    if reader.is_plain(machine):
        reader.walk(walk, machine)
    else:
        bounded_call(lambda: reader.walk(walk, machine), lambda _: walk.stop())
    return walk.number()


def sketch_of(values: Sequence[Any]) -> int:
    """Return a number that is equal for equal values, in every process."""
    walk = StateParts()

    def visit() -> None:
        for number, value in enumerate(values):
            walk.visit(str(number), value, 1)

    bounded_call(visit, lambda _: walk.stop())
    return walk.number()


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
        text = repr(value)  # has no characters that one_line() would escape
        return text if len(text) <= LINE_CHARS_MAX else one_line(text, limit=LINE_CHARS_MAX)
    if issubclass(type(value), enum.Enum):
        with suppress(AttributeError):
            return one_line(f"{type_name(type(value))}.{object.__getattribute__(value, '_name_')}")
    return one_line(render(value), limit=LINE_CHARS_MAX)
