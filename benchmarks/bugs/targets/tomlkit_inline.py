"""tomlkit 0.15.0: a key that is removed from the middle of an inline table leaves its comma.

Changelog of 0.15.1: "Fix invalid serialization with a duplicated comma when removing a non-edge element from a parsed
inline table."
"""

import tomllib

import tomlkit
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within

NAMES = "abcdef"

places = st.integers(0, len(NAMES) - 1)


class Machine(RuleBasedStateMachine):
    """An inline table of a document, beside a dictionary. The document is written and read now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.document = tomlkit.parse("t = {}\n")
        self.model: dict[str, int] = {}

    @rule(place=places, value=st.integers(0, 99))
    def write(self, place: int, value: int) -> None:
        name = NAMES[within(place, len(NAMES))]
        self.document["t"][name] = value
        self.model[name] = value

    @rule(place=places)
    def remove(self, place: int) -> None:
        name = NAMES[within(place, len(NAMES))]
        if name in self.model:
            del self.document["t"][name]
            del self.model[name]

    @rule(place=places)
    def look(self, place: int) -> None:
        name = NAMES[within(place, len(NAMES))]
        assert self.document["t"].get(name) == self.model.get(name), "another value"

    @rule()
    def save_and_load(self) -> None:
        text = tomlkit.dumps(self.document)
        assert tomllib.loads(text) == {"t": self.model}, "another document"
        self.document = tomlkit.parse(text)


def reproduce() -> None:
    document = tomlkit.parse("t = {a = 1, b = 2, c = 3}\n")
    del document["t"]["b"]
    assert tomllib.loads(tomlkit.dumps(document)) == {"t": {"a": 1, "c": 3}}
