"""Hypothesis' record of a run, reduced to what strategies need in the Explorer.

For its shrinker and its reports, Hypothesis keeps for each choice a node with its constraints, and for each draw a
span, a label and a time. The tape replaces them here, so that a draw costs only the strategy's own work.
"""

from __future__ import annotations

import math
import struct
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, NoReturn

from hypothesis.database import choices_to_bytes
from hypothesis.errors import Frozen, StopTest
from hypothesis.strategies import DataObject, SearchStrategy

from ordeal._hypothesis.private import BUFFER_SIZE, MAX_DEPTH, base_class, private, unwrap
from ordeal._hypothesis.provider import SIZE_MAX, RunProvider, TapeProvider
from ordeal._hypothesis.same_strategies import same_strategy
from ordeal._native import SPANS_OF_ARGUMENT, DrawContext, Redraw

type DoDraw = Callable[[TapeData], Any]

#: Whether Hypothesis would print a note now.
_should_note: Callable[[], bool] = private("hypothesis.control:should_note", lambda: False)

# The attribute of a validated strategy that caches the function that draws.
_DO_DRAW = "_ordeal_do_draw"

_NO_SPAN = nullcontext(0)
_NO_LABELS: nullcontext[dict[str, int]] = nullcontext({})

_DOUBLE = struct.Struct("<d")


class _Events(dict[str, Any]):
    """The payloads of ``event()``, without retries of filters: compiled strategies do not report those."""

    def __setitem__(self, label: str, payload: Any) -> None:
        if not label.startswith("Retried draw from "):
            super().__setitem__(label, payload)


class DataDraws(DataObject):
    """What ``data()`` gives to a rule in the Explorer.

    Hypothesis reads the state of the module ``random`` before and after each draw, to warn of strategies that use it.
    That takes longer than most draws. Here only the first draw from a strategy, or from one like it, is checked so.
    """

    conjecture_data: TapeData

    def draw(self, strategy: SearchStrategy[Any], label: Any = None) -> Any:
        """Draw a value of ``strategy``, by its plan if it has one; ``label`` names it in notes, also of a failure."""
        data = self.conjecture_data
        known = data.known(strategy)
        if known is None or _should_note():
            return super().draw(strategy, label)
        self.count += 1
        try:
            value = NotImplemented if data.context is None else data.context.draw(data, known, data.depth)
        except Exception as error:
            error.add_note(f"while generating {self._name(label)!r} from {strategy!r}")
            raise
        return data.draw(strategy, observe_as=self._name(label)) if value is NotImplemented else value

    def _name(self, label: Any) -> str:
        return f"Draw {self.count}{'' if label is None else f' ({label})'}"


class _Data:
    """What strategies ask of Hypothesis' record of a run, where it has no class that can be derived from."""

    def __init__(self, *, random: None, provider: RunProvider) -> None:
        del random
        self.provider = provider
        self.length, self.max_length = 0, BUFFER_SIZE
        self.depth, self.frozen, self.testcounter = 0, False, 0
        self.target_observations: dict[str, float] = {}
        self.hypothesis_runner: Any = None
        self.span_comments: dict[int | None, str] = {}
        self.unique_element_depth = 0
        self.seeds_to_states = self.states_for_ids = None
        self.expected_exception = self._last_rejected_filter = self._sampled_from_all_strategies_elements_message = None
        self._stateful_run_times: defaultdict[str, float] = defaultdict(float)
        self._observability_args: dict[str, Any] = {}
        self._observability_predicates: defaultdict[str, Any] = defaultdict(Counter)
        self._shared_strategy_draws: dict[Any, tuple[Any, SearchStrategy[Any]]] = {}

    def start_span(self, label: int) -> None:
        """Refuse to go on after the end of the run."""
        raise Frozen(f"Cannot call start_span({label}) on frozen data")

    def last_rejected_filter_location(self) -> None:
        """Return None: only reports of Hypothesis need the place of a filter."""

    def mark_invalid(self, why: str | None = None, *, location: str | None = None) -> NoReturn:
        """End the run, because a choice cannot be used. Raises StopTest."""
        del why, location
        self.frozen = True
        raise StopTest(self.testcounter)

    def mark_overrun(self) -> NoReturn:
        """End the run, because it has made too many choices. Raises StopTest."""
        self.mark_invalid()


def _works(derived: Any) -> bool:
    made = derived(random=None, provider=TapeProvider(Redraw(0).source))
    return {"depth", "length", "max_length", "frozen"} <= set(vars(made))


_base: Any = base_class("hypothesis.internal.conjecture.data:ConjectureData", _Data, _works)


class TapeData(_base):  # type: ignore[misc]
    """Draws as its base class does, choice by choice, and counts their size the same way; it keeps their values.

    Its depth is ``SPANS_OF_ARGUMENT`` from the start. ``context`` draws by plans once the data object is
    set in it; without one, each draw is recorded choice by choice.
    """

    def __init__(self, provider: RunProvider, context: DrawContext | None = None) -> None:
        self.context = context
        self._values: list[Any] = []
        self._drawn = 0
        self.has_overrun = False
        self.length: int
        self.depth: int
        self._recursions = 0  # draws under way from strategies that hold a recursive one
        self._draws: DataObject | None = None
        self._spans = getattr(provider, "spans", None)
        self._begins: dict[int, int] = {}  # by depth, how many choices there were when the span began
        super().__init__(random=None, provider=provider)
        self.stand(SPANS_OF_ARGUMENT)
        self.events = _Events()

    @property
    def _shared_data_strategy(self) -> DataObject | None:
        # Made for runs with data() alone: it is a circle, which only the collector would free.
        if self._draws is None:
            self._draws = DataDraws(self)
        return self._draws

    @_shared_data_strategy.setter
    def _shared_data_strategy(self, draws: DataObject | None) -> None:
        self._draws = draws

    def stand(self, spans: int) -> None:
        """Continue as if this many spans were open, so that values nest no deeper than in Hypothesis' loop."""
        self.depth = self._outside = spans

    @property
    def choices(self) -> tuple[Any, ...]:
        """All choices that were made, including forced ones."""
        return tuple(self._values)

    def draw(self, strategy: SearchStrategy[Any], label: int | None = None, observe_as: str | None = None) -> Any:
        """Draw a value of ``strategy``."""
        del label
        do_draw = strategy.__dict__.get(_DO_DRAW)
        if do_draw is None:
            do_draw = self._check(strategy)
        depth = self.depth
        if depth >= MAX_DEPTH:
            self.mark_invalid("max depth exceeded")
        if self._spans is not None:
            self._begins[depth] = self._spans.drawn
        self.depth = depth + 1
        if depth > self._outside:
            try:
                return do_draw(self)
            finally:
                self._leave(depth)
        self._drawn += 1
        try:
            return do_draw(self)
        except Exception as error:
            name = observe_as or f"unlabeled_{self._drawn - 1}"
            error.add_note(f"while generating {name.removeprefix('generate:')!r} from {strategy!r}")
            raise
        finally:
            self._leave(depth)

    @staticmethod
    def known(strategy: object) -> SearchStrategy[Any] | None:
        """Return this strategy, or one made in the same way, if it was drawn from before; else None."""
        if not isinstance(strategy, SearchStrategy):
            return None
        if _DO_DRAW in strategy.__dict__:
            return strategy
        same = same_strategy(strategy)
        if same is None or _DO_DRAW not in same.strategy.__dict__:
            return None
        return strategy if same.is_recursive else same.strategy

    def _leave(self, depth: int) -> None:
        if not self.frozen:
            self.depth = depth
            if self._spans is not None and depth in self._begins:
                self._spans.end_span(self._begins.pop(depth))

    def _check(self, strategy: SearchStrategy[Any]) -> DoDraw:
        """Return what draws from ``strategy``, or from one that was made in the same way before."""
        same = same_strategy(strategy)
        if same is None or (same.is_recursive and self._recursions):
            do_draw = self._checked(strategy)
        elif same.is_recursive:
            # Not kept: one that draws itself while it draws would count the leaves of both.
            return partial(self._recur, same.strategy.__dict__.get(_DO_DRAW) or self._checked(same.strategy))
        else:
            do_draw = same.strategy.__dict__.get(_DO_DRAW) or self._checked(same.strategy)
        strategy.__dict__[_DO_DRAW] = do_draw
        return do_draw

    def _checked(self, strategy: SearchStrategy[Any]) -> DoDraw:
        strategy.validate()
        if strategy.is_empty:
            self.mark_invalid(f"empty strategy {strategy!r}")
        do_draw: DoDraw = unwrap(strategy).do_draw
        strategy.__dict__[_DO_DRAW] = do_draw
        return do_draw

    def _recur(self, do_draw: DoDraw, data: TapeData) -> Any:
        self._recursions += 1
        try:
            return do_draw(data)
        finally:
            self._recursions -= 1

    def start_span(self, label: int) -> None:
        """Open a span; a replay notes its choices."""
        if self.frozen:
            super().start_span(label)  # raises the error
        if self._spans is not None:
            self._begins[self.depth] = self._spans.drawn
        self.depth += 1

    def stop_span(self, *, discard: bool = False) -> None:
        """Close a span; with ``discard`` it was rejected, which may matter to a provider."""
        if discard:
            self.provider.span_end(discard)
        if not self.frozen:
            self._leave(self.depth - 1)

    def track_arg_span(self) -> AbstractContextManager[int]:
        """Do nothing: only reports of Hypothesis need the span of an argument."""
        return _NO_SPAN

    def track_arg_label(self, label: str) -> AbstractContextManager[dict[str, int]]:
        """Do nothing, as above, for a name."""
        del label
        return _NO_LABELS

    def draw_boolean(self, p: float = 0.5, *, forced: bool | None = None, observe: bool = True) -> bool:
        """Draw a boolean, true with probability ``p``."""
        value = forced
        if value is None:
            if self.length >= self.max_length:
                self.mark_overrun()
            value = self.provider.draw_boolean(p)
        if observe:
            self._take(value, 1)
        return value

    def draw_integer(
        self,
        min_value: int | None = None,
        max_value: int | None = None,
        *,
        weights: dict[int, float] | None = None,
        shrink_towards: int = 0,
        forced: int | None = None,
        observe: bool = True,
    ) -> int:
        """Draw an integer within the bounds."""
        value = forced
        if value is None:
            if self.length >= self.max_length:
                self.mark_overrun()
            value = self.provider.draw_integer(min_value, max_value, weights=weights, shrink_towards=shrink_towards)
        if observe:
            bits = value.bit_length()
            self._take(value, 2 + (bits >> 3) if bits < 8 * 30 else len(choices_to_bytes((value,))))
        return value

    def draw_float(
        self,
        min_value: float = -math.inf,
        max_value: float = math.inf,
        *,
        allow_nan: bool = True,
        smallest_nonzero_magnitude: float = 5e-324,
        forced: float | None = None,
        observe: bool = True,
    ) -> float:
        """Draw a float within the bounds, zero or of at least the smallest magnitude."""
        value = forced
        if value is None:
            if self.length >= self.max_length:
                self.mark_overrun()
            value = self.provider.draw_float(
                min_value=min_value,
                max_value=max_value,
                allow_nan=allow_nan,
                smallest_nonzero_magnitude=smallest_nonzero_magnitude,
            )
        if value != value:
            # Make each NaN a new object, so that ``in`` finds it only in a list that holds this very one.
            (value,) = _DOUBLE.unpack(_DOUBLE.pack(value))
        if observe:
            # The size of a choice in Hypothesis' serialization: a byte for kind and size, then the
            # value, if that is short.
            self._take(value, 9)
        return value

    def draw_string(
        self,
        intervals: Any,
        *,
        min_size: int = 0,
        max_size: int = SIZE_MAX,
        forced: str | None = None,
        observe: bool = True,
    ) -> str:
        """Draw a string over the alphabet ``intervals``."""
        value = forced
        if value is None:
            if self.length >= self.max_length:
                self.mark_overrun()
            value = self.provider.draw_string(intervals, min_size=min_size, max_size=max_size)
        if observe:
            self._take(value, len(choices_to_bytes((value,))))
        return value

    def draw_bytes(
        self,
        min_size: int = 0,
        max_size: int = SIZE_MAX,
        *,
        forced: bytes | None = None,
        observe: bool = True,
    ) -> bytes:
        """Draw bytes."""
        value = forced
        if value is None:
            if self.length >= self.max_length:
                self.mark_overrun()
            value = self.provider.draw_bytes(min_size, max_size)
        if observe:
            self._take(value, len(choices_to_bytes((value,))))
        return value

    def mark_overrun(self) -> NoReturn:
        """End the run, because it has made too many choices. Raises StopTest."""
        self.has_overrun = True
        super().mark_overrun()
        raise AssertionError

    def _take(self, value: Any, size: int) -> None:
        used = self.length + size
        if used > self.max_length:
            self.mark_overrun()
        self._values.append(value)
        self.length = used
