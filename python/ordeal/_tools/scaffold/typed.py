"""Values for parameters whose type is a class: dates and amounts, members of enumerations, objects of the program.

What ``values`` knows by the text of an annotation is not repeated here.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import inspect
import re
import sys
import types
import typing
import uuid
from collections import abc
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, get_args, get_origin

from ordeal._tools.scaffold.values import NAME, Candidate, Chance, known_values, listed, optional
from ordeal._tools.scaffold.writing import free

#: Makes a candidate for objects of a class, or nothing.
Build = Callable[[type], "Candidate | None"]

_MEMBERS_MAX = 1_000


def _day(rng: Chance) -> datetime.date:
    return datetime.date(2000 + rng.randint(0, 29), rng.randint(1, 12), rng.randint(1, 28))


_STANDARD: dict[type, Candidate] = {
    datetime.date: Candidate("DAYS", "date", _day, imports=("datetime:date",)),
    datetime.time: Candidate(
        "st.times()",
        "time",
        lambda rng: datetime.time(rng.randint(0, 23), rng.randint(0, 59)),
        imports=("datetime:time",),
    ),
    decimal.Decimal: Candidate(
        "AMOUNTS",
        "Decimal",
        lambda rng: decimal.Decimal(rng.randint(-10_000, 10_000)) / 100,
        imports=("decimal:Decimal",),
    ),
    fractions.Fraction: Candidate(
        "st.fractions(-5, 5, max_denominator=8)",
        "Fraction",
        lambda rng: fractions.Fraction(rng.randint(-40, 40), rng.randint(1, 8)),
        imports=("fractions:Fraction",),
    ),
    uuid.UUID: Candidate(
        "st.uuids()", "UUID", lambda rng: uuid.UUID(int=rng.randint(0, 2**62)), imports=("uuid:UUID",)
    ),
}
_LISTS = frozenset({list, tuple, set, frozenset, abc.Sequence, abc.Iterable, abc.Collection, abc.MutableSequence})
_SETS = frozenset({set, frozenset})
_TABLES = frozenset({dict, abc.Mapping, abc.MutableMapping})


class NothingGivenError(Exception):
    """A call takes what no earlier one has returned."""


def hints_of(function: Any) -> Mapping[str, Any]:
    """Return the types of the parameters of a function or class; none where an annotation cannot be evaluated."""
    return annotated(inspect.getattr_static(function, "__init__") if isinstance(function, type) else function)


def annotated(owner: Any) -> Mapping[str, Any]:
    """Return the types of what ``owner`` itself annotates."""
    try:
        return typing.get_type_hints(owner)
    except Exception:  # noqa: BLE001 - an annotation is code of the package under trial
        return {}


def typed(kind: Any, build: Build) -> list[Candidate]:
    """Return values of a type that a class of the program or of the standard library is part of; else nothing."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (typing.Union, types.UnionType):
        found = [each for part in parts if part is not types.NoneType for each in typed(part, build) or _plain(part)]
        special = any(typed(part, build) for part in parts)
        return [optional(each) if types.NoneType in parts else each for each in found] if special else []
    if origin in _LISTS and parts and (inner := typed(parts[0], build)):
        return [listed(inner[0])] if origin not in _SETS else []
    if origin in _TABLES and len(parts) == 2 and (inner := typed(parts[1], build)):
        return [_table(inner[0])]
    if not isinstance(kind, type) or origin is not None:
        return []
    if typing.is_typeddict(kind):
        return _record(kind, build)
    if kind in _STANDARD:
        return [_STANDARD[kind]]
    if is_own(kind) and (made := build(kind)) is not None:
        return [made]
    return []


def is_own(kind: Any) -> bool:
    """Return whether a type is a class that somebody has written, of which only its objects will do."""
    return (
        isinstance(kind, type)
        and get_origin(kind) is None
        and kind.__module__.partition(".")[0] not in sys.stdlib_module_names
        and not getattr(kind, "_is_protocol", False)
        and not typing.is_typeddict(kind)
    )


def needs_own(kind: Any) -> bool:
    """Return whether values of a type are, or may be, objects of somebody's class; a choice among members is none."""
    if get_origin(kind) in (typing.Union, types.UnionType):
        return any(map(needs_own, get_args(kind)))
    return is_own(kind) and not (issubclass(kind, Enum) and len(kind) > 1)


def handle(kind: type, path: str, given: Callable[[type], list[Any]]) -> Candidate:
    """Return the objects of a class that earlier calls have returned, which ``given`` lists; ``path`` imports it."""
    name = bundle_name(kind)

    def draw(rng: Chance) -> Any:
        found = given(kind)
        if not found:
            raise NothingGivenError(f"it takes a {kind.__name__}, which could not be made")
        return rng.choice(found)

    return Candidate(name, kind.__name__, draw, (path,))


def bundle_name(kind: type) -> str:
    """Return what the bundle for the objects of a class is called."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind.__name__).lower().strip("_")
    return free(f"{name[:-1]}ies" if name.endswith("y") else f"{name}es" if name.endswith("s") else f"{name}s")


def members(kind: type[Enum], path: str) -> Candidate | None:
    """Return the members of an enumeration; ``path`` is where it is imported from."""
    found = list(kind)[:_MEMBERS_MAX]
    if not found:
        return None
    return Candidate(f"st.sampled_from({kind.__name__})", kind.__name__, lambda rng: rng.choice(found), imports=(path,))


def _record(kind: type, build: Build) -> list[Candidate]:
    """Return dicts with the keys that a ``TypedDict`` requires."""
    hints = annotated(kind)
    required = sorted(kind.__required_keys__)  # type: ignore[attr-defined]
    parts = {name: (typed(hints.get(name), build) or _plain(hints.get(name)))[:1] for name in required}
    if not parts or not all(parts.values()):
        return []
    chosen = {name: found[0] for name, found in parts.items()}
    fields = ", ".join(f'"{name}": {found.strategy}' for name, found in chosen.items())
    return [
        Candidate(
            f"st.fixed_dictionaries({{{fields}}})",
            "dict[str, object]",
            lambda rng: {name: found.draw(rng) for name, found in chosen.items()},
            imports=tuple(path for found in chosen.values() for path in found.imports),
        )
    ]


def _plain(kind: Any) -> list[Candidate]:
    return known_values(kind.__name__) if isinstance(kind, type) else []


def _table(inner: Candidate) -> Candidate:
    return Candidate(
        f"st.dictionaries(NAMES, {inner.strategy}, max_size=4)",
        f"dict[str, {inner.type}]",
        lambda rng: {NAME.draw(rng): inner.draw(rng) for _ in range(rng.randint(0, 4))},
        imports=inner.imports,
    )
