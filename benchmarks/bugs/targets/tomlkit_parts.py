"""tomlkit 0.13.2: a table in two parts cannot be replaced below by a value.

Changelog of 0.13.3: "Fix invalid serialization after overwriting a key of a out-of-order table."
"""

import tomllib

import tomlkit
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within

TOPS, NAMES = "ab", "pqr"
SOURCE = "[a]\np = 1\n[b]\np = 1\n[a.q]\nz = 1\n[b.q]\nz = 1\n"

tops = st.integers(0, len(TOPS) - 1)
places = st.integers(0, len(NAMES) - 1)


class Machine(RuleBasedStateMachine):
    """A document whose tables stand in parts, beside dictionaries."""

    def __init__(self) -> None:
        super().__init__()
        self.document = tomlkit.parse(SOURCE)
        self.model = tomllib.loads(SOURCE)

    @rule(top=tops, value=st.integers(0, 99))
    def write(self, top: int, value: int) -> None:
        name = TOPS[within(top, len(TOPS))]
        self.document[name]["p"] = value
        self.model[name]["p"] = value

    @rule(top=tops, value=st.integers(0, 99))
    def write_below(self, top: int, value: int) -> None:
        name = TOPS[within(top, len(TOPS))]
        if isinstance(self.model[name].get("q"), dict):
            self.document[name]["q"]["z"] = value
            self.model[name]["q"]["z"] = value

    @rule(top=tops, value=st.integers(0, 99))
    def replace(self, top: int, value: int) -> None:
        name = TOPS[within(top, len(TOPS))]
        if "q" in self.model[name]:
            self.document[name]["q"] = value
            self.model[name]["q"] = value

    @rule()
    def look(self) -> None:
        assert self.document.unwrap() == self.model, "other values"

    @rule()
    def save(self) -> None:
        assert tomllib.loads(tomlkit.dumps(self.document)) == self.model, "another document"


def reproduce() -> None:
    document = tomlkit.parse(SOURCE)
    document["a"]["q"] = 3
    assert tomllib.loads(tomlkit.dumps(document))["a"]["q"] == 3
