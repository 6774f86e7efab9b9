"""Gives Hypothesis its choices from the tape, and notes which strategies are no longer drawn compiled.

``settings(backend="ordeal")`` is one of these: it draws as the Explorer does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.internal.conjecture.providers import PrimitiveProvider

from ordeal._hypothesis.tape_draws import TapeDraws
from ordeal._native import Redraw

if TYPE_CHECKING:
    from ordeal._native import ChoiceSource

SEED_BITS = 64

#: The compiled strategies that this process no longer uses, and why, for reports; the newest last.
given_up: list[str] = []


class RunProvider(PrimitiveProvider):
    """Gives Hypothesis' strategies their choices for one run. Derived classes implement the draws."""

    lifetime = "test_case"
    #: The source, if it notes which choices belong together.
    spans: ChoiceSource | None = None

    def __init__(self) -> None:
        super().__init__(None)


class TapeProvider(TapeDraws, RunProvider):
    """Gives Hypothesis' strategies their choices from the tape."""

    def __init__(self, source: ChoiceSource) -> None:
        RunProvider.__init__(self)
        TapeDraws.__init__(self, source)
        self.spans = source if source.notes_spans else None


class TapeBackend(TapeProvider):
    """Draws one test case from the core's distributions. Hypothesis' seed decides everything.

    Hypothesis still decides which test cases there are, shrinks failures and replays them.
    """

    def __init__(self, data: ConjectureData | None) -> None:
        seed = 0 if data is None or data._random is None else data._random.getrandbits(SEED_BITS)
        # The name of the stream decides the draws of a seed. Keep a reference, as the source writes to its tape.
        self._redraw = Redraw(seed, "live source")
        super().__init__(self._redraw.source)
        self._cd = data
