"""Gives Hypothesis its choices from the tape, and notes which strategies are no longer drawn compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis.internal.conjecture.providers import PrimitiveProvider

from ordeal._hypothesis.tape_draws import TapeDraws

if TYPE_CHECKING:
    from ordeal._native import ChoiceSource

#: The compiled strategies that this process no longer uses, and why, for reports; the newest last.
given_up: list[str] = []


class RunProvider(PrimitiveProvider):
    """Gives Hypothesis' strategies their choices for one run. Derived classes implement the draws."""

    lifetime = "test_case"

    def __init__(self) -> None:
        super().__init__(None)


class TapeProvider(TapeDraws, RunProvider):
    """Gives Hypothesis' strategies their choices from the tape."""

    def __init__(self, source: ChoiceSource) -> None:
        RunProvider.__init__(self)
        TapeDraws.__init__(self, source)
