"""pyfakefs 5.7.4: a text that ends with the buffer is lost with what is written next.

Changelog of 5.8.0: "fixed a problem with flushing if writing over the buffer end".
"""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from pyfakefs.fake_filesystem import FakeFilesystem
from pyfakefs.fake_open import FakeFileOpen

from bugs.ranges import within

LINES = 20


class Machine(RuleBasedStateMachine):
    """A file that grows, beside a list of its lines."""

    def __init__(self) -> None:
        super().__init__()
        self.open = FakeFileOpen(FakeFilesystem())
        self.file = self.open("/log", "w")
        self.lines: list[str] = []

    @rule(count=st.integers(1, LINES), width=st.sampled_from([7, 15, 31, 63]))
    def write(self, count: int, width: int) -> None:
        for _ in range(1 + within(count - 1, LINES)):
            line = chr(97 + len(self.lines) % 26) * width + "\n"
            self.file.write(line)
            self.lines.append(line)

    @rule()
    def flush(self) -> None:
        self.file.flush()

    @rule()
    def look(self) -> None:
        self.file.close()
        with self.open("/log") as file:
            assert file.readlines() == self.lines, "other lines"
        self.file = self.open("/log", "a")

    @rule()
    def truncate(self) -> None:
        self.file.close()
        self.file = self.open("/log", "w")
        self.lines.clear()


def reproduce() -> None:
    open_fake = FakeFileOpen(FakeFilesystem())
    with open_fake("/log", "w") as file:
        for _ in range(257):
            file.write("x" * 31 + "\n")
    with open_fake("/log") as file:
        assert len(file.readlines()) == 257
