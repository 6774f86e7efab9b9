"""Version numbers, and sets of conditions on them."""

from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import parse

from ordeal import ChaosTest, rule

versions = st.sampled_from(
    ["1.0", "1.0.0", "1.1a1", "1.1.dev1", "1.1+local", "2.0.post1", "french toast", "2", "1.1rc1"]
)
conditions = st.sampled_from([">=1.0", "==1.*", "~=1.0", "!=1.1", "<2", "===1.0", ">1.1a1", "==1.1"])


class Machine(ChaosTest):
    """A set that grows."""

    answer: object = None

    def __init__(self) -> None:
        super().__init__()
        self.allowed = SpecifierSet()

    @rule(version=versions)
    def read(self, version: str) -> None:
        self.answer = str(parse(version))

    @rule(one=versions, other=versions)
    def order(self, one: str, other: str) -> None:
        self.answer = parse(one) < parse(other)

    @rule(condition=conditions)
    def allow(self, condition: str) -> None:
        self.allowed &= SpecifierSet(condition)
        self.answer = sorted(map(str, self.allowed))

    @rule(version=versions)
    def is_allowed(self, version: str) -> None:
        self.answer = self.allowed.contains(version)

    @rule(chosen=st.lists(versions, max_size=4))
    def choose(self, chosen: list[str]) -> None:
        self.answer = [str(version) for version in self.allowed.filter(chosen)]
