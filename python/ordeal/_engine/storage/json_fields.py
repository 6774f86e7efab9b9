"""Reads JSON that somebody else may have written: bounded before it is parsed, and checked field by field."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from ordeal.errors import TraceError

SIZE_MAX = 256 * 2**20
#: A parsed value takes up to 150 bytes, so this many take 600 MB at worst: far more than a trace has.
VALUES_MAX = 4_000_000
#: All that is counted, numbered or seeded fits into 64 bits; a longer number is damage or malice.
INTEGER_BITS_MAX = 64

# It matches wherever a quote is, also when the text ends inside a string, so that it looks at each byte once.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+\\?(?:"|\Z)', re.DOTALL)
_BETWEEN_VALUES = (b",", b"[", b"{")


def read_json(data: bytes, where: str) -> Any:
    """The value that the JSON text ``data`` holds; ``where`` names its source in errors.

    Raises:
        TraceError: it is too large, is not UTF-8, is not JSON, or names a field twice.
        RecursionError: it nests too deeply.
    """
    if len(data) > SIZE_MAX:
        raise TraceError(f"{where} is larger than {SIZE_MAX} bytes")
    if (count := _count_values(data)) > VALUES_MAX:
        raise TraceError(f"{where} holds {count} values; at most {VALUES_MAX} are read")
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        raise TraceError(f"{where} is not UTF-8: {error.reason} at byte {error.start}") from error
    except ValueError as error:
        raise TraceError(f"{where} is not JSON that can be read: {error}") from error


def _count_values(data: bytes) -> int:
    """How many values the text has at most, told by what stands between them; without memory for any of them."""
    count = sum(map(data.count, _BETWEEN_VALUES))
    # Commas in strings count as well, which matters only to a text that seems to hold too much.
    return count if count <= VALUES_MAX else sum(map(_STRING.sub(b"", data).count, _BETWEEN_VALUES))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"the field {twice!r:.100} is there twice")
    return read


def nesting(value: Any) -> int:
    """How deep lists and objects lie in each other in a parsed value; 0 for one that is neither."""
    depth, level = 0, [value]
    while level := [each for each in level if isinstance(each, list | dict)]:
        depth += 1
        level = [item for each in level for item in (each.values() if isinstance(each, dict) else each)]
    return depth


class FieldReader:
    """Reads typed fields of a JSON object and names what is wrong with them: ``where`` is its source and place."""

    def __init__(self, record: Any, where: str) -> None:
        if not isinstance(record, dict):
            raise TraceError(f"{where} is not a JSON object but {type(record).__name__}")
        self._record = record
        self._where = where

    def refuse_others(self, known: Collection[str]) -> None:
        """Raise ``TraceError`` for the first field that is not ``known``."""
        for name in self._record:
            if name not in known:
                raise TraceError(f"{self._where} has the unknown field {name!r:.100}")

    def holds(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self._record.get(name) is not None

    def _get(self, name: str, kind: type, expected: str) -> Any:
        if name not in self._record:
            raise TraceError(f"{self._where} has no field {name!r}")
        value = self._record[name]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise TraceError(f"{self._where}: field {name!r} is not {expected} but {type(value).__name__}")
        return value

    def text(self, name: str) -> str:
        """A field that is a text."""
        return str(self._get(name, str, "a text"))

    def integer(self, name: str) -> int:
        """A field that is an integer of at most 64 bits."""
        value = int(self._get(name, int, "an integer"))
        if value.bit_length() > INTEGER_BITS_MAX:
            raise TraceError(f"{self._where}: field {name!r} is an integer of more than {INTEGER_BITS_MAX} bits")
        return value

    def number(self, name: str, *, magnitude_max: float) -> float:
        """A field that is a number, with or without a fraction, from -``magnitude_max`` to ``magnitude_max``."""
        is_whole = isinstance(self._record.get(name), int)
        value = self.integer(name) if is_whole else self._get(name, float, "a number")
        # NaN compares false with everything.
        if not -magnitude_max <= value <= magnitude_max:
            raise TraceError(f"{self._where}: field {name!r} is {value}, beyond {magnitude_max:g}")
        return float(value)

    def items(self, name: str, *, count_max: int | None = None) -> list[Any]:
        """A field that is a list, of at most ``count_max`` items."""
        items = list(self._get(name, list, "a list"))
        if count_max is not None and len(items) > count_max:
            raise TraceError(f"{self._where}: field {name!r} has {len(items)} items; at most {count_max} are read")
        return items

    def texts(self, name: str) -> list[str]:
        """A field that is a list of texts."""
        items = self.items(name)
        if not all(isinstance(item, str) for item in items):
            raise TraceError(f"{self._where}: field {name!r} is not a list of texts")
        return items

    def mapping(self, name: str) -> dict[str, Any]:
        """A field that is an object."""
        return dict(self._get(name, dict, "an object"))

    def values_by_name(self, name: str, *, nesting_max: int) -> dict[str, Any]:
        """A field that is an object of any values that nest at most ``nesting_max`` deep."""
        mapping = self.mapping(name)
        for key, value in mapping.items():
            if nesting(value) > nesting_max:
                raise TraceError(f"{self._where}: {key!r:.100} of {name!r} nests deeper than {nesting_max} levels")
        return mapping

    def texts_by_name(self, name: str) -> dict[str, str]:
        """A field that is an object of texts."""
        mapping = self.mapping(name)
        for key, value in mapping.items():
            if not isinstance(value, str):
                raise TraceError(f"{self._where}: {key!r:.100} of {name!r} is not a text but {type(value).__name__}")
        return mapping
