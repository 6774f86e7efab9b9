"""What Hypothesis and ordeal keep in a machine, as against what its author does."""

from __future__ import annotations

from functools import cache

from hypothesis import stateful
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._base.code_objects import codes_in
from ordeal.chaos import ChaosTest


class _Bare(RuleBasedStateMachine):
    """A machine that adds nothing."""

    @rule()
    def nothing(self) -> None:
        """Do nothing: a machine has a rule."""


class _BareChaos(ChaosTest):
    """The same with what ordeal adds."""

    @rule()
    def nothing(self) -> None:
        """Do nothing: a machine has a rule."""


@cache
def own_names(cls: type[RuleBasedStateMachine]) -> frozenset[str]:
    """Return the attributes that each machine has by its base class, and those that it is given in a run."""
    made = vars((_BareChaos if issubclass(cls, ChaosTest) else _Bare)())
    ours = [base for base in cls.__mro__ if base.__module__.partition(".")[0] == "ordeal"]
    values = [*vars(stateful).values(), *(each for base in ours for each in vars(base).values())]
    codes = (getattr(each, "__code__", None) for each in values)
    names = {name for code in codes if code is not None for each in codes_in(code) for name in each.co_names}
    return frozenset({*made, *(name for name in names if name.startswith("_"))})
