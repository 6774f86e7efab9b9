"""hpack 2.3.0: the decoder cannot read a block that begins with more than one change of the table's size.

Changelog of 3.0.0: "HPACK now tolerates receiving multiple header table size changes in sequence, rather than only
one." An encoder whose table is made smaller and larger between two blocks sends both, since it has dropped entries.
"""

from hpack import Decoder, Encoder
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within

NAMES = 6
VALUES = 4
SIZES = (0, 64, 128, 256, 4096)

fields = st.tuples(st.integers(0, NAMES - 1), st.integers(0, VALUES - 1))


class Machine(RuleBasedStateMachine):
    """Two ends of a connection that send each other header blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder()
        self.decoder = Decoder()

    @rule(choices=st.lists(fields, min_size=1, max_size=4))
    def send(self, choices: list[tuple[int, int]]) -> None:
        headers = [(f"x-name-{within(name, NAMES)}", f"value {within(value, VALUES)}") for name, value in choices]
        received = self.decoder.decode(self.encoder.encode(headers))
        assert [tuple(each) for each in received] == headers, "other headers than were sent"

    @rule(choice=st.integers(0, len(SIZES) - 1))
    def resize(self, choice: int) -> None:
        size = SIZES[within(choice, len(SIZES))]
        if size != self.encoder.header_table_size:  # The same size again is another matter, in all releases.
            self.encoder.header_table_size = size

    @rule()
    def reconnect(self) -> None:
        self.encoder = Encoder()
        self.decoder = Decoder()


def reproduce() -> None:
    machine = Machine()
    machine.send(choices=[(0, 0), (1, 1)])
    machine.resize(choice=0)
    machine.resize(choice=4)
    machine.send(choices=[(2, 2)])
    machine.send(choices=[(0, 0), (1, 1), (2, 2)])
    machine.send(choices=[(0, 0), (1, 1), (2, 2)])
