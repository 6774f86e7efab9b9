"""hpack: two ends of a connection that send each other header blocks."""

from hpack import Decoder, Encoder, NeverIndexedHeaderTuple
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

SIZES = (0, 40, 64, 128, 256, 4096)
NAMES = ("accept", ":status", "x-a", "x-long-name-of-a-header", "cookie")

texts = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12)
fields = st.tuples(st.sampled_from(NAMES), st.one_of(st.sampled_from(["200", "gzip", "a" * 40]), texts), st.booleans())


class Machine(RuleBasedStateMachine):
    """What is decoded is what was encoded, whatever was sent before."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder()
        self.decoder = Decoder()

    @rule(sent=st.lists(fields, min_size=1, max_size=5), huffman=st.booleans())
    def send(self, sent: list[tuple[str, str, bool]], huffman: bool) -> None:
        headers = [
            NeverIndexedHeaderTuple(name, value) if is_secret else (name, value) for name, value, is_secret in sent
        ]
        received = self.decoder.decode(self.encoder.encode(headers, huffman=huffman))
        assert [tuple(each) for each in received] == [tuple(each) for each in headers], "other headers than were sent"
        assert len(self.encoder.header_table.dynamic_entries) == len(self.decoder.header_table.dynamic_entries)

    @rule(size=st.sampled_from(SIZES))
    def resize(self, size: int) -> None:
        if size != self.encoder.header_table_size:
            self.encoder.header_table_size = size

    @rule()
    def reconnect(self) -> None:
        self.encoder = Encoder()
        self.decoder = Decoder()
