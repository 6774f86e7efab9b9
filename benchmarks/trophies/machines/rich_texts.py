"""rich: a text and its styles, compared with a list of characters."""

import signal

from hypothesis import strategies as st
from rich.text import Text

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "rich==15.0.0 pygments==2.21.0 markdown-it-py==4.3.0 mdurl", ["rich.text"]
styles, places, counts = st.sampled_from(["bold", "red"]), st.integers(-9, 9), st.integers(0, 9)


class Styled(Pair):
    impl, model = Text, list

    @op(text=st.text("ab ", max_size=5), style=styles)
    def append(self, text, style):
        self.impl.append(text, style)
        self.model += [(letter, {style}) for letter in text]

    @op(style=styles, start=places, end=st.none() | places)
    def stylize(self, style, start, end):
        self.impl.stylize(style, start, end)
        first, last, _ = slice(start, end).indices(len(self.model))
        for place in range(first, last):
            letter, had = self.model[place]
            self.model[place] = (letter, had | {style})
        beyond = [span for span in self.impl.spans if span.start < 0]
        assert not beyond, "a span begins before the text"

    @op(count=counts)
    def crop(self, count):
        self.impl.right_crop(count)
        self.model = self.model[: max(0, len(self.model) - count)]
        assert self.impl.plain == "".join(letter for letter, _ in self.model), "cropped"

    @op(start=counts, end=counts)
    def cut(self, start, end):
        self.impl, self.model = self.impl[start:end], self.model[start:end]

    @op(count=counts)
    def pad(self, count):
        self.impl.pad_right(count)
        self.model += [(" ", set())] * count

    def view(self):
        text = self.impl
        ours = [
            (letter, sorted({str(span.style) for span in text.spans if span.start <= place < span.end}))
            for place, letter in enumerate(text.plain)
        ]
        return ours, [(letter, sorted(had)) for letter, had in self.model]


def crops():
    text = Text("abc")
    text.right_crop(0)
    assert text.plain == ""  # expected "abc"


def hangs():
    text = Text("abc")
    text.stylize("bold", -5)
    assert text.spans[0].start == -2  # expected 0
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(2)
    text[1:3]  # never returns: KeyboardInterrupt after two seconds


TROPHIES = [
    Trophy(
        "rich_stylize",
        "after `stylize` from before the beginning of a text, to slice, wrap or print it never ends",
        "Negative places count from the end, and those beyond it are the ends of the text.",
        Styled,
        "begins before the text",
        hangs,
        "KeyboardInterrupt",
    ),
    Trophy(
        "rich_right_crop",
        "`right_crop(0)` removes all text",
        "It removes so many characters from the end.",
        Styled,
        "cropped",
        crops,
    ),
]
