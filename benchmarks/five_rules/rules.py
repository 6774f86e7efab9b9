"""The five rules and two invariants, to be mixed into the machine class of the engine that is measured."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, invariant, precondition, rule
from hypothesis.strategies import SearchStrategy

from five_rules.shelf import Shelf

FULL = 8
WEIGHTS = st.integers(1, 100)


class Tally:
    """Counts the rules that were called in this process: engines mean different things by a step.

    An object and no class attribute, as writing to a class makes the interpreter forget what it knows of the class.
    """

    __slots__ = ("steps",)

    def __init__(self) -> None:
        self.steps = 0


TALLY = Tally()


class Weight(SearchStrategy[int]):
    """The weights, as a strategy of the user's own class: nobody knows what it draws until it does."""

    def do_draw(self, data: Any) -> int:
        """Any weight."""
        return int(data.draw_integer(1, 100))


class FiveRules:
    """Puts boxes on a shelf and takes them away."""

    boxes = Bundle("boxes")

    def __init__(self) -> None:
        super().__init__()
        self.shelf = Shelf()

    @rule(target=boxes, weight=WEIGHTS)
    def place(self, weight: int) -> int:
        TALLY.steps += 1
        return self.shelf.place(weight)

    @rule(box=boxes, weight=WEIGHTS)
    def reload(self, box: int, weight: int) -> None:
        TALLY.steps += 1
        self.shelf.reload(box, weight)

    @rule(box=boxes)
    def look(self, box: int) -> None:
        TALLY.steps += 1
        assert self.shelf.look(box) >= 0

    @rule(box=boxes)
    def take(self, box: int) -> None:
        TALLY.steps += 1
        assert self.shelf.take(box) >= 0

    @precondition(lambda self: len(self.shelf.weights) >= FULL)
    @rule()
    def clear(self) -> None:
        TALLY.steps += 1
        self.shelf.clear()

    @invariant()
    def heavy_boxes_are_boxes(self) -> None:
        assert 0 <= self.shelf.heavy <= len(self.shelf.weights)

    @invariant()
    def boxes_were_placed(self) -> None:
        assert len(self.shelf.weights) <= self.shelf.placed


class FiveUnplannedRules(FiveRules):
    """The same with a strategy that has to be drawn from through Hypothesis."""

    @rule(target=FiveRules.boxes, weight=Weight())
    def place(self, weight: int) -> int:
        TALLY.steps += 1
        return self.shelf.place(weight)

    @rule(box=FiveRules.boxes, weight=Weight())
    def reload(self, box: int, weight: int) -> None:
        TALLY.steps += 1
        self.shelf.reload(box, weight)
