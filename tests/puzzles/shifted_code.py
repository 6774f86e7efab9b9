"""Puzzle for comparison tracing: a part of a number decides, so the constant of the source is not the one to draw."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal.chaos import ChaosTest


class ShiftedCode(ChaosTest):
    """Obeys one code, given by the upper bits of a word, and only for one device."""

    @rule(word=st.integers(0, 2**40 - 1))
    def obey(self, word: int) -> None:
        match word >> 8:
            case 0x4B1D_77C3:
                if word & 0xFF == 0xA5:
                    raise AssertionError("obeyed")
            case _:
                pass
