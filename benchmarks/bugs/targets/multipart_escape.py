"""python-multipart 0.0.32: quoted-printable data that ends with an escape and the sign of the next loses the escape.

Changelog of 0.0.33: "Keep only the incomplete escape when quoted-printable data is split across writes".
"""

import io
import quopri

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from python_multipart.decoders import QuotedPrintableDecoder

from bugs.ranges import within

PIECES = (b"a", b"bc d", b"=41", b"=3D", b"=\r\n", b"e f\r\n")


class Machine(RuleBasedStateMachine):
    """A decoder that gets its data in parts, beside the data as a whole."""

    def __init__(self) -> None:
        super().__init__()
        self._begin()

    def _begin(self) -> None:
        self.decoded = io.BytesIO()
        self.decoder = QuotedPrintableDecoder(self.decoded)
        self.sent = b""

    @rule(numbers=st.lists(st.integers(0, len(PIECES) - 1), min_size=1, max_size=4), cut=st.integers(0, 16))
    def write(self, numbers: list[int], cut: int) -> None:
        text = b"".join(PIECES[within(number, len(PIECES))] for number in numbers)
        cut = within(cut, len(text) + 1)
        self.sent += text
        self.decoder.write(text[:cut])
        self.decoder.write(text[cut:])

    @rule()
    def end(self) -> None:
        self.decoder.finalize()
        assert self.decoded.getvalue() == quopri.decodestring(self.sent), "other bytes"
        self._begin()


def reproduce() -> None:
    decoded = io.BytesIO()
    decoder = QuotedPrintableDecoder(decoded)
    for part in (b"=41=", b"42"):
        decoder.write(part)
    decoder.finalize()
    assert decoded.getvalue() == b"AB", decoded.getvalue()
