"""prompt_toolkit: a buffer compared with a text and a place in it."""

from hypothesis import strategies as st
from prompt_toolkit.buffer import Buffer

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "prompt_toolkit==3.0.53 wcwidth==0.9.4", ["prompt_toolkit.buffer"]


class Model:
    def __init__(self):
        self.text, self.at = "", 0


class Buffers(Pair):
    impl, model = Buffer, Model

    @op(text=st.text("ab", max_size=4))
    def insert(self, text):
        self.impl.insert_text(text)
        model = self.model
        model.text = model.text[: model.at] + text + model.text[model.at :]
        model.at += len(text)

    @op(count=st.integers(1, 3))
    def left(self, count):
        self.impl.cursor_left(count)
        self.model.at = max(0, self.model.at - count)

    @op(count=st.integers(0, 4))
    def backspace(self, count):
        self.impl.delete_before_cursor(count)
        model = self.model
        start = max(0, model.at - count)
        model.text, model.at = model.text[:start] + model.text[model.at :], start

    def view(self):
        return (self.impl.text, self.impl.cursor_position), (self.model.text, self.model.at)


def duplicates():
    buffer = Buffer()
    buffer.text, buffer.cursor_position = "abc", 1
    assert buffer.delete_before_cursor(2) == ""
    assert buffer.text == "abbc"  # expected "bc"


TROPHIES = [
    Trophy(
        "prompt_toolkit_backspace",
        "`delete_before_cursor` of more characters than there are duplicates text",
        "It deletes so many characters before the cursor, and returns them.",
        Buffers,
        "after backspace",
        duplicates,
    )
]
