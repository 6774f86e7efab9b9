"""The five rules and two invariants, to be mixed into the machine class of the engine that is measured."""

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, invariant, precondition, rule

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
