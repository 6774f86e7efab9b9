"""hjson: what is written must be read as the same."""

import hjson
from hypothesis import strategies as st

from ordeal.model import RoundTrip, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "hjson==3.1.0", ["hjson"]
texts = st.text("ab:\\{#' ", max_size=3)


class Written(RoundTrip):
    impl, dump, load = dict, hjson.dumps, hjson.loads
    reload = False

    def view(self, impl):
        return {key: dict(value) if isinstance(value, dict) else value for key, value in impl.items()}

    @op(key=texts, value=texts | st.none() | st.integers() | st.lists(texts, max_size=2))
    def put(self, key, value):
        self.impl[key] = value

    @op(key=texts, inner=texts, value=texts)
    def nest(self, key, inner, value):
        self.impl[key] = {inner: value}


def escapes():
    text = hjson.dumps({"a": ":\\b"})
    assert hjson.loads(text) == {"a": ":\x08"}  # expected the two characters \ and b
    hjson.loads(hjson.dumps({"a": ":\\"}))  # HjsonDecodeError


TROPHIES = [
    Trophy(
        "hjson_backslash",
        "a text that needs quotes and holds a backslash is written with the backslash as it is",
        "`dumps` writes a text that means the object, and `loads` reads it.",
        Written,
        "dumped",
        escapes,
        "HjsonDecodeError",
        known="issue 68 of its JavaScript twin is near",
    )
]
