"""The source of a run's choices, and what gives them to Hypothesis' strategies: from the tape, or from a stand-in.

``settings(backend="ordeal")`` is one of these: it draws as the Explorer does.
"""

from __future__ import annotations

import inspect
import itertools
import math
from array import array
from typing import TYPE_CHECKING, Any, Protocol

import ordeal._native as _native
from ordeal._hypothesis.private import base_class
from ordeal._native import Redraw

if TYPE_CHECKING:
    from ordeal._native import ChoiceValue


#: The compiled strategies that this process no longer uses, and why, for reports; the newest last.
given_up: list[str] = []

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
KIND_INTEGER = 1
#: The core draws integers up to this far from zero.
WIDE_MAX = 2**125
#: Hypothesis' size limit for texts without one; larger limits mean the same.
SIZE_MAX = 10**10

#: The attribute in which a character set keeps its form for the core.
_PACKED = "_ordeal_packed"


#: The core's source, which draws at random or reads a tape, or a stand-in.
type ChoiceSource = _native.ChoiceSource | StandInSource


class StandInSource(Protocol):
    """Makes the choices of a run in its own way, and gives Hypothesis the matching provider.

    The core's source has more methods, for what only a tape can record. See ``ChoiceSource`` in ``_native.pyi``.
    """

    def provider(self) -> RunProvider:
        """Make the provider from which Hypothesis' strategies draw in a run of this source."""

    @property
    def live(self) -> bool:
        """Whether choices are random, rather than recorded or enumerated."""

    @property
    def misaligned(self) -> int:
        """How many choices were recorded for another kind of draw."""

    @property
    def producer(self) -> int:
        """The step that made the value of the argument when it was recorded; negative without one."""

    @property
    def origin(self) -> int:
        """The number of the current step, which stays the same when earlier steps are removed."""

    def begin_argument(self, name: int) -> None:
        """Record the choices that follow under the argument ``name``."""

    def set_producer(self, producer: int) -> None:
        """Record that the argument is a value made by the step ``producer``."""

    def boolean(self, p: float) -> bool:
        """Draw True with probability ``p``."""

    def integer(self, low: int, high: int, toward: int) -> int:
        """Draw an integer within the bounds, both of 64 bits; ``toward`` is the simplest."""

    def position(self, size: int) -> int:
        """Draw an index below ``size``."""

    def put(self, value: ChoiceValue) -> None:
        """Record a choice that was made elsewhere."""

    def recorded_for(self, name: int) -> list[ChoiceValue]:
        """Return the choices that were recorded for the argument ``name`` of the current step."""

    def raw_unit(self) -> float:
        """Return a random number in [0, 1) that is not recorded."""


class TapeDraws:
    """The draws of a Hypothesis provider. Forced draws never come here and need no record."""

    def __init__(self, source: _native.ChoiceSource) -> None:
        self._source = source

    def draw_boolean(self, p: float = 0.5) -> bool:
        """Draw a boolean, true with probability ``p``."""
        return self._source.boolean(p)

    def draw_integer(
        self,
        min_value: int | None = None,
        max_value: int | None = None,
        *,
        weights: dict[int, float] | None = None,
        shrink_towards: int = 0,
    ) -> int:
        """Draw an integer; without a bound it is mostly small and seldom above 128 bits."""
        source = self._source
        if min_value is not None and max_value is not None and min_value >= INT64_MIN and max_value <= INT64_MAX:
            shrink_towards = _nearest(shrink_towards, min_value, max_value)
            # Ranges up to this size are always drawn uniformly.
            if weights is None and min_value == 0 == shrink_towards and max_value > 127:
                # An index into a large collection, or a part of a time: all values are equally interesting.
                return source.position(max_value + 1)
            if weights is None or not source.live:
                return source.integer(min_value, max_value, shrink_towards)
            if max(weights) - min(weights) == max_value - min_value and len(weights) == 4:
                # Hypothesis adds weight to the end points of integers(low, high), which the core's distribution has
                # already.
                return source.integer(min_value, max_value, shrink_towards)
            point = source.raw_unit()
            for value, weight in weights.items():
                point -= weight
                if point < 0:
                    source.put(value)
                    return value
            return source.integer(min_value, max_value, shrink_towards)
        if all(bound is None or is_int64(bound) for bound in (min_value, max_value)) and is_int64(shrink_towards):
            return int(source.open_integer(min_value, max_value, shrink_towards))
        if min_value is not None and max_value is not None and min_value >= -WIDE_MAX and max_value <= WIDE_MAX:
            return int(source.wide_integer(min_value, max_value, _nearest(shrink_towards, min_value, max_value)))
        value = self._boundless(min_value, max_value, shrink_towards)
        source.put(value)
        return value

    def _boundless(self, low: int | None, high: int | None, toward: int) -> int:
        """Draw an integer whose bounds are beyond 128 bits, or beyond 64 with one missing."""
        source = self._source
        simplest = _nearest(toward, low, high)
        if not source.live:
            source.note_integer(
                INT64_MIN if low is None else _nearest(low, INT64_MIN, INT64_MAX),
                INT64_MAX if high is None else _nearest(high, INT64_MIN, INT64_MAX),
                _nearest(simplest, INT64_MIN, INT64_MAX),
            )
        given = source.recorded(KIND_INTEGER)
        if isinstance(given, int) and (low is None or low <= given) and (high is None or given <= high):
            return given
        if given is not None:
            source.misalign()
        if not source.live:
            return _nearest(given, low, high) if isinstance(given, int) else simplest
        # A magnitude above the nearer bound, or between both bounds an offset with a random number of bits.
        if low is not None and high is not None:
            span = high - low
            bits = 0
            for _ in range(span.bit_length() // 64 + 2):
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
        """Draw a float within the bounds, zero or of at least the smallest magnitude."""
        return self._source.real(min_value, max_value, allow_nan, smallest_nonzero_magnitude)

    def draw_string(self, intervals: Any, *, min_size: int = 0, max_size: int = SIZE_MAX) -> str:
        """Draw a string over the alphabet ``intervals``, a set of code points."""
        # The ends of the intervals as the core reads them, cached in the set, which its strategy keeps.
        packed: bytes | None = intervals.__dict__.get(_PACKED)
        if packed is None:
            packed = array("I", itertools.chain.from_iterable(intervals.intervals)).tobytes()
            intervals.__dict__[_PACKED] = packed
        return str(self._source.text(packed, min_size, min(max_size, SIZE_MAX)))

    def draw_bytes(self, min_size: int = 0, max_size: int = SIZE_MAX) -> bytes:
        """Draw bytes."""
        return bytes(self._source.bytes(min_size, min(max_size, SIZE_MAX)))


def is_int64(value: int) -> bool:
    """Return True if the core holds ``value`` as a plain integer."""
    return INT64_MIN <= value <= INT64_MAX


def _nearest(value: int, low: int | None, high: int | None) -> int:
    if low is not None and value < low:
        return low
    return high if high is not None and value > high else value


class _Provider:
    """Stands for the base class of Hypothesis' own providers, without what only its engine asks of one."""

    avoid_realization = False

    def __init__(self, _data: Any, /) -> None:
        """Take what a provider of Hypothesis takes."""

    def span_start(self, label: int, /) -> None:
        """Take no notice of a span."""

    def span_end(self, discard: bool, /) -> None:
        """Take no notice of a span."""

    def realize(self, value: Any, *, for_failure: bool = False) -> Any:
        """Return the value itself: it is never symbolic."""
        del for_failure
        return value


_base: Any = base_class("hypothesis.internal.conjecture.providers:PrimitiveProvider", _Provider, inspect.isclass)


class RunProvider(_base):  # type: ignore[misc]
    """Gives Hypothesis' strategies their choices for one run. Derived classes implement the draws."""

    lifetime = "test_case"
    #: The source, if it notes which choices belong together.
    spans: _native.ChoiceSource | None = None

    def __init__(self) -> None:
        super().__init__(None)


class TapeProvider(TapeDraws, RunProvider):
    """Gives Hypothesis' strategies their choices from the tape."""

    def __init__(self, source: _native.ChoiceSource) -> None:
        RunProvider.__init__(self)
        TapeDraws.__init__(self, source)
        self.spans = source if source.notes_spans else None


class TapeBackend(TapeProvider):
    """Draws one test case from the core's distributions. Hypothesis' seed decides everything.

    Hypothesis still decides which test cases there are, shrinks failures and replays them.
    """

    def __init__(self, data: Any) -> None:
        generator = getattr(data, "_random", None)
        seed = 0 if generator is None else generator.getrandbits(64)
        # The name of the stream decides the draws of a seed. Keep a reference, as the source writes to its tape.
        self._redraw = Redraw(seed, "live source")
        super().__init__(self._redraw.source)
        self._cd = data
