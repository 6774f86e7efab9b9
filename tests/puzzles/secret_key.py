"""Puzzle for comparison tracing: a text that is a key of a table, and not written in the source."""

import hashlib

from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal.chaos import ChaosTest

RIGHTS = {hashlib.sha256(name).hexdigest()[:12]: name for name in (b"reader", b"writer", b"root")}


class SecretKey(ChaosTest):
    """Breaks for the rights of one user."""

    @rule(token=st.text(max_size=20))
    def enter(self, token: str) -> None:
        rights = RIGHTS.get(token)
        assert rights != b"root", "root came in"
