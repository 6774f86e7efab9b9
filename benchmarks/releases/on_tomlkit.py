"""A document with an inline table, a dotted table in two parts and an array, which is edited and written."""

import tomlkit
from hypothesis import strategies as st

from ordeal import ChaosTest, rule

TEXT = """array = [
  1,
  2, 3
]
line = {a = 1, b = 2, c = 3}
[table.one]
x = 1
[other]
[table.two]
y = 2
"""
keys = st.sampled_from("abcxy")


class Machine(ChaosTest):
    """Edits the document."""

    answer: object = None

    def __init__(self) -> None:
        super().__init__()
        self.document = tomlkit.parse(TEXT)

    @rule(key=keys, value=st.integers(0, 9))
    def set_in_line(self, key: str, value: int) -> None:
        self.document["line"][key] = value

    @rule(key=keys)
    def delete_in_line(self, key: str) -> None:
        self.document["line"].pop(key, None)

    @rule(part=st.sampled_from(["one", "two", "three"]), key=keys, value=st.integers(0, 9))
    def replace_part(self, part: str, key: str, value: int) -> None:
        self.document["table"][part] = {key: value}

    @rule(place=st.integers(0, 4))
    def delete_in_array(self, place: int) -> None:
        if place < len(self.document["array"]):
            del self.document["array"][place]

    @rule()
    def write(self) -> None:
        self.answer = tomlkit.dumps(self.document)
