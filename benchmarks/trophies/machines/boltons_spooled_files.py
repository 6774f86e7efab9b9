"""boltons: a text file that is in memory while it is small, compared with one that always is."""

import io

from boltons.ioutils import SpooledStringIO
from hypothesis import strategies as st

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "boltons==26.2.0", ["boltons.ioutils"]


class Spooled(Pair):
    """Text is only appended: what it does when text is overwritten is not the same."""

    def impl():
        return SpooledStringIO(max_size=8)

    def model():
        return io.StringIO(newline="\n")

    @op(text=st.text("ab\n中", max_size=4))
    def append(self, text):
        for file in (self.impl, self.model):
            file.seek(0, 2)
            file.write(text)

    @op(place=st.integers(0, 12))
    def seek(self, place):
        self.both("seek", min(place, len(self.model.getvalue())))

    @op(count=st.integers(-1, 4))
    def read(self, count):
        self.both("read", count)

    @op()
    def readline(self):
        self.both("readline")

    @op()
    def length(self):
        self.match(lambda: len(self.impl), lambda: len(self.model.getvalue()))

    def view(self):
        return self.impl.tell(), self.model.tell()


def lengths():
    file = SpooledStringIO()
    file.write("abc")
    assert len(file) == 3
    assert file.tell() == 6  # expected 3, as before
    file = SpooledStringIO()
    file.write("aa中b")
    file.seek(3)
    len(file)
    assert file.read() == ""  # expected "b"


TROPHIES = [
    Trophy(
        "boltons_spooled_len",
        "`len` of a SpooledStringIO moves its position",
        "It is the number of characters; to ask for it changes nothing.",
        Spooled,
        "after length",
        lengths,
    ),
]
