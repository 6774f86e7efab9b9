"""Enumerates the values of Hypothesis' strategies: each choice that a strategy makes is one of a few."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from hypothesis.errors import UnsatisfiedAssumption
from hypothesis.strategies import SearchStrategy, sampled_from

from ordeal._hypothesis.draws import describe_strategy
from ordeal._hypothesis.provider import SIZE_MAX, RunProvider
from ordeal._hypothesis.run_context import LENGTH_MAX, RunContext
from ordeal.errors import InfiniteStrategyError

if TYPE_CHECKING:
    from ordeal._native import ChoiceValue

#: The simplest floats, in order.
FLOATS = (0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, math.inf, -math.inf, math.nan)


class EnumerableSource:
    """Stands in for a ``ChoiceSource``: ``choose``, which gets a number of options, decides each draw.

    With ``values`` each number, text or bytes takes at most that many values, the simplest ones, and ``restrict`` is
    called where there would be more. Without, a draw with infinitely many values is an error.
    """

    live = False  # nothing is random here
    misaligned = 0
    producer = -1
    origin = 0

    def __init__(self, choose: Callable[[int], int], values: int | None = None) -> None:
        self._choose = choose
        self.values = values
        self.draws_number = True

    def provider(self) -> FiniteProvider:
        """Make the provider from which Hypothesis' strategies draw in a run of this source."""
        return FiniteProvider(self)

    def begin_argument(self, name: int) -> None:
        """Do nothing for the choices of the argument ``name``."""

    def set_producer(self, producer: int) -> None:
        """Do nothing with the step that made the argument."""

    def put(self, value: ChoiceValue) -> None:
        """Do nothing with a choice."""

    def recorded_for(self, name: int) -> list[ChoiceValue]:
        """Return nothing, because nothing was recorded."""
        del name
        return []

    def raw_unit(self) -> float:
        """Return a constant, because nothing is random."""
        return 1.0

    def boolean(self, p: float) -> bool:
        """Enumerate False, then True, as far as both are possible."""
        value = p >= 1 if p <= 0 or p >= 1 else bool(self._choose(2))
        self.put(value)
        return value

    def position(self, size: int) -> int:
        """Enumerate the indices below ``size``."""
        value = self._choose(size)
        self.put(value)
        return value

    def integer(self, low: int, high: int, toward: int) -> int:
        """Enumerate the integers from the simplest on, the one nearest to ``toward``."""
        value = nearest_integer(self._choose(self.cut(high - low + 1)), low, high, min(max(toward, low), high))
        self.put(value)
        return value

    def restrict(self) -> None:
        """Note that not all values are taken."""

    def cut(self, size: int) -> int:
        """Return how many of ``size`` values of a number are taken."""
        if self.values is None or not self.draws_number or size <= self.values:
            return size
        self.restrict()
        return self.values

    def cut_infinite(self, what: str) -> int:
        """Return how many of infinitely many values are taken."""
        if self.values is None:
            raise_infinite(what)
        self.restrict()
        return self.values

    def choose(self, size: int) -> int:
        """Return a number below ``size`` that is part of a choice."""
        return self._choose(size)


def nearest_integer(number: int, low: int, high: int, toward: int) -> int:
    """Return integer ``number`` in the order of distance from ``toward``, the greater one of two first."""
    both = min(toward - low, high - toward)
    if number <= 2 * both:
        distance = (number + 1) // 2
        return toward + distance if number % 2 else toward - distance
    beyond = number - both
    return toward + beyond if high - toward > both else toward - beyond


class FiniteProvider(RunProvider):
    """Enumerates the choices of Hypothesis' strategies."""

    def __init__(self, source: EnumerableSource) -> None:
        super().__init__()
        self._finite = source

    def draw_boolean(self, p: float = 0.5) -> bool:
        """Enumerate False, then True."""
        return self._finite.boolean(p)

    def draw_integer(
        self,
        min_value: int | None = None,
        max_value: int | None = None,
        *,
        weights: dict[int, float] | None = None,
        shrink_towards: int = 0,
    ) -> int:
        """Enumerate integers; their probabilities do not matter."""
        del weights
        source = self._finite
        if min_value is not None and max_value is not None:
            return source.integer(min_value, max_value, shrink_towards)
        number = source.choose(source.cut_infinite("integers without a bound"))
        toward = shrink_towards
        toward = toward if min_value is None else max(toward, min_value)
        toward = toward if max_value is None else min(toward, max_value)
        low = toward - number if min_value is None else min_value
        high = toward + number if max_value is None else max_value
        value = nearest_integer(number, low, high, toward)
        source.put(value)
        return value

    def draw_float(
        self,
        *,
        min_value: float = -math.inf,
        max_value: float = math.inf,
        allow_nan: bool = True,
        smallest_nonzero_magnitude: float,
    ) -> float:
        """Enumerate the few simplest floats."""
        source = self._finite
        limit = source.cut_infinite("floats")
        known = dict.fromkeys((*FLOATS, min_value, max_value))
        inside = [x for x in known if min_value <= x <= max_value or (x != x and allow_nan)]
        values = [x for x in inside if x == 0 or not abs(x) < smallest_nonzero_magnitude]
        value = values[source.choose(min(limit, len(values)))]
        source.put(value)
        return value

    def draw_string(self, intervals: Any, *, min_size: int = 0, max_size: int = SIZE_MAX) -> str:
        """Enumerate strings, shorter ones first."""
        alphabet = len(intervals)
        places = self._places(alphabet, min_size, max_size if alphabet else min_size, "text of any size")
        value = "".join([intervals.char_in_shrink_order(place) for place in places])
        self._finite.put(value)
        return value

    def draw_bytes(self, min_size: int = 0, max_size: int = SIZE_MAX) -> bytes:
        """Enumerate bytes, shorter ones first."""
        value = bytes(self._places(256, min_size, max_size, "binary() of any size"))
        self._finite.put(value)
        return value

    def _places(self, alphabet: int, low: int, high: int, what: str) -> list[int]:
        """Return the characters of a text as indices into ``alphabet``."""
        source = self._finite
        if source.values is not None:
            taken = min(source.values, high - low + 1)
            if taken <= high - low or (alphabet > 1 and high > 0):
                source.restrict()
            return [0] * (low + source.choose(taken))
        if high >= SIZE_MAX:
            raise_infinite(what)
        size = low + source.choose(high - low + 1)
        return [source.choose(alphabet) for _ in range(size)]

    def span_end(self, discard: bool, /) -> None:
        """End the case when a filter rejected its value: another value is another case."""
        if discard:
            raise UnsatisfiedAssumption


def make_enumerable(run: RunContext, source: EnumerableSource) -> None:
    """Make everything that ``run`` draws through Hypothesis a choice of ``source``.

    Raises, when it draws:
        InfiniteStrategyError: a strategy has infinitely many values.
        hypothesis.errors.UnsatisfiedAssumption: a filter rejects the value.
    """

    def draw_finite(draw: Callable[..., Any], strategy: SearchStrategy[Any], *arguments: Any, **keywords: Any) -> Any:
        if run.length > LENGTH_MAX:
            raise_infinite("more choices than a run can hold")
        kind, parts = describe_strategy(strategy)
        # The other collections hold each value once, so they end with the values.
        if kind == "ListStrategy" and parts["max_size"] == math.inf:
            raise_infinite("a collection of any size")
        if kind == "RecursiveStrategy":
            raise_infinite("recursive()")
        before, source.draws_number = source.draws_number, kind == "IntegersStrategy"
        try:
            if kind == "SampledFromStrategy" and parts["transformations"]:
                element = draw(sampled_from(parts["elements"]), *arguments, **keywords)
                for name, function, *_ in parts["transformations"]:
                    if name == "map":
                        element = function(element)
                    elif not function(element):
                        raise UnsatisfiedAssumption  # where Hypothesis would try other elements
                return element
            return draw(strategy, *arguments, **keywords)
        finally:
            source.draws_number = before

    run.draw_by(draw_finite)


def raise_infinite(what: str) -> NoReturn:
    """Raise InfiniteStrategyError."""
    raise InfiniteStrategyError(
        f"it draws {what}, which are infinitely many",
        hint="give it bounds, a max_size or a sampled_from() of the values that matter",
    )
