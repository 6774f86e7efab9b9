"""Invariants on vectors and matrices; numpy is imported when one is checked."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from ordeal.errors import ConfigError
from ordeal.invariants.check import Invariant, shown

#: Vectors of 4,096 32-bit floats that were normalised are off by 1.2e-7.
TOLERANCE = 1e-6


def unit_normalized(tol: float = TOLERANCE) -> Invariant:
    """Check that every vector (along the last axis) has a length within ``tol`` of 1.

    Raises ConfigError for a bad ``tol``.
    """

    def check(np: Any, array: Any) -> str | None:
        if array.ndim == 0 or array.size == 0:
            return f"an array of shape {array.shape} holds no vector"
        lengths = np.linalg.norm(array, axis=-1)
        # Compared this way round, because a NaN compares as false.
        bad = np.argwhere(~(abs(lengths - 1) <= tol))
        if not len(bad):
            return None
        at = tuple(int(place) for place in bad[0])
        vector = f"value[{', '.join(map(str, at))}]" if at else "the vector"
        return f"{vector} has length {float(lengths[at])!r}, not 1"

    return _on_arrays("unit_normalized", tol, check)


def orthonormal(tol: float = TOLERANCE) -> Invariant:
    """Check that the columns of the matrix have length 1 and are orthogonal, within ``tol``.

    Raises ConfigError for a bad ``tol``.
    """

    def check(np: Any, array: Any) -> str | None:
        if array.ndim != 2:
            return _no_matrix(array)
        products = array.conj().T @ array
        bad = np.argwhere(~(abs(products - np.eye(array.shape[1])) <= tol))
        if not len(bad):
            return None
        row, column = (int(place) for place in bad[0])
        product = products[row, column].item()
        if row == column:
            return f"the square of column {row}'s length is {product!r}, not 1"
        return f"the product of columns {row} and {column} is {product!r}, not 0"

    return _on_arrays("orthonormal", tol, check)


def symmetric(tol: float = TOLERANCE) -> Invariant:
    """Check that the matrix is its own transpose, within ``tol``. Raises ConfigError for a bad ``tol``."""
    return _on_arrays("symmetric", tol, lambda np, array: _asymmetry(np, array, tol))


def positive_semi_definite(tol: float = TOLERANCE) -> Invariant:
    """Check that the matrix is symmetric and no eigenvalue is below ``-tol``. Raises ConfigError for a bad ``tol``."""

    def check(np: Any, array: Any) -> str | None:
        said = _asymmetry(np, array, tol)
        if said is not None or array.size == 0:
            return said
        if not np.isfinite(array).all():
            return "it has entries that are not finite"
        smallest = float(np.linalg.eigvalsh((array + array.T) / 2)[0])
        return None if smallest >= -tol else f"its smallest eigenvalue is {smallest!r}"

    return _on_arrays("positive_semi_definite", tol, check)


def rank_bounded(min_rank: int = 0, max_rank: int | None = None) -> Invariant:
    """Check that the rank of the matrix is from ``min_rank`` to ``max_rank``; None means no upper bound.

    Raises ConfigError when these are not whole numbers from 0, in this order.
    """
    call = f"rank_bounded({min_rank!r}, {max_rank!r})"
    for rank in (min_rank, 0 if max_rank is None else max_rank):
        if type(rank) is not int or rank < 0:
            raise ConfigError(f"{call}: {rank!r} is not a rank", hint="write whole numbers from 0")
    if max_rank is not None and min_rank > max_rank:
        raise ConfigError(
            f"{call}: the lowest rank is above the highest", hint=f"write rank_bounded({max_rank}, {min_rank})"
        )

    def check(np: Any, array: Any) -> str | None:
        if array.ndim != 2:
            return _no_matrix(array)
        if not np.isfinite(array).all():
            return "it has entries that are not finite, so it has no rank"
        rank = int(np.linalg.matrix_rank(array)) if array.size else 0
        if rank < min_rank:
            return f"its rank is {rank}, below {min_rank}"
        return f"its rank is {rank}, above {max_rank}" if max_rank is not None and rank > max_rank else None

    return Invariant(call, lambda value: check(*_read(call, value)))


def _on_arrays(name: str, tol: Any, check: Callable[[Any, Any], str | None]) -> Invariant:
    if not isinstance(tol, int | float) or isinstance(tol, bool) or not tol >= 0:
        raise ConfigError(
            f"{name}(tol={shown(tol)}): the tolerance is not a number from 0",
            hint=f"write {name}()(value) to check a value, {name}(tol=1e-9) to be stricter",
        )
    call = f"{name}()" if tol == TOLERANCE else f"{name}(tol={tol!r})"
    return Invariant(call, lambda value: check(*_read(call, value)))


def _read(call: str, value: Any) -> tuple[Any, Any]:
    """numpy, and ``value`` as an array of numbers."""
    try:
        numpy = importlib.import_module("numpy")
    except ImportError as error:
        raise ConfigError(f"{call} needs numpy, which cannot be imported: {error}", hint="install numpy") from error
    try:
        array = numpy.asarray(value)
    except ValueError:
        raise AssertionError(f"{shown(value)} is not an array: its rows have different lengths") from None
    if array.dtype.kind not in "biufc":
        raise AssertionError(f"{shown(value)}, of type {type(value).__name__}, is not an array of numbers")
    # Small whole numbers would wrap around in products.
    return numpy, array if array.dtype.kind in "fc" else array.astype(float)


def _asymmetry(np: Any, array: Any, tol: float) -> str | None:
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        return f"an array of shape {array.shape} is not a square matrix"
    # Equal infinities differ by NaN, so equality is asked as well.
    with np.errstate(invalid="ignore"):
        bad = np.argwhere(~((array == array.T) | (abs(array - array.T) <= tol)))
    if not len(bad):
        return None
    row, column = (int(place) for place in bad[0])
    one, other = array[row, column].item(), array[column, row].item()
    return f"value[{row}, {column}] is {one!r} but value[{column}, {row}] is {other!r}"


def _no_matrix(array: Any) -> str:
    return f"an array of shape {array.shape} is not a matrix"
