"""How faults of numbers and tables change the frames and series of pandas, which are data like lists and dicts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

Change = Callable[[Any], Any]


def is_frame(value: Any) -> bool:
    """Return whether it is a DataFrame, which exists only if pandas was imported."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def is_series(value: Any) -> bool:
    """Return whether it is a Series."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.Series)


def with_items(value: Any, change: Change) -> Any:
    """Return a frame or series with every value changed, and the same labels; ``value`` itself if nothing changes."""
    if is_series(value):
        return _series_with(value, change)
    columns = [value.iloc[:, place] for place in range(value.shape[1])]
    changed = [_series_with(column, change) for column in columns]
    if all(new is old for new, old in zip(changed, columns, strict=True)):
        return value
    made = value.copy()
    for place, (new, old) in enumerate(zip(changed, columns, strict=True)):
        if new is not old:
            made.isetitem(place, new)
    return made


def _series_with(series: Any, change: Change) -> Any:
    items = series.tolist()
    changed = [change(item) for item in items]
    if all(new is old for new, old in zip(changed, items, strict=True)):
        return series
    return sys.modules["pandas"].Series(changed, index=series.index, name=series.name)


def first_items(value: Any, count: int) -> Any:
    """Return the first rows of a frame, or items of a series."""
    return value.iloc[:count]


def reordered(value: Any, order: Callable[[list[int]], list[int]]) -> Any:
    """Return a frame with its columns, or a series with its items, in the given ``order`` of positions."""
    if is_frame(value):
        return value.iloc[:, order(list(range(value.shape[1])))]
    return value.iloc[order(list(range(len(value))))]


def without(value: Any, key: Any, fill: Any, drop: object) -> Any:
    """Return a frame without a column, or a series without an item; with ``fill`` instead unless that is ``drop``."""
    labels = value.columns if is_frame(value) else value.index
    missing = key if key is not None else next(iter(labels), None)
    if missing not in labels:
        return value
    if fill is drop:
        return value.drop(columns=missing) if is_frame(value) else value.drop(missing)
    made = value.copy()
    made[missing] = fill
    return made


def of_shape(like: Any, zeros: Any) -> Any:
    """Return the array ``zeros`` as a frame or a series, if ``like`` is one and the number of dimensions is right."""
    pandas = sys.modules.get("pandas")
    if is_frame(like) and getattr(zeros, "ndim", 0) == 2:
        return pandas.DataFrame(zeros)  # type: ignore[union-attr]
    if is_series(like) and getattr(zeros, "ndim", 0) == 1:
        return pandas.Series(zeros, name=like.name)  # type: ignore[union-attr]
    return zeros
