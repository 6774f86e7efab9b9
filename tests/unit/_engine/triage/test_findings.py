"""What an exploration makes of failing runs."""

from __future__ import annotations

from typing import ClassVar

from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._engine.storage.trace_file import MESSAGE_CHARS_MAX
from ordeal.explore import Explorer
from ordeal.faults import Fault
from ordeal.result import Failure
from ordeal.trace import rerun

from ...samples.machines import switches
from ...samples.traced import AnyOfThree, Counter, Faulty, Independent


def only_failure(machine: type[RuleBasedStateMachine], *, shrink: bool = True, max_runs: int = 300) -> Failure:
    (failure,) = Explorer(machine).run(max_runs=max_runs, shrink=shrink).failures
    return failure


def test_a_failure_is_counted_shrunk_and_replays() -> None:
    failure = only_failure(Counter)
    assert failure.count > 1
    assert failure.shrunk
    assert not failure.flaky
    assert failure.rule_log == ["add"] * failure.step
    assert failure.trace is not None
    assert isinstance(rerun(failure.trace).error, ValueError)
    assert "\n".join(failure.trace.program) == failure.program


def test_the_faults_that_a_failure_needs_are_named() -> None:
    failure = only_failure(Faulty)
    assert failure.necessary_faults == {"one(a)": True, "two(b)": True}
    assert f"Necessary faults: {', '.join(name[:3] for name in failure.necessary_faults)}\n" in str(failure)


def test_shrinking_leaves_one_of_several_faults_that_each_suffice() -> None:
    needed = only_failure(AnyOfThree).necessary_faults
    assert needed is not None
    assert list(needed.values()) == [True]


def test_nothing_is_said_of_faults_where_there_are_none_or_nobody_looked() -> None:
    assert only_failure(Counter).necessary_faults is None
    assert only_failure(Independent).necessary_faults is None
    assert only_failure(Faulty, shrink=False).necessary_faults is None


def test_a_failure_whose_text_raises_or_has_no_end_is_reported() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    class Mute(RuleBasedStateMachine):
        @rule()
        def go(self) -> None:
            raise MuteError

    class Endless(RuleBasedStateMachine):
        @rule()
        def go(self) -> None:
            raise ValueError("x" * 10**6)

    mute, endless = only_failure(Mute, max_runs=5), only_failure(Endless, max_runs=5)
    assert "<MuteError whose text raises>" in str(mute)
    assert mute.trace is not None
    assert mute.trace.failure is not None
    assert mute.trace.failure.error_message == "<MuteError whose text raises>"
    assert endless.trace is not None
    assert endless.trace.failure is not None
    assert len(endless.trace.failure.error_message) == MESSAGE_CHARS_MAX


def test_a_failure_that_comes_and_goes_is_flaky_and_neither_shrunk_nor_ablated() -> None:
    class Moody(Faulty):
        faults: ClassVar[list[Fault]] = switches("x", "y")
        calls: ClassVar[int] = 0

        def is_broken(self, on: set[str]) -> bool:
            Moody.calls += 1
            return Moody.calls == 7

    failure = only_failure(Moody, max_runs=20)
    assert failure.flaky
    assert not failure.shrunk
    assert failure.necessary_faults is None
    assert isinstance(failure.error, OSError)
