"""Machines whose rules put other clocks, streams and builtins in the place of the real ones."""

from __future__ import annotations

import builtins
import datetime
import sys
import time
from typing import Any

import freezegun
import time_machine
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

THEN = datetime.datetime(2001, 2, 3, 4, 5, 6, tzinfo=datetime.UTC)


class Replacing(RuleBasedStateMachine):
    """Replaces something in one rule, and has an ordinary bug in another, three steps after that."""

    def __init__(self) -> None:
        super().__init__()
        self.is_replaced = False
        self.walked = 0

    @rule()
    def replace(self) -> None:
        if not self.is_replaced:
            self.is_replaced = True
            self.begin()

    @rule()
    def walk(self) -> None:
        self.walked += self.is_replaced
        if self.walked == 3:
            raise ValueError("an ordinary bug")

    @invariant()
    def is_as_it_was_made(self) -> None:
        if self.is_replaced:
            self.check()

    def teardown(self) -> None:
        if self.is_replaced:
            self.end()

    def begin(self) -> None: ...

    def check(self) -> None: ...

    def end(self) -> None: ...


class Freezegun(Replacing):
    """Freezes the time, as tests do with freezegun."""

    def begin(self) -> None:
        self.frozen: Any = freezegun.freeze_time(THEN)
        self.frozen.start()

    def check(self) -> None:
        assert datetime.datetime.now(datetime.UTC) == THEN

    def end(self) -> None:
        self.frozen.stop()


class TimeMachine(Replacing):
    """Travels, as tests do with time-machine: its clock does not go on."""

    def begin(self) -> None:
        self.travelled: Any = time_machine.travel(THEN, tick=False)
        self.travelled.start()

    def check(self) -> None:
        assert time.time() == THEN.timestamp()

    def end(self) -> None:
        self.travelled.stop()


class Monotonic(Replacing):
    """Has a monotonic clock that stands still."""

    def begin(self) -> None:
        self.real, time.monotonic = time.monotonic, lambda: 0.0

    def end(self) -> None:
        time.monotonic = self.real


class NoStreams(Replacing):
    """Has no streams to print to, as under pythonw."""

    def begin(self) -> None:
        self.real = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = None

    def end(self) -> None:
        sys.stdout, sys.stderr = self.real


class OtherLen(Replacing):
    """Has nothing that is longer than 0."""

    def begin(self) -> None:
        self.real = builtins.len
        builtins.len = lambda _: 0

    def end(self) -> None:
        builtins.len = self.real


MACHINES: list[type[Replacing]] = [Freezegun, TimeMachine, Monotonic, NoStreams, OtherLen]


def for_ever(machine: type[Replacing]) -> type[Replacing]:
    """The same without an end to it: what is replaced stays so for the process."""
    name = f"{machine.__name__}ForEver"
    made = type(name, (machine,), {"teardown": lambda _: None, "check": lambda _: None, "__module__": __name__})
    globals()[name] = made
    return made


FOR_EVER = [for_ever(machine) for machine in MACHINES]
