"""What all programs of the attack have in common: the way to the harm, and an ordinary bug to be found beside it."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

#: The argument of ``strike`` that does the harm; any other does none, so that other runs come to their end.
HARMFUL = 7


class Attack(RuleBasedStateMachine):
    """Two steps lead up to the harm, three to the ordinary bug."""

    def __init__(self) -> None:
        super().__init__()
        self.walked = 0

    @rule()
    def walk(self) -> None:
        self.walked += 1

    @rule(number=st.integers(0, 9))
    def strike(self, number: int) -> None:
        if self.walked >= 2 and number == HARMFUL:
            self.harm()

    @rule()
    def ordinary(self) -> None:
        if self.walked >= 3:
            raise ValueError("an ordinary bug")

    def harm(self) -> None:
        """What the program does to the process."""
        raise NotImplementedError


@dataclass(frozen=True)
class Program:
    """One program: its machine, and in words what it does. ``kind`` is the class of attacks that it belongs to."""

    machine: type[RuleBasedStateMachine]
    does: str
    kind: str

    @property
    def name(self) -> str:
        return self.machine.__name__


#: All programs, in the order of their modules.
PROGRAMS: list[Program] = []


def attack[Machine: type[RuleBasedStateMachine]](kind: str, does: str):  # type: ignore[no-untyped-def]
    """Declare a machine as a program of the attack."""

    def declare(machine: Machine) -> Machine:
        PROGRAMS.append(Program(machine, does, kind))
        return machine

    return declare
