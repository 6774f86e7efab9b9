"""Strategies that lean towards the values at which programs go wrong: zero, powers of two, the ends of a range."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ordeal.errors import ConfigError

_INTEGERS = (0, 1, -1, 2, -2, 10, -10, 100, -100, 255, 256, *(s * 2**bits for bits in (15, 31, 63) for s in (1, -1)))
_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-10, -1e-10, 1e10, -1e10)
_TEXT_PIECES = (" ", "\x00", "\n", "0", "A", "é", "\N{GRINNING FACE}")


def integers(min_value: int | None = None, max_value: int | None = None) -> SearchStrategy[int]:
    """Draw integers from ``min_value`` to ``max_value``, often a boundary or next to an end. None means no bound.

    Raises ConfigError when a bound is not an integer, or they are in the wrong order.
    """
    _check_range("integers", min_value, max_value, int)
    ends = [end + step for end in (min_value, max_value) if end is not None for step in (0, 1, -1)]
    boundaries = [value for value in dict.fromkeys((*_INTEGERS, *ends)) if _inside(value, min_value, max_value)]
    drawn = st.integers(min_value, max_value)
    return drawn | st.sampled_from(boundaries) if boundaries else drawn


def floats(
    min_value: float | None = None,
    max_value: float | None = None,
    *,
    allow_nan: bool = False,
    allow_infinity: bool = False,
) -> SearchStrategy[float]:
    """Draw floats from ``min_value`` to ``max_value``, often a boundary or an end.

    Finite unless allowed to be otherwise.

    Raises ConfigError when a bound is not a number, or they are in the wrong order.
    """
    _check_range("floats", min_value, max_value, (int, float))
    ends = [float(end) for end in (min_value, max_value) if end is not None and abs(end) != float("inf")]
    boundaries = [value for value in (*_FLOATS, *ends) if _inside(value, min_value, max_value)]
    infinite = allow_infinity and (min_value is None or max_value is None)
    drawn = st.floats(min_value, max_value, allow_nan=False, allow_infinity=infinite)
    choices = [drawn, *([st.sampled_from(boundaries)] if boundaries else []), *([st.just(float("nan"))] * allow_nan)]
    return st.one_of(choices)


def strings(min_size: int = 0, max_size: int = 100) -> SearchStrategy[str]:
    """Draw texts of ``min_size`` to ``max_size`` characters, often as short or as long as possible.

    Raises ConfigError when the sizes are not whole numbers from 0, in this order.
    """
    _check_sizes("strings", min_size, max_size)
    boundaries = [piece * size for size in _sizes(min_size, max_size) for piece in _TEXT_PIECES]
    return st.text(min_size=min_size, max_size=max_size) | st.sampled_from(list(dict.fromkeys(boundaries)))


def bytes_(min_size: int = 0, max_size: int = 100) -> SearchStrategy[bytes]:
    """Draw bytes of ``min_size`` to ``max_size``, often as few or as many as possible.

    Raises ConfigError as ``strings`` does.
    """
    _check_sizes("bytes_", min_size, max_size)
    boundaries = [piece * size for size in _sizes(min_size, max_size) for piece in (b"\x00", b"\xff", b"\x80", b"A")]
    return st.binary(min_size=min_size, max_size=max_size) | st.sampled_from(list(dict.fromkeys(boundaries)))


def lists[Item](elements: SearchStrategy[Item], min_size: int = 0, max_size: int = 50) -> SearchStrategy[list[Item]]:
    """Draw lists of ``elements``, often as short as possible, or one item repeated, or sorted by their repr.

    Raises ConfigError when ``elements`` is not a strategy, or as ``strings`` does.
    """
    if not isinstance(elements, SearchStrategy):
        raise ConfigError(f"lists({elements!r}): the elements are not a strategy", hint="write lists(integers())")
    _check_sizes("lists", min_size, max_size)
    drawn = st.lists(elements, min_size=min_size, max_size=max_size)
    short = st.lists(elements, min_size=min_size, max_size=min(min_size + 1, max_size))
    # Up to the largest size of one draw: drawing each item could take longer than a test may.
    repeated = st.builds(_repeated, elements, st.sampled_from(_sizes(min_size, max_size)))
    return st.one_of(drawn, short, repeated)


def _repeated[Item](item: Item, size: int) -> list[Item]:
    return [copy.deepcopy(item) for _ in range(size)]


def _sizes(min_size: int, max_size: int) -> list[int]:
    """Return the smallest size, the one after it, and the largest."""
    return sorted({min_size, min(min_size + 1, max_size), max_size})


def _inside(value: float, low: float | None, high: float | None) -> bool:
    return (low is None or low <= value) and (high is None or value <= high)


def _check_range(name: str, low: Any, high: Any, kind: type | tuple[type, ...]) -> None:
    call = f"{name}({low!r}, {high!r})"
    for bound in (low, high):
        if bound is not None and (not isinstance(bound, kind) or isinstance(bound, bool) or bound != bound):
            raise ConfigError(f"{call}: {bound!r} is not a bound", hint="write numbers, or leave a bound out")
    if low is not None and high is not None and low > high:
        raise ConfigError(f"{call}: the lower bound is above the upper bound", hint=f"write {name}({high!r}, {low!r})")


def _check_sizes(name: str, min_size: Any, max_size: Any) -> None:
    for size in (min_size, max_size):
        if type(size) is not int or size < 0:
            raise ConfigError(f"{name}: {size!r} is not a size", hint="write whole numbers from 0")
    if min_size > max_size:
        raise ConfigError(
            f"{name}: the smallest size, {min_size}, is above the largest, {max_size}", hint="swap the two"
        )
