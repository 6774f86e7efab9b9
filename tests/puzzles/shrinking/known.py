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


def known(machine: type[RuleBasedStateMachine], *programs: tuple[str, ...]) -> Known:
    """A machine with its minimal programs."""
    return Known(machine, frozenset(programs))
