"""The game plays itself: each step is one of the moves that it says are allowed now."""

from drop_four import Game
from hypothesis import strategies as st

from ordeal.stateful import GenericStateMachine


class DropFour(GenericStateMachine):
    def __init__(self) -> None:
        self.game = Game()

    def steps(self) -> st.SearchStrategy[tuple[str, int]]:
        moves = self.game.moves()
        # Once the game is over there is nothing left to do.
        return st.sampled_from(moves) if moves else st.nothing()

    def execute_step(self, step: tuple[str, int]) -> None:
        self.game.play(step)

    def check_invariants(self) -> None:
        has_line = self.game.has_line("A") or self.game.has_line("B")
        assert self.game.winner or not has_line, "four in a line, and the game goes on"


TestDropFour = DropFour.TestCase
