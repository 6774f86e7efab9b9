"""Writes values as Python source that makes them again."""

from __future__ import annotations

import datetime
import decimal
import fractions
import ipaddress
import math
import pathlib
import struct
import sys
import uuid
from collections.abc import Callable, Iterable
from dataclasses import fields
from enum import Enum
from typing import Any

DEPTH_MAX = 40
PARTS_MAX = 5_000
SIZE_MAX = 20_000
#: Above this, Python reads decimal digits too slowly, or refuses to.
DECIMAL_BITS_MAX = 1_024
#: The kinds of numpy types that have Python equivalents: booleans, numbers, texts.
NUMPY_KINDS = "biufcSU"
NAN_BITS = struct.pack(">d", math.nan)

_BY_REPR_IN_MODULE: dict[type, str] = {
    decimal.Decimal: "decimal",
    fractions.Fraction: "fractions",
    uuid.UUID: "uuid",
    ipaddress.IPv4Address: "ipaddress",
    ipaddress.IPv6Address: "ipaddress",
    ipaddress.IPv4Network: "ipaddress",
    ipaddress.IPv6Network: "ipaddress",
    pathlib.PurePosixPath: "pathlib",
    pathlib.PosixPath: "pathlib",
}


class NoSourceError(Exception):
    """No source is certain to make an equal value."""


class LiteralWriter:
    """Writes values and collects the modules that their source needs, which must be imported by full name."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self._parts = 0
        self._writers: dict[type, Callable[[Any, int], str]] = {
            bool: lambda value, _: repr(value),
            type(None): lambda value, _: repr(value),
            type(Ellipsis): lambda *_: "...",
            int: lambda value, _: repr(value) if value.bit_length() <= DECIMAL_BITS_MAX else hex(value),
            float: lambda value, _: self._float(value),
            complex: lambda value, _: f"complex({self._float(value.real)}, {self._float(value.imag)})",
            str: lambda value, _: _sized(value),
            bytes: lambda value, _: _sized(value),
            bytearray: lambda value, _: f"bytearray({_sized(bytes(value))})",
            list: lambda value, depth: f"[{self._all(value, depth)}]",
            tuple: lambda value, depth: f"({self._all(value, depth)}{',' if len(value) == 1 else ''})",
            set: lambda value, depth: f"{{{self._ordered(value, depth)}}}" if value else "set()",
            frozenset: lambda value, depth: f"frozenset({{{self._ordered(value, depth)}}})" if value else "frozenset()",
            dict: self._dict,
            datetime.timedelta: self._by_repr,
            datetime.date: self._by_repr,
            datetime.timezone: self._by_repr,
            datetime.time: self._moment,
            datetime.datetime: self._moment,
            range: lambda value, _: repr(value),
            slice: lambda value, depth: f"slice({self._all((value.start, value.stop, value.step), depth)})",
        }

    def write(self, value: Any, depth: int = 0) -> str:
        """Return an expression that makes an equal value of the same type.

        Raises:
            NoSourceError: no expression is known to be right, or it would be too large to read.
        """
        self._parts += 1
        if depth > DEPTH_MAX or self._parts > PARTS_MAX:
            raise NoSourceError("too large")
        kind = type(value)
        writer = self._writers.get(kind)
        if writer is not None:
            return writer(value, depth + 1)
        if kind in _BY_REPR_IN_MODULE:
            module = _BY_REPR_IN_MODULE[kind]
            self.modules.add(module)
            return f"{module}.{value!r}"
        if isinstance(value, Enum):
            return self._enum_member(value)
        if isinstance(value, type) or kind is type(_sized) or kind is type(len):
            return self._named(value)
        if kind.__module__ == "numpy" and "numpy" in sys.modules:
            return self._of_numpy(value, sys.modules["numpy"], depth + 1)
        return self._record(value, depth + 1)

    def _float(self, value: float) -> str:
        bits = struct.pack(">d", value)
        if math.isinf(value):
            return "float('inf')" if value > 0 else "-float('inf')"
        if not math.isnan(value):
            return repr(value)
        if bits[1:] == NAN_BITS[1:]:
            return "float('nan')" if bits == NAN_BITS else "-float('nan')"
        self.modules.add("struct")
        return f"struct.unpack('>d', bytes.fromhex('{bits.hex()}'))[0]"

    def _all(self, values: Iterable[Any], depth: int) -> str:
        return ", ".join([self.write(value, depth) for value in values])

    def _ordered(self, values: Iterable[Any], depth: int) -> str:
        # The order of a set depends on the process; the sorted order of its texts does not.
        return ", ".join(sorted(self.write(value, depth) for value in values))

    def _dict(self, value: dict[Any, Any], depth: int) -> str:
        items = [f"{self.write(key, depth)}: {self.write(item, depth)}" for key, item in value.items()]
        return f"{{{', '.join(items)}}}"

    def _by_repr(self, value: Any, _depth: int) -> str:
        self.modules.add("datetime")
        return repr(value)

    def _moment(self, value: datetime.time | datetime.datetime, depth: int) -> str:
        if value.tzinfo is not None and type(value.tzinfo) is not datetime.timezone:
            raise NoSourceError("a time zone that is not a fixed offset")
        text = self._by_repr(value, depth)
        return text.replace("datetime.timezone.utc", "datetime.UTC") if value.tzinfo is datetime.UTC else text

    def _of_numpy(self, value: Any, numpy: Any, depth: int) -> str:
        """Write an array or a scalar, if making it from Python's own values gives the same bytes."""
        kind, is_array = type(value), type(value) is numpy.ndarray
        if not (is_array or issubclass(kind, numpy.generic)) or value.dtype.kind not in NUMPY_KINDS:
            raise NoSourceError(f"a {kind.__name__} of numpy")
        if value.size > PARTS_MAX:
            raise NoSourceError("too large")
        content = value.tolist()
        again = numpy.array(content, dtype=value.dtype) if is_array else kind(content)
        if again.shape != value.shape or again.tobytes() != value.tobytes():
            raise NoSourceError(f"a {kind.__name__} that is not made of Python's values")
        self.modules.add("numpy")
        text = self.write(content, depth)
        return f"numpy.array({text}, dtype='{value.dtype.str}')" if is_array else f"numpy.{kind.__name__}({text})"

    def _enum_member(self, value: Enum) -> str:
        # A combination of flags may have a name that its class does not define, or none at all.
        if getattr(type(value), str(value.name), None) is not value:
            raise NoSourceError("an enum value without a name")
        return f"{self._named(type(value))}.{value.name}"

    def _record(self, value: Any, depth: int) -> str:
        kind = type(value)
        if isinstance(value, tuple) and hasattr(kind, "_fields") and not hasattr(value, "__dict__"):
            content = {name: getattr(value, name) for name in kind._fields}
        else:
            content = _dataclass_content(value)
        arguments = ", ".join([f"{name}={self.write(item, depth)}" for name, item in content.items()])
        return f"{self._named(kind)}({arguments})"

    def _named(self, value: Any) -> str:
        """Write a class or function by its module and name, if that leads to it."""
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
        found: Any = sys.modules.get(str(module))
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not value or module == "__main__":
            raise NoSourceError(f"{value!r:.100} has no name that leads to it")
        if module == "builtins":
            return str(name)
        self.modules.add(str(module))
        return f"{module}.{name}"


def _dataclass_content(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass whose constructor sets exactly these."""
    kind = type(value)
    parameters = kind.__dict__.get("__dataclass_params__")
    plain = parameters is not None and parameters.init and not hasattr(kind, "__post_init__")
    if not plain or not all(field.init for field in fields(value)):
        raise NoSourceError(f"a {kind.__name__} cannot be written as source")
    names = [field.name for field in fields(value)]
    if set(getattr(value, "__dict__", names)) != set(names):
        raise NoSourceError(f"a {kind.__name__} with attributes beyond its fields")
    return {name: getattr(value, name) for name in names}


def _sized(value: str | bytes) -> str:
    if len(value) > SIZE_MAX:
        raise NoSourceError("too large")
    return repr(value)
