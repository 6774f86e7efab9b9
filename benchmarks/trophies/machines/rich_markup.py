"""rich: the markup of a text must mean the text."""

from hypothesis import strategies as st
from rich.text import Text

from ordeal.model import RoundTrip, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "rich==15.0.0 pygments==2.21.0 markdown-it-py==4.3.0 mdurl", ["rich.markup", "rich.text"]


class Marked(RoundTrip):
    impl, load = Text, Text.from_markup

    def dump(self, impl):
        return impl.markup

    def view(self, impl):
        return impl.plain

    @op(text=st.text("ab\\[]", max_size=3), style=st.sampled_from(["bold", "red"]))
    def append(self, text, style):
        self.impl.append(text, style)


def backslashes():
    text = Text("\\\\", "bold")  # two backslashes
    text.stylize("bold")
    assert Text.from_markup(text.markup).plain == "\\"  # one of them
    assert Text.from_markup(Text("a\\").markup).plain == "a\\\\"  # one too many


TROPHIES = [
    Trophy(
        "rich_markup",
        "the markup of a text with backslashes at its end, or at the end of a style, means another text",
        "`markup` is the console markup that renders this text.",
        Marked,
        "dumped as",
        backslashes,
        known="issue 2993, open",
    )
]
