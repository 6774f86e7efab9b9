"""Reads the state of a machine as one number, to compare many states quickly: no text is made of what is plain."""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Sequence
from itertools import chain
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine

from ordeal._base.untrusted import bounded_call
from ordeal._engine.trace_view.values import (
    DEPTH_MAX,
    LEAVES,
    OPAQUE,
    PLAIN,
    SEQUENCES,
    SETS,
    StateReader,
    is_quick,
    leaf_text,
)

#: What lies behind so many parts of a state is not compared.
PARTS_MAX = 20_000
_AS_THEY_ARE = frozenset({*PLAIN} - {int})
#: Python writes a number of more digits only if it is told to.
_DECIMAL_MAX = 1 << 200


def sketch(reader: StateReader, machine: RuleBasedStateMachine) -> int:
    """Return a number that is equal for equal states, in every process."""
    # To limit the time takes a good part of it, and most states need no limit.
    if reader.is_plain(machine):
        walk = _Sketch(is_bounded=False)
        try:
            reader.walk(walk, machine)
        except Exception:  # noqa: BLE001 - whatever it is, it happens again below, in bounded time
            pass
        else:
            return _number(walk.parts)
    walk = _Sketch()
    bounded_call(lambda: reader.walk(walk, machine), lambda _: walk.stop())
    return _number(walk.parts)


def sketch_of(values: Sequence[Any]) -> int:
    """Return a number that is equal for equal values, in every process."""
    walk = _Sketch()

    def visit() -> None:
        for number, value in enumerate(values):
            walk.visit(str(number), value, 1)

    bounded_call(visit, lambda _: walk.stop())
    return _number(walk.parts)


def _number(parts: list[Any]) -> int:
    """Return the number of parts, all of which are plain: their text is exact."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=7).digest())


class _SlowError(Exception):
    """What comes may take long: code of the program, or more parts than are compared."""


class _Sketch:
    """Notes the parts of a state in their order, each with what tells its kind.

    One that ``is_bounded`` may ask objects of the program for their text.
    """

    def __init__(self, *, is_bounded: bool = True) -> None:
        self._is_bounded = is_bounded
        self.parts: list[Any] = []
        self._seen: dict[int, int] = {}

    def stop(self) -> None:
        """Note that there is more."""
        self.parts.append("...")

    def visit(self, path: str, value: Any, depth: int) -> None:
        """Note a value under its name."""
        self.parts.append(path)
        self._take(value, depth)

    def _take(self, value: Any, depth: int) -> None:
        kind, parts = type(value), self.parts
        if len(parts) >= PARTS_MAX:
            return
        if kind is int:
            parts.append(value if -_DECIMAL_MAX < value < _DECIMAL_MAX else (hex(value),))  # decimals have a limit
            return
        if kind in _AS_THEY_ARE:
            parts.append(value)
            return
        base, names = _KINDS.get(kind) or _kind_of(kind)
        if base is enum.Enum:
            parts += (kind.__name__, value._name_)
        elif depth >= DEPTH_MAX:
            self._take_text(value)
        elif (first := self._seen.setdefault(id(value), len(parts))) != len(parts):
            parts += ("the same", first)
        else:
            self._take_parts(value, kind, base, names, depth + 1)

    def _take_all(self, values: list[Any], depth: int) -> None:
        parts = self.parts
        for value in values:
            # Most are such values, and a call takes longer than to note them.
            if type(value) in _AS_THEY_ARE and len(parts) < PARTS_MAX:
                parts.append(value)
            else:
                self._take(value, depth)

    def _take_parts(
        self, value: Any, kind: type[Any], base: type[Any] | None, names: tuple[str, ...] | None, depth: int
    ) -> None:
        parts = self.parts
        if base is dict:
            parts += ("dict", self._size(dict.__len__(value)))
            self._take_all(list(chain.from_iterable(list(dict.items(value)))), depth)
        elif base is set:
            self._size(len(value))
            parts += ("set", *sorted(map(self._alone, value)))
        elif base is not None:
            parts += (base.__name__, self._size(base.__len__(value)))
            self._take_all(list(base.__iter__(value)), depth)
        else:
            if names is None or not self._take_fields(value, kind, names, depth):
                self._take_text(value)
            return
        if names is not None:  # a mapping of the program may have attributes as well
            self._take_fields(value, kind, names, depth)

    def _size(self, size: int) -> int:
        if size > PARTS_MAX and not self._is_bounded:
            raise _SlowError
        return size

    def _alone(self, value: Any) -> int:
        walk = _Sketch(is_bounded=self._is_bounded)
        walk.visit("", value, DEPTH_MAX - 1)
        return _number(walk.parts)

    def _take_text(self, value: Any) -> None:
        if not (self._is_bounded or is_quick(value)):
            raise _SlowError
        self.parts.append(leaf_text(value))

    def _take_fields(self, value: Any, kind: type[Any], names: tuple[str, ...], depth: int) -> bool:
        """Note the attributes of an object. Return whether it has any."""
        self.parts.append(kind.__name__)
        try:
            found = object.__getattribute__(value, "__dict__")
        except AttributeError:
            found = {}
        before = len(self.parts)
        if type(found) is dict:
            self._take_all(list(chain.from_iterable(list(found.items()))), depth)
        for name in names:
            try:
                item = object.__getattribute__(value, name)
            except AttributeError:
                continue
            self.visit(name, item, depth)
        return len(self.parts) > before


#: Of what kind each type is, and the names of its fields that are in no dictionary; None for what is not looked into.
_KINDS: dict[type[Any], tuple[type[Any] | None, tuple[str, ...] | None]] = {}


def _kind_of(kind: type[Any]) -> tuple[type[Any] | None, tuple[str, ...] | None]:
    """Return the type that a value is noted as, None for an object with fields, and the names of those."""
    base: type[Any] | None = None
    if issubclass(kind, enum.Enum):
        base = enum.Enum
    elif issubclass(kind, dict):
        base = dict
    elif issubclass(kind, SEQUENCES) and not hasattr(kind, "_fields"):
        base = next(each for each in SEQUENCES if issubclass(kind, each))
    elif kind in SETS:
        base = set
    found = _KINDS[kind] = base, _slots_of(kind)
    return found


def _slots_of(kind: type[Any]) -> tuple[str, ...] | None:
    module = type.__getattribute__(kind, "__module__")
    if issubclass(kind, (*LEAVES, enum.Enum)) or not isinstance(module, str):
        return None
    if module.partition(".")[0] in OPAQUE:
        return None
    names: dict[str, None] = {}
    for base in kind.__mro__:
        slots = vars(base).get("__slots__", ())
        names |= dict.fromkeys((slots,) if isinstance(slots, str) else tuple(slots))
    if issubclass(kind, tuple):
        names |= dict.fromkeys(map(str, getattr(kind, "_fields", ())))
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))
