"""msgpack 0.5.5, in pure Python: bytes of a message that is not complete yet are dropped by the next ``feed``.

Changelog of 0.5.6: "Fix fallback.Unpacker.feed() dropped unused data from buffer (#287)".
"""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from msgpack import fallback

from bugs.ranges import within

VALUES = (0, -1, 127, 128, 70_000, None, True, b"", b"abc", b"x" * 40, [1, 2, 3], [[], [b"q"]], {b"k": 1}, 1.5)
PIECE_MAX = 30


class Machine(RuleBasedStateMachine):
    """A stream of packed values that arrives in pieces; the values come out in order."""

    def __init__(self) -> None:
        super().__init__()
        self.wire = b""
        self.expected: list[object] = []
        self.unpacker = fallback.Unpacker(raw=True)

    @rule(choice=st.integers(0, len(VALUES) - 1))
    def write(self, choice: int) -> None:
        value = VALUES[within(choice, len(VALUES))]
        self.wire += fallback.Packer(use_bin_type=False).pack(value)
        self.expected.append(value)

    @rule(size=st.integers(1, PIECE_MAX))
    def feed(self, size: int) -> None:
        size = 1 + within(size - 1, PIECE_MAX)
        self.unpacker.feed(self.wire[:size])
        self.wire = self.wire[size:]

    @rule()
    def read(self) -> None:
        try:
            value = self.unpacker.unpack()
        except (fallback.OutOfData, StopIteration):
            return
        assert self.expected, "a value that nobody wrote"
        assert value == self.expected.pop(0), "another value than was written"

    @rule()
    def skip(self) -> None:
        try:
            self.unpacker.skip()
        except (fallback.OutOfData, StopIteration):
            return
        assert self.expected, "a value that nobody wrote"
        self.expected.pop(0)


def reproduce() -> None:
    unpacker = fallback.Unpacker(raw=True)
    wire = fallback.Packer().pack([1, 2, 3]) + fallback.Packer().pack(b"abcdef")
    values: list[object] = []
    for place in range(len(wire)):
        unpacker.feed(wire[place : place + 1])
        values.extend(unpacker)
    assert values == [[1, 2, 3], b"abcdef"], values
