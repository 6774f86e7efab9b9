"""Machines whose failing run draws 4,000 integers at once, of which one matters, or most, or their sum."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

INTEGERS = 4_000
integers = st.lists(st.integers(0, 100), min_size=INTEGERS, max_size=INTEGERS)


class OneMatters(RuleBasedStateMachine):
    """Fails by one of them."""

    @rule(values=integers)
    def take(self, values: list[int]) -> None:
        """Refuse one that is large."""
        assert max(values) < 90


class MostMatter(RuleBasedStateMachine):
    """Fails by 3,500 of them."""

    @rule(values=integers)
    def take(self, values: list[int]) -> None:
        """Refuse many that are not small."""
        assert sum(value >= 7 for value in values) < 3_500


class SumMatters(RuleBasedStateMachine):
    """Fails by all of them together."""

    @rule(values=integers)
    def take(self, values: list[int]) -> None:
        """Refuse a large sum."""
        assert sum(values) < 20_000


MACHINES = (OneMatters, MostMatter, SumMatters)
