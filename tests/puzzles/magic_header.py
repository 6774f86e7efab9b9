"""Puzzle for comparison tracing: bytes that must begin and end as a format says, around a length that is right."""

import hashlib

from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal.chaos import ChaosTest

HEADER, FOOTER = hashlib.sha256(b"header").digest()[:6], hashlib.sha256(b"footer").digest()[:6]
SIZE = len(HEADER) + len(FOOTER) + 23


class MagicHeader(ChaosTest):
    """Reads a packet, one check after the other."""

    @rule(packet=st.binary(max_size=64))
    def read(self, packet: bytes) -> None:
        if not packet.startswith(HEADER):
            return
        if not packet.endswith(FOOTER):
            return
        if len(packet) != SIZE:
            return
        raise AssertionError("a packet was read")
