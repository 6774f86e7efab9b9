"""What a shrinker made of a failing run, and how a machine counts its executions, in the same way for each engine."""

from dataclasses import dataclass

from hypothesis.stateful import RuleBasedStateMachine


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The calls of the program that is left, and what it took: executions of the machine and processor time."""

    program: tuple[str, ...]
    executions: int
    cpu_s: float


class Tally:
    """How many machines were made: each execution makes one."""

    __slots__ = ("made",)

    def __init__(self) -> None:
        self.made = 0


def counted(machine: type[RuleBasedStateMachine], tally: Tally) -> type[RuleBasedStateMachine]:
    """The machine, counting itself."""

    def begin(self: RuleBasedStateMachine) -> None:
        tally.made += 1
        machine.__init__(self)

    body = {"__init__": begin, "__module__": machine.__module__, "__qualname__": machine.__qualname__}
    return type(machine.__name__, (machine,), body)
