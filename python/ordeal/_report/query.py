"""Takes values out of a report by their path, such as ``.results[0].failures[].id``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ordeal._base.formatting import name_list, one_line
from ordeal.errors import ConfigError

#: A name after a dot, an index, or empty brackets for each item.
_PART = re.compile(r"\.([A-Za-z_][\w-]*)|\[(-?\d{1,9})?\]")


def query(document: Any, path: str) -> list[Any]:
    """Return the values at ``path``, in order: none where ``[]`` meets a list without items.

    Raises:
        ConfigError: the path is not one, or leads to nothing that is there; the hint names what is.
    """
    wanted = path.removeprefix("$")
    wanted = wanted if wanted.startswith((".", "[")) or not wanted else f".{wanted}"
    parts = list(_PART.finditer(wanted))
    if "".join(part.group() for part in parts) != wanted.removesuffix("."):
        raise ConfigError(f"`{one_line(path)}` is not a path", hint="write it like `.results[0].failures[].id`")
    values = [document]
    for part in parts:
        values = [each for value in values for each in _taken(value, part, wanted[: part.end()])]
    return values


def _taken(value: Any, part: re.Match[str], so_far: str) -> Iterator[Any]:
    name, index = part.groups()
    if name is not None:
        if not isinstance(value, dict) or name not in value:
            there = f"there are: {name_list(sorted(value))}" if isinstance(value, dict) else _kind(value)
            raise ConfigError(f"`{one_line(so_far)}` is not in the report", hint=there)
        yield value[name]
    elif not isinstance(value, list):
        raise ConfigError(f"`{one_line(so_far)}` is not in the report", hint=_kind(value))
    elif not index:
        yield from value
    elif -len(value) <= int(index) < len(value):
        yield value[int(index)]
    else:
        raise ConfigError(f"`{one_line(so_far)}` is not in the report", hint=f"the list has {len(value)} items")


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return "what is before it is an object: name one of its fields"
    is_list = isinstance(value, list)
    return f"what is before it is {'a list: write `[]`, or an index like `[0]`' if is_list else 'a single value'}"
