"""What an exploration makes of failing runs."""

from __future__ import annotations

from typing import ClassVar

from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec.structs import replace

from ordeal._base.limits import MESSAGE_CHARS_MAX
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.triage.findings import SIBLINGS_MAX, Confirmation, Findings
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal.explore import Explorer
from ordeal.faults import Fault
from ordeal.result import Failure
from ordeal.trace import rerun

from ...samples.machines import switches
from ...samples.siblings import Full
from ...samples.traced import Counter, Faulty
from ...samples.triaged import finding_for, setup_for, tape_for


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


class Restless(RuleBasedStateMachine):
    """Its invariant fails each time, and after another step each time."""

    runs: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        Restless.runs += 1
        self.left = 2 + Restless.runs % 2

    @rule()
    def even(self) -> None:
        self.left -= 1

    @rule()
    def odd(self) -> None:
        self.left -= 1

    @invariant()
    def goes_on(self) -> None:
        assert self.left > 0


def test_an_invariant_that_another_step_breaks_each_time_is_one_steady_failure() -> None:
    setup = setup_for(Restless)
    found = Findings(Replayer(setup.driver, setup.bucketer(), GlobalRandoms()))
    tape = tape_for(setup.driver, "even", "odd", "even")
    finding = finding_for(setup, tape)
    verdict = found.add(finding, from_copy=True)
    assert (verdict, finding.flaky, finding.broken_by) == (Confirmation.CONFIRMED, False, [])
    place = finding.bucket
    assert found.count(f"{place} [after even]")
    assert found.count(f"{place} [after odd]")
    assert [each.count for each in found.all()] == [3]


def test_more_steps_than_are_told_apart_count_with_the_first() -> None:
    setup = setup_for(Full)
    found = Findings(Replayer(setup.driver, setup.bucketer(), GlobalRandoms()))
    one = finding_for(setup, tape_for(setup.driver, *[("fill_0", {"by": [3]})] * 4))
    place = one.bucket.partition(" [after ")[0]
    known = [replace(one, bucket=f"{place} [after step_{number}]") for number in range(SIBLINGS_MAX)]
    found.restore(known[:-1], {})
    assert not found.count(f"{place} [after another]")
    found.restore(known[-1:], {})
    assert found.count(f"{place} [after another]")
    assert (known[0].count, len(found)) == (2, SIBLINGS_MAX)
    assert not found.count(f"{place} elsewhere [after another]")


class Bare(RuleBasedStateMachine):
    @rule()
    def go(self) -> None:
        # As an assertion without a message, which pytest would rewrite here.
        raise AssertionError


def test_an_assertion_without_a_message_is_told_by_what_it_asserts() -> None:
    setup = setup_for(Bare)
    assert (
        finding_for(setup, tape_for(setup.driver, "go")).reported().error
        == "AssertionError in Bare.go: raise AssertionError"
    )
