"""A Hypothesis backend that draws as the Explorer does: ``settings(backend="ordeal")``."""

from __future__ import annotations

from hypothesis.internal.conjecture.data import ConjectureData

from ordeal._hypothesis.provider import TapeProvider
from ordeal._native import Redraw

SEED_BITS = 64


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
