"""werkzeug: a set of headers compared with a list."""

from hypothesis import strategies as st
from werkzeug.datastructures import HeaderSet

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "werkzeug==3.1.9 markupsafe", ["werkzeug.datastructures.structures"]
names = st.sampled_from(["a", "A", "b", "B"])


class Headers(Pair):
    impl, model = HeaderSet, dict

    @op(name=names)
    def add(self, name):
        self.impl.add(name)
        self.model.setdefault(name.lower(), name)

    @op(name=names)
    def discard(self, name):
        self.impl.discard(name)
        self.model.pop(name.lower(), None)

    def view(self):
        return list(self.impl), list(self.model.values())


def removes():
    headers = HeaderSet(["Cookie"])
    headers.remove("Cookie")
    assert not headers
    assert headers.to_header() == "Cookie"  # expected nothing


TROPHIES = [
    Trophy(
        "werkzeug_header_set",
        "`remove` and `discard` leave a header with an upper-case letter in the list that is sent",
        "Names are compared without regard to case, and what was removed is gone.",
        Headers,
        "after discard",
        removes,
        known="pull request 3211, closed without a merge",
    )
]
