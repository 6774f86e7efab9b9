"""tomlkit: what a document holds and what it writes, compared with a dictionary."""

import copy
import tomllib

import tomlkit
from hypothesis import strategies as st
from hypothesis.stateful import invariant

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "tomlkit==0.15.2", ["tomlkit"]
TEXTS = ["a.b = 1\na.c = 2\nx = 3\n", "[a]\nb = 1\n[c]\n", "[a.b]\n[c]\n[a.d]\n"]
keys = st.sampled_from("abcd")


class Tables(Pair):
    impl, model = tomlkit.document, dict

    def pick(self, which):
        found = [(self.impl, self.model)]
        for table, plain in found:
            found += [(table[key], value) for key, value in plain.items() if isinstance(value, dict)]
        return found[which % len(found)]

    @op(text=st.sampled_from(TEXTS))
    def load(self, text):
        self.impl, self.model = tomlkit.parse(text), tomllib.loads(text)

    @op(which=st.integers(0, 4), key=keys, value=st.sampled_from([1, "x", [1, 2], {"y": 1}]))
    def put(self, which, key, value):
        table, plain = self.pick(which)
        table[key], plain[key] = copy.deepcopy(value), copy.deepcopy(value)

    @op(which=st.integers(0, 4))
    def clear(self, which):
        table, plain = self.pick(which)
        table.clear()
        plain.clear()

    def view(self):
        return self.impl.unwrap(), self.model

    @invariant()
    def means_the_same(self):
        text = self.impl.as_string()
        try:
            means = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise AssertionError(f"written so that it does not parse: {text!r}: {error}") from None
        assert set(means) == set(self.model), f"written with other keys: {text!r}"


def dotted():
    document = tomlkit.parse("a.b = 1\nx = 3\n")
    document["a"]["d"] = {"y": 1}
    assert document.unwrap() == {"a": {"b": 1, "d": {"y": 1}}, "x": 3}
    text = document.as_string()
    assert text == "a.b = 1\n\n[a.d]\ny = 1\nx = 3\n"
    assert tomllib.loads(text) == {"a": {"b": 1, "d": {"y": 1, "x": 3}}}  # x is in another table


def out_of_order():
    document = tomlkit.parse("[a.b]\n[c]\n[a.d]\n")
    document["a"].clear()  # IndexError: list index out of range


TROPHIES = [
    Trophy(
        "tomlkit_dotted",
        "a table added under a dotted key is written before the keys that follow, which then belong to it",
        "What is written means what the document holds.",
        Tables,
        "written with other keys|does not parse",
        dotted,
        known="issue 557 is near (the header of such a table)",
    ),
    Trophy(
        "tomlkit_out_of_order",
        "`clear()` of a table that is defined in two places raises IndexError",
        "Such a table behaves like a dictionary.",
        Tables,
        "list index out of range",
        out_of_order,
        "IndexError",
    ),
]
