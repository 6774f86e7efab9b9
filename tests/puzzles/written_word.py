"""Puzzle for the constants of the targets: a word that stands in the source, and is compared in a way nobody sees."""

import hashlib

from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal.chaos import ChaosTest

PASSWORD = "swordfish"
DIGEST = hashlib.sha256(PASSWORD.encode()).digest()


class WrittenWord(ChaosTest):
    """Lets in whoever knows the word."""

    @rule(word=st.text(max_size=20))
    def enter(self, word: str) -> None:
        assert hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest() != DIGEST, "came in"
