"""Writes values as Python source that makes them again, and puts programs together from such source."""

from __future__ import annotations

import builtins
import copyreg
import datetime
import functools
import importlib
import inspect
import math
import pathlib
import re
import struct
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterable
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any

from ordeal._base.limits import DEPTH_MAX, INTEGER_BITS_MAX, PARTS_MAX, TEXT_CHARS_MAX

#: The kinds of numpy types that have Python equivalents: booleans, numbers, texts.
NUMPY_KINDS = "biufcSU"
NAN_BITS = struct.pack(">d", math.nan)

#: The name of a folder that ``tempfile`` made ends in eight of these.
_RANDOM_NAME = r"[^/\\\s:'\"]*[a-z0-9_]{8}(?![^/\\\s:'\"])"
_STARTED = time.time()

#: What a constructor does that only keeps its arguments as attributes.
_KEEPING = frozenset({"RESUME", "LOAD_CONST", "LOAD_COMMON_CONSTANT", "RETURN_CONST", "RETURN_VALUE", "NOP", "CACHE"})


class NoSourceError(Exception):
    """No source is certain to make an equal value."""


class SourceWriter:
    """Writes values and collects what their source needs.

    ``known`` returns the expression that leads to a value, None for a value to be written. No module may be called by
    one of the names ``taken``.

    Attributes:
        modules: what must be imported, by full name.
        folders: the variables that stand for temporary folders of this process, by path.
    """

    def __init__(self, known: Callable[[Any], str | None] | None = None, taken: frozenset[str] = frozenset()) -> None:
        self.modules: set[str] = set()
        self.folders: dict[str, str] = {}
        self._known = known
        self._taken = taken
        self._parts = 0
        self._writers: dict[type, Callable[[Any, int], str]] = {
            bool: lambda value, _: repr(value),
            type(None): lambda value, _: repr(value),
            type(Ellipsis): lambda *_: "...",
            type(NotImplemented): lambda value, _: repr(value),
            int: lambda value, _: repr(value) if value.bit_length() <= INTEGER_BITS_MAX else hex(value),
            float: lambda value, _: self._float(value),
            complex: lambda value, _: f"complex({self._float(value.real)}, {self._float(value.imag)})",
            str: lambda value, _: self._text(value),
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
            functools.partial: self._partial,
            pathlib.PurePosixPath: self._path,
            pathlib.PosixPath: self._path,
            types.ModuleType: lambda value, _: self._import(value.__name__),
            # What is not loaded has no values, and need not be loaded to say so.
            _loaded("zoneinfo", "ZoneInfo"): self._zone,
            _loaded("uuid", "UUID"): lambda value, _: f"{self._import('uuid')}.{value!r}",
        }

    def write(self, value: Any, depth: int = 0) -> str:
        """Return an expression that makes an equal value of the same type.

        Raises:
            NoSourceError: no expression is known to be right, or it would be too large to read.
        """
        known = None if self._known is None else self._known(value)
        if known is not None:
            return known
        self._parts += 1
        if depth > DEPTH_MAX or self._parts > PARTS_MAX:
            raise NoSourceError("too large")
        kind = type(value)
        writer = self._writers.get(kind)
        if writer is not None:
            return writer(value, depth + 1)
        if issubclass(kind, Enum):
            # A combination of flags may have a name that its class does not define, or none at all.
            name, content = str(value.name), value.value
            if name.isidentifier() and getattr(kind, name, None) is value:
                return f"{self._named(kind)}.{name}"
            if kind(content) is value or kind(content) == value:
                return f"{self._named(kind)}({self.write(content, depth + 1)})"
            raise NoSourceError("an enum value that its class does not give")
        if (
            issubclass(kind, type)
            or kind is type(_sized)
            or (kind is type(len) and isinstance(value.__self__, types.ModuleType | None))
        ):
            return self._named(value)
        package = kind.__module__.partition(".")[0]
        if package in ("numpy", "pandas") and package in sys.modules:
            return (self._of_numpy if package == "numpy" else self._of_pandas)(value, sys.modules[package], depth + 1)
        content = _content(value)
        if content is not None:
            return f"{self._named(kind)}({self._named_arguments(content, depth + 1)})"
        call, arguments = _reduced(value)
        return f"{self._named(call)}({self._all(arguments, depth + 1)})"

    # the values that Python has literals for, and those of the standard library

    def _float(self, value: float) -> str:
        bits = struct.pack(">d", value)
        if math.isinf(value):
            return "float('inf')" if value > 0 else "-float('inf')"
        if not math.isnan(value):
            return repr(value)
        if bits[1:] == NAN_BITS[1:]:
            return "float('nan')" if bits == NAN_BITS else "-float('nan')"
        return f"{self._import('struct')}.unpack('>d', bytes.fromhex('{bits.hex()}'))[0]"

    def _text(self, value: str) -> str:
        """Write a text, in which a temporary folder of this process stands as a variable."""
        root = tempfile.gettempdir()
        if root not in value or len(value) > TEXT_CHARS_MAX:
            return _sized(value)
        parts = re.split(f"({re.escape(root)}[/\\\\]{_RANDOM_NAME})", value)
        for place in range(1, len(parts), 2):
            try:
                is_older = Path(parts[place]).stat().st_ctime < _STARTED
            except (OSError, ValueError):
                is_older = False  # it is gone since Python started
            if is_older:
                return _sized(value)
        written = [
            self.folders.setdefault(part, f"folder_{len(self.folders) + 1}") if place % 2 else repr(part)
            for place, part in enumerate(parts)
            if part
        ]
        return written[0] if len(written) == 1 else f"({' + '.join(written)})"

    def _path(self, value: pathlib.PurePath, depth: int) -> str:
        return f"{self._named(type(value))}({self.write(str(value), depth)})"

    def _all(self, values: Iterable[Any], depth: int) -> str:
        return ", ".join([self.write(value, depth) for value in values])

    def _ordered(self, values: Iterable[Any], depth: int) -> str:
        # The order of a set depends on the process; the sorted order of its texts does not.
        return ", ".join(sorted(self.write(value, depth) for value in values))

    def _dict(self, value: dict[Any, Any], depth: int) -> str:
        items = [f"{self.write(key, depth)}: {self.write(item, depth)}" for key, item in value.items()]
        return f"{{{', '.join(items)}}}"

    def _named_arguments(self, content: dict[str, Any], depth: int) -> str:
        return ", ".join([f"{name}={self.write(item, depth)}" for name, item in content.items()])

    def _by_repr(self, value: Any, _depth: int) -> str:
        self._import("datetime")
        return repr(value)

    def _moment(self, value: datetime.time | datetime.datetime, depth: int) -> str:
        if value.tzinfo is None:
            return self._by_repr(value, depth)
        zone = "datetime.UTC" if value.tzinfo is datetime.UTC else self.write(value.tzinfo, depth)
        return f"{self._by_repr(value.replace(tzinfo=None), depth)[:-1]}, tzinfo={zone})"

    def _zone(self, value: Any, depth: int) -> str:
        if not isinstance(value.key, str):
            raise NoSourceError("a time zone without a name")
        return f"{self._import('zoneinfo')}.ZoneInfo({self.write(value.key, depth)})"

    def _partial(self, value: functools.partial[Any], depth: int) -> str:
        if vars(value):
            raise NoSourceError("a partial function with attributes")
        arguments = [self.write(each, depth) for each in (value.func, *value.args)]
        arguments += [self._named_arguments({name: item}, depth) for name, item in value.keywords.items()]
        return f"{self._import('functools')}.partial({', '.join(arguments)})"

    # values of other libraries

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
        text, module = self.write(content, depth), self._import("numpy")
        return f"{module}.array({text}, dtype='{value.dtype.str}')" if is_array else f"{module}.{kind.__name__}({text})"

    def _of_pandas(self, value: Any, pandas: Any, depth: int) -> str:
        """Write a table, a column, an index or a moment, if making it from Python's own values gives an equal one."""
        kind = type(value)
        if kind not in (pandas.DataFrame, pandas.Series, pandas.Index, pandas.RangeIndex, pandas.Timestamp):
            raise NoSourceError(f"a {kind.__name__} of pandas")
        if kind is pandas.Timestamp:
            content: dict[str, Any] = {"ts_input": value.isoformat()}
        elif kind is pandas.DataFrame:
            columns = {name: value.iloc[:, place] for place, name in enumerate(value.columns)}
            content = {"data": columns, "index": value.index, "columns": value.columns}
        elif kind is pandas.RangeIndex:
            content = {"start": value.start, "stop": value.stop, "step": value.step, "name": value.name}
        else:
            content = {"data": value.tolist(), "dtype": str(value.dtype), "name": value.name}
            content |= {"index": value.index} if kind is pandas.Series else {}
        again = kind(**content)
        if hasattr(again, "equals"):
            is_equal = again.equals(value)
        else:
            is_equal = again == value and again.tzinfo is value.tzinfo
        dtypes = [str(getattr(each, "dtypes", getattr(each, "dtype", ""))) for each in (again, value)]
        if not is_equal or dtypes[0] != dtypes[1] or type(again) is not kind:
            raise NoSourceError(f"a {kind.__name__} that is not made of Python's values")
        return f"{self._import('pandas')}.{kind.__name__}({self._named_arguments(content, depth)})"

    # names

    def _named(self, value: Any) -> str:
        """Write a class or function by its module and name, if that leads to it."""
        module, name = str(getattr(value, "__module__", None)), str(getattr(value, "__qualname__", ""))
        if module == "builtins" and not hasattr(builtins, name):
            module = "types"  # of None, for one
        if module == "__main__" or not leads_to(module, name, value):
            raise NoSourceError(f"{name or 'a value'} has no name that leads to it")
        return name if module == "builtins" else f"{self._import(public_module(module, name, value))}.{name}"

    def _import(self, module: str) -> str:
        """Return the expression for a module, which the program imports."""
        if module.partition(".")[0] in self._taken:
            self.modules.add("importlib")
            return f"importlib.import_module({module!r})"
        self.modules.add(module)
        return module


def leads_to(module: str, name: str, value: object) -> bool:
    """Return True if a dotted ``name`` in a module is ``value``."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value


def public_module(module: str, name: str, value: object) -> str:
    """Return the module from which a program imports ``value``: a package may gather names of private modules."""
    parts = module.split(".")
    if not any(part.startswith("_") for part in parts):
        return module
    outer = [".".join(parts[:length]) for length in range(1, len(parts))]
    return next((each for each in outer if leads_to(each, name, value)), module)


def _content(value: Any) -> dict[str, Any] | None:
    """Return the arguments of the constructor that makes an equal value; None if nothing is sure to."""
    kind = type(value)
    if issubclass(kind, tuple) and hasattr(kind, "_fields") and not hasattr(value, "__dict__"):
        return {name: getattr(value, name) for name in kind._fields}
    if "__dataclass_params__" in kind.__dict__:
        # One whose constructor sets exactly its fields.
        plain = kind.__dataclass_params__.init and not hasattr(kind, "__post_init__")
        if not plain or not all(field.init for field in fields(value)):
            raise NoSourceError(f"a {kind.__name__} cannot be written as source")
        names = [field.name for field in fields(value)]
        if set(getattr(value, "__dict__", names)) != set(names):
            raise NoSourceError(f"a {kind.__name__} with attributes beyond its fields")
        return {name: getattr(value, name) for name in names}
    kept = _kept_arguments(kind)
    held = getattr(value, "__dict__", None)
    if kept is None or (held is not None and set(held) != set(kept.values())):
        return None
    return {name: getattr(value, attribute) for name, attribute in kept.items()}


def _kept_arguments(kind: Any) -> dict[str, str] | None:
    """Return the attribute in which a constructor keeps each of its arguments, if it does nothing else."""
    code = getattr(kind.__init__, "__code__", None)
    special = (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS) if code is None else code.co_flags
    if code is None or special & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS) or code.co_posonlyargcount > 1:
        return None
    if kind.__new__ is not object.__new__ or type(kind).__call__ is not type.__call__:
        return None
    # Loaded late: few programs have such values.
    instructions = importlib.import_module("dis").get_instructions(code)
    loads: list[str] = []
    kept: dict[str, str] = {}
    for each in instructions:
        if each.opname.startswith("LOAD_FAST"):
            loads += each.argval if isinstance(each.argval, tuple) else [each.argval]
        elif each.opname == "STORE_ATTR" and len(loads) == 2:
            kept[loads[0]] = each.argval
            loads = []
        elif each.opname not in _KEEPING:
            return None
    wanted = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    return {name: kept[name] for name in wanted} if wanted and set(kept) == set(wanted) else None


def _reduced(value: Any) -> tuple[Any, Iterable[Any]]:
    """Return the call that ``pickle`` would make for a value, with its arguments, if that is all it would do."""
    kind: Any = type(value)
    reduce = copyreg.dispatch_table.get(kind)
    problem = f"a {kind.__name__} cannot be written as source"
    if reduce is None and kind.__reduce__ is object.__reduce__ and kind.__reduce_ex__ is object.__reduce_ex__:
        raise NoSourceError(problem)
    try:
        made = reduce(value) if reduce is not None else value.__reduce_ex__(4)
        call, arguments, state, items, pairs = (*made, None, None, None)[:5]
    except Exception as error:
        raise NoSourceError(problem) from error
    if state is not None or isinstance(made, str) or getattr(call, "__module__", "") == "copyreg":
        raise NoSourceError(problem)
    if items is not None:
        arguments = [list(items), *arguments[1:]]
    return call, arguments if pairs is None else [*arguments, dict(pairs)]


def _loaded(module: str, name: str) -> Any:
    return getattr(sys.modules.get(module), name, None)


def without_folders(text: str) -> str:
    """Return a text for people without the names of temporary folders, which differ each time."""
    root = tempfile.gettempdir()
    return re.sub(f"{re.escape(root)}[/\\\\]{_RANDOM_NAME}", "<folder>", text) if root in text else text


def _sized(value: str | bytes) -> str:
    if len(value) > TEXT_CHARS_MAX:
        raise NoSourceError("too large")
    return repr(value)


def in_double_quotes(text: str) -> str:
    """Return the source of a text as a formatter would leave it."""
    escaped = repr(f'{text}"')[1:-2]  # with a double quote in it, a text is written in single ones
    return '"' + escaped.replace("\\'", "'").replace('"', '\\"') + '"'
