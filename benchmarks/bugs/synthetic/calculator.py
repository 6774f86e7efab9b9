"""A calculator that takes a whole program at once, and has room for few results."""

from collections.abc import Sequence

from bugs.synthetic import is_repaired

ROOM = 30


class Calculator:
    """Its stack is empty when a program begins; what does not fit on it is lost."""

    def __init__(self) -> None:
        self.stack: list[int] = []
        self.lost = 0

    def run(self, program: Sequence[tuple[str, int]]) -> None:
        self.stack.clear()
        for name, value in program:
            if name == "push":
                self.push(value)
            elif name == "drop":
                self.stack[-1:] = []
            elif name == "copy":
                for top in self.stack[-1:]:
                    self.push(top)
            elif name == "add" and len(self.stack) >= 2:
                self.stack[-2:] = [self.stack[-2] + self.stack[-1]]

    def push(self, value: int) -> None:
        if len(self.stack) < ROOM:
            self.stack.append(value)
        elif not is_repaired():
            self.lost += 1
