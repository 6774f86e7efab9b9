"""A failing machine with what is known of its smallest failure."""

from dataclasses import dataclass

from hypothesis.stateful import RuleBasedStateMachine


@dataclass(frozen=True, slots=True)
class Known:
    """A machine and its minimal programs: the calls alone, as a report prints them.

    Several programs are minimal where none of them is simpler than the others: where two calls may change places, say,
    or where different values are needed and it does not matter which comes first.
    """

    machine: type[RuleBasedStateMachine]
    programs: frozenset[tuple[str, ...]]

    @property
    def name(self) -> str:
        """The name of the machine."""
        return self.machine.__name__

    @property
    def steps(self) -> int:
        """The least number of steps that fails."""
        return min(map(len, self.programs))

    def steps_like(self, program: tuple[str, ...]) -> int:
        """The least number of steps that fails as ``program`` does, by the call that ends it."""
        alike = [each for each in self.programs if _rule(each[-1]) == _rule(program[-1])]
        return min(map(len, alike or self.programs))


def _rule(call: str) -> str:
    return call.partition("(")[0].rpartition(".")[2]


def known(machine: type[RuleBasedStateMachine], *programs: tuple[str, ...]) -> Known:
    """A machine with its minimal programs."""
    return Known(machine, frozenset(programs))
