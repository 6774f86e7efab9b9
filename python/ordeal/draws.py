"""What Hypothesis' strategies are made of, drawn from the tape: booleans, integers, floats, strings and bytes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ordeal._native import ChoiceSource

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
KIND_INTEGER, KIND_STRING, KIND_BYTES = 1, 3, 4


class TapeDraws:
    """The draws of a provider of Hypothesis. Forced draws never come here and need no record."""

    def __init__(self, source: ChoiceSource) -> None:
        self._source = source

    def draw_boolean(self, p: float = 0.5) -> bool:
        """True with probability ``p``."""
        return self._source.boolean(p)

    def draw_integer(
        self,
        min_value: int | None = None,
        max_value: int | None = None,
        *,
        weights: dict[int, float] | None = None,
        shrink_towards: int = 0,
    ) -> int:
        """An integer; without a bound it is mostly small and seldom above 128 bits."""
        source = self._source
        if min_value is not None and max_value is not None and min_value >= INT64_MIN and max_value <= INT64_MAX:
            if weights is None or not source.live:
                return source.integer(min_value, max_value, shrink_towards)
            return self._weighted(weights, min_value, max_value, shrink_towards)
        return self._huge_integer(min_value, max_value, shrink_towards)

    def _weighted(self, weights: dict[int, float], low: int, high: int, toward: int) -> int:
        source = self._source
        if max(weights) - min(weights) == high - low and len(weights) == 4:
            # The end points that integers(low, high) raises: the distribution of the core has them already.
            return source.integer(low, high, toward)
        point = source.raw_unit()
        for value, weight in weights.items():
            point -= weight
            if point < 0:
                source.put(value)
                return value
        return source.integer(low, high, toward)

    def _huge_integer(self, low: int | None, high: int | None, toward: int) -> int:
        source = self._source
        if source.live:
            value = self._draw_huge(low, high, toward)
        else:
            simplest = _nearest(toward, low, high)
            source.note_integer(
                INT64_MIN if low is None else _nearest(low, INT64_MIN, INT64_MAX),
                INT64_MAX if high is None else _nearest(high, INT64_MIN, INT64_MAX),
                _nearest(simplest, INT64_MIN, INT64_MAX),
            )
            recorded = source.recorded(KIND_INTEGER)
            if isinstance(recorded, int) and _inside(recorded, low, high):
                value = recorded
            else:
                if recorded is not None:
                    source.misalign()
                value = _nearest(recorded, low, high) if isinstance(recorded, int) else simplest
        source.put(value)
        return value

    def _draw_huge(self, low: int | None, high: int | None, toward: int) -> int:
        source = self._source
        if (low is None or is_int64(low)) and (high is None or is_int64(high)) and is_int64(toward):
            return int(source.raw_unbounded_integer(low, high, toward))
        # Bounds beyond 64 bits: a random magnitude above the nearer bound, else uniform bits of the range.
        if low is not None and high is not None:
            span = high - low
            words = span.bit_length() // 64 + 2
            bits = 0
            for _ in range(words):
                bits = (bits << 64) | source.raw_bits()
            size = source.raw_below(span.bit_length() + 1)
            value = bits % (min(span, (1 << size) - 1) + 1)
            return low + value if source.raw_below(2) else high - value
        magnitude = source.raw_bits() >> source.raw_below(64)
        return low + magnitude if low is not None else (high or 0) - magnitude

    def draw_float(
        self,
        *,
        min_value: float = -math.inf,
        max_value: float = math.inf,
        allow_nan: bool = True,
        smallest_nonzero_magnitude: float,
    ) -> float:
        """A float within the bounds, zero or of at least the smallest magnitude."""
        return self._source.real(min_value, max_value, allow_nan, smallest_nonzero_magnitude)

    def draw_string(self, intervals: Any, *, min_size: int = 0, max_size: int = 10**10) -> str:
        """A string over the alphabet ``intervals``, a set of code points."""
        source = self._source
        recorded = source.recorded(KIND_STRING)
        if not source.live:
            value = self._replay_string(recorded, intervals, min_size, max_size)
        elif isinstance(recorded, str) and min_size <= len(recorded) <= max_size and _is_over(recorded, intervals):
            value = recorded
        else:
            value = self._live_string(recorded, intervals, min_size, max_size)
        source.put(value)
        return value

    def _live_string(self, recorded: Any, intervals: Any, min_size: int, max_size: int) -> str:
        source = self._source
        if recorded is not None:
            source.misalign()
        alphabet = len(intervals)
        if alphabet == 0:
            return ""
        size = source.raw_size(min_size, max_size, _average_size(min_size, max_size))
        return "".join([intervals.char_in_shrink_order(source.raw_alphabet_index(alphabet)) for _ in range(size)])

    def _replay_string(self, recorded: Any, intervals: Any, min_size: int, max_size: int) -> str:
        """What was recorded, as far as it fits: other characters become the simplest, then it is cut or padded."""
        if len(intervals) == 0:
            simplest, max_size = "", 0
        else:
            simplest = intervals.char_in_shrink_order(0)
            self._source.note_text(min_size, max_size, ord(simplest))
        if not isinstance(recorded, str):
            return simplest * min_size
        value = "".join([c if ord(c) in intervals else simplest for c in recorded])
        value = value[:max_size] + simplest * (min_size - len(value))
        if value != recorded:
            self._source.misalign()
        return value

    def draw_bytes(self, min_size: int = 0, max_size: int = 10**10) -> bytes:
        """Bytes."""
        source = self._source
        recorded = source.recorded(KIND_BYTES)
        if not source.live:
            source.note_text(min_size, max_size, ord("0"))
            value = recorded[:max_size].ljust(min_size, b"\0") if isinstance(recorded, bytes) else bytes(min_size)
            if isinstance(recorded, bytes) and value != recorded:
                source.misalign()
        elif isinstance(recorded, bytes) and min_size <= len(recorded) <= max_size:
            value = recorded
        else:
            if recorded is not None:
                source.misalign()
            value = source.raw_bytes(min_size, max_size)
        source.put(value)
        return value


def is_int64(value: int) -> bool:
    """Whether the core holds ``value`` as a plain integer."""
    return INT64_MIN <= value <= INT64_MAX


def _is_over(text: str, intervals: Any) -> bool:
    return all(ord(c) in intervals for c in text)


def _inside(value: int, low: int | None, high: int | None) -> bool:
    return (low is None or low <= value) and (high is None or value <= high)


def _nearest(value: int, low: int | None, high: int | None) -> int:
    if low is not None and value < low:
        return low
    return high if high is not None and value > high else value


def _average_size(low: int, high: int) -> float:
    return min(max(low * 2, low + 5), 0.5 * (low + high))
