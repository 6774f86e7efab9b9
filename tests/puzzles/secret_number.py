"""Puzzle for comparison tracing: a number of 64 bits that stands nowhere in the source and is compared as a whole."""

import hashlib

from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal.chaos import ChaosTest

SECRET = int.from_bytes(hashlib.sha256(b"number").digest()[:8])


class SecretNumber(ChaosTest):
    """Opens for one number only."""

    @rule(number=st.integers(0, 2**64 - 1))
    def enter(self, number: int) -> None:
        if number == SECRET:
            raise AssertionError("open")
