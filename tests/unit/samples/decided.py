"""Machines whose failures are decided by one step, and show only later: ``DECIDED_BY`` names the rule."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, precondition, rule


class Puzzle(RuleBasedStateMachine):
    """A machine with something to do besides."""

    DECIDED_BY: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.broken = False
        self.idle = 0

    @rule()
    def wait(self) -> None:
        self.idle += 1

    @rule()
    def use(self) -> None:
        assert not self.broken


class RareArgument(Puzzle):
    DECIDED_BY = "grant"

    @rule(count=st.integers(0, 99))
    def grant(self, count: int) -> None:
        self.broken |= count == 77


class TwoKeys(Puzzle):
    DECIDED_BY = "second"
    key: int | None = None

    @rule(key=st.integers(0, 19))
    def first(self, key: int) -> None:
        self.key = key

    @rule(key=st.integers(0, 19))
    def second(self, key: int) -> None:
        self.broken |= key == self.key
        self.key = None


class ToLast(RuleBasedStateMachine):
    DECIDED_BY = "divide"

    def __init__(self) -> None:
        super().__init__()
        self.total = 1.0

    @rule(number=st.integers(1, 9))
    def add(self, number: int) -> None:
        self.total += number

    @rule(number=st.integers(-200, 200))
    def divide(self, number: int) -> None:
        self.total /= number


class EmptyHandle(RuleBasedStateMachine):
    DECIDED_BY = "make"
    handles = Bundle("handles")

    @rule(target=handles, size=st.integers(-30, 30))
    def make(self, size: int) -> int:
        return size

    @rule(handle=handles)
    def read(self, handle: int) -> None:
        assert handle

    @rule(handle=handles)
    def look(self, handle: int) -> None:
        assert isinstance(handle, int)


class CancelledLate(Puzzle):
    DECIDED_BY = "cancel"
    running = False

    @rule()
    def start(self) -> None:
        self.running = True

    @precondition(lambda self: self.running)
    @rule(code=st.integers(0, 60))
    def cancel(self, code: int) -> None:
        self.running = False
        self.broken |= code == 33


class TwiceTheSame(Puzzle):
    DECIDED_BY = "push"

    def __init__(self) -> None:
        super().__init__()
        self.items: list[int] = []

    @rule(item=st.integers(0, 40))
    def push(self, item: int) -> None:
        self.broken |= self.items[-1:] == [item]
        self.items.append(item)


class LeaseRunsOut(Puzzle):
    DECIDED_BY = "advance"
    held = False

    @rule()
    def acquire(self) -> None:
        self.held = True

    @rule()
    def release(self) -> None:
        self.held = False

    @rule(seconds=st.integers(0, 1000))
    def advance(self, seconds: int) -> None:
        self.broken |= self.held and seconds >= 985


class WrongMode(Puzzle):
    DECIDED_BY = "set_up"

    @initialize(mode=st.integers(0, 40))
    def set_up(self, mode: int) -> None:
        self.broken = mode == 13


class EvictedPin(RuleBasedStateMachine):
    DECIDED_BY = "put"

    def __init__(self) -> None:
        super().__init__()
        self.keys = [0]

    @rule(key=st.integers(1, 50))
    def put(self, key: int) -> None:
        self.keys = [key] if key == 50 else [*self.keys[-2:], 0]

    @rule()
    def get_pinned(self) -> None:
        assert 0 in self.keys

    @rule()
    def count(self) -> None:
        assert len(self.keys) < 4


class BadWrite(RuleBasedStateMachine):
    DECIDED_BY = "write"

    def __init__(self) -> None:
        super().__init__()
        self.saved: Any = "fine"

    @rule(text=st.sampled_from(["fine"] * 39 + ["torn"]))
    def write(self, text: str) -> None:
        self.saved = text if self.saved == "fine" else self.saved

    @rule()
    def flush(self) -> None:
        assert self.saved

    @rule()
    def reopen(self) -> None:
        assert self.saved == "fine"


PUZZLES: list[Any] = [
    RareArgument,
    TwoKeys,
    ToLast,
    EmptyHandle,
    CancelledLate,
    TwiceTheSame,
    LeaseRunsOut,
    WrongMode,
    EvictedPin,
    BadWrite,
]
