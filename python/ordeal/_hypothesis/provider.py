"""Gives Hypothesis its choices from the tape, and says which strategies are no longer drawn compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis.internal.conjecture.providers import PrimitiveProvider

from ordeal._hypothesis.tape_draws import TapeDraws

if TYPE_CHECKING:
    from ordeal._native import ChoiceSource

#: Which compiled strategies this process has given up and why, for reports; the newest last.
given_up: list[str] = []


class TapeProvider(TapeDraws, PrimitiveProvider):
    """Gives Hypothesis' strategies their choices from the tape."""

    lifetime = "test_case"

    def __init__(self, source: ChoiceSource) -> None:
        PrimitiveProvider.__init__(self, None)
        TapeDraws.__init__(self, source)
