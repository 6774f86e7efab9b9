"""The game of the examples: a machine that plays it finds the planted bug, and nothing once it is repaired."""

from pathlib import Path

import pytest

from ordeal.explore import Explorer

from .conftest import EXAMPLES, changed, imported

PROJECT = EXAMPLES / "drop_four"
PLANTED = """        if self.has_line(self.player):
            self.winner = self.player
"""
REPAIRED = """        other = "B" if self.player == "A" else "A"
        self.winner = next((player for player in (self.player, other) if self.has_line(player)), None)
"""


@pytest.mark.parametrize("repaired", [False, True])
def test_the_machine_finds_what_is_planted_and_nothing_else(repaired: bool, tmp_path: Path) -> None:
    changed(PROJECT / "drop_four.py", [(PLANTED, REPAIRED if repaired else PLANTED)], tmp_path)
    with imported(PROJECT / "test_drop_four.py", path=[tmp_path], modules={"drop_four"}) as module:
        result = Explorer(module.DropFour).run(max_runs=30)
    assert result.notes == (), "a game that is over is not an error"
    if repaired:
        assert result.failures == []
        return
    (failure,) = result.failures
    assert str(failure.error) == "four in a line, and the game goes on"
    last_move = failure.program.splitlines()[-2]
    assert "'pop'" in last_move
