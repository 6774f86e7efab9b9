"""Reads JSON from any source: bounded before it is parsed, and checked field by field."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

import msgspec

from ordeal._base.formatting import one_line
from ordeal._base.limits import INPUT_BYTES_MAX, MESSAGE_CHARS_MAX
from ordeal.errors import TraceError

#: A parsed value takes up to 150 bytes, so this many take at most 600 MB: far more than any trace.
VALUES_MAX = 4_000_000

Count = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]

# Matches at every quote, even if the text ends inside a string, so each byte is read once.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+\\?(?:"|\Z)', re.DOTALL)
_BETWEEN_VALUES = (b",", b"[", b"{")


def read_json(data: bytes, where: str) -> Any:
    """Parse the JSON text ``data``; ``where`` names its source in errors.

    Raises:
        TraceError: it is too large, is not UTF-8, is not JSON, or names a field twice.
        RecursionError: it nests too deeply.
    """
    if len(data) > INPUT_BYTES_MAX:
        raise TraceError(f"{where} is larger than {INPUT_BYTES_MAX} bytes")
    count = sum(map(data.count, _BETWEEN_VALUES))  # at most this many values, without memory for them
    if count > VALUES_MAX:
        # This counted commas in strings, too.
        count = sum(map(_STRING.sub(b"", data).count, _BETWEEN_VALUES))
    if count > VALUES_MAX:
        raise TraceError(f"{where} holds {count} values; at most {VALUES_MAX} are read")
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        raise TraceError(f"{where} is not UTF-8: {error.reason} at byte {error.start}") from error
    except ValueError as error:
        raise TraceError(f"{where} is not JSON that can be read: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"the field {twice!r:.100} occurs twice")
    return read


class Record(msgspec.Struct):
    """A JSON object with fields of known types."""

    def __post_init__(self) -> None:
        """Refuse integers of more than 64 bits, for which msgspec has no bound."""
        for name in self.__struct_fields__:
            value = getattr(self, name)
            # All counts, indices and seeds fit into 64 bits; a longer number is damage or malice.
            if isinstance(value, int) and value.bit_length() > 64:
                raise ValueError(f"field `{name}` is an integer of more than 64 bits")


def checked[Kind: Record](record: Any, kind: type[Kind], where: str) -> Kind:
    """Convert ``record``, a parsed JSON value, to ``kind``, whose fields define what is valid.

    Raises:
        TraceError: it is invalid; the message names ``where`` and the field.
    """
    try:
        return msgspec.convert(record, kind)
    except ValueError as error:
        raise TraceError(f"{where}: {one_line(str(error), limit=MESSAGE_CHARS_MAX)}") from error
