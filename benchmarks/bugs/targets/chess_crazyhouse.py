"""chess 1.9.1: Crazyhouse moves that are generated inside one another end with RuntimeError.

Changelog of 1.9.2: "Fix recursive Crazyhouse move generation sometimes failing with with ``RuntimeError``." It takes a
capture of a kind of piece that was never captured before, while a generator further out stands at a drop.
"""

from chess import Move
from chess.variant import CrazyhouseBoard
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within

MOVES = 64
DEPTH = 4


class Machine(RuleBasedStateMachine):
    """Two players, one of whom looks ahead as an engine does: moves are made inside running generators."""

    def __init__(self) -> None:
        super().__init__()
        self.board = CrazyhouseBoard()

    @rule(choice=st.integers(0, MOVES - 1))
    def play(self, choice: int) -> None:
        moves = list(self.board.generate_legal_moves())
        if moves:
            self.board.push(moves[within(choice, MOVES) % len(moves)])

    @rule(choice=st.integers(0, 15))
    def capture(self, choice: int) -> None:
        moves = list(self.board.generate_legal_captures())
        if moves:
            self.board.push(moves[within(choice, len(moves))])

    @rule()
    def take_back(self) -> None:
        if self.board.move_stack:
            self.board.pop()

    @rule(line=st.lists(st.integers(0, MOVES - 1), min_size=1, max_size=DEPTH))
    def look_ahead(self, line: list[int]) -> None:
        before = self.board.fen()
        self._follow(list(line)[:DEPTH])
        assert self.board.fen() == before, "the position differs after all moves were taken back"

    def _follow(self, line: list[int]) -> None:
        if not line:
            return
        for number, move in enumerate(self.board.generate_legal_moves()):
            if number == within(line[0], MOVES):
                self.board.push(move)
                self._follow(line[1:])
                self.board.pop()


def reproduce() -> None:
    board = CrazyhouseBoard("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR[N] w KQkq - 0 2")
    for move in board.generate_legal_moves():
        if move.drop is not None:
            for played in (move, Move.from_uci("a7a6"), Move.from_uci("e4d5")):
                board.push(played)
            for _ in range(3):
                board.pop()
