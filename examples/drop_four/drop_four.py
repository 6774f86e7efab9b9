"""A game for two: drop a stone into a column, or pop one of your own out at the bottom. Four in a line win."""

COLUMNS, ROWS, LINE = 4, 4, 4
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


class Game:
    """A board whose columns hold stones from the bottom up, as letters: ``A`` and ``B`` take turns."""

    def __init__(self) -> None:
        self.columns: list[str] = [""] * COLUMNS
        self.player = "A"
        self.winner: str | None = None

    def moves(self) -> list[tuple[str, int]]:
        """What the player whose turn it is may do now; nothing once the game is won."""
        if self.winner:
            return []
        drops = [("drop", at) for at, column in enumerate(self.columns) if len(column) < ROWS]
        return drops + [("pop", at) for at, column in enumerate(self.columns) if column.startswith(self.player)]

    def play(self, move: tuple[str, int]) -> None:
        """Make a move, and see whether it has won the game."""
        action, at = move
        if action == "drop":
            self.columns[at] += self.player
        else:
            self.columns[at] = self.columns[at][1:]
        # Planted: a pop moves the other player's stones as well, which may then stand in a line.
        if self.has_line(self.player):
            self.winner = self.player
        self.player = "B" if self.player == "A" else "A"

    def has_line(self, player: str) -> bool:
        """Whether the player has four stones in a line."""
        places = ((x, y) for x in range(COLUMNS) for y in range(ROWS))
        return any(self._is_line(player, x, y, dx, dy) for x, y in places for dx, dy in DIRECTIONS)

    def _is_line(self, player: str, x: int, y: int, dx: int, dy: int) -> bool:
        return all(self._stone(x + n * dx, y + n * dy) == player for n in range(LINE))

    def _stone(self, x: int, y: int) -> str | None:
        return self.columns[x][y] if 0 <= x < COLUMNS and 0 <= y < len(self.columns[x]) else None
