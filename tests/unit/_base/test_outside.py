"""What fails outside of the frames of a step: how it is collected, in which mode, and what is restored."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from ordeal._base.outside import OutsideMode, OutsideWatch, outside, outside_notes
from ordeal.assertions import always
from ordeal.chaos import ChaosTest
from ordeal.explore import Explorer, Tuning
from ordeal.result import ExplorationResult
from ordeal.result.parts import place_lines


def fail() -> None:
    raise KeyError("planted")


def in_thread(act: Callable[[], object], *, seconds: float = 0.0) -> threading.Thread:
    def late() -> None:
        time.sleep(seconds)
        act()

    thread = threading.Thread(target=late, daemon=True)
    thread.start()
    return thread


class InThread(RuleBasedStateMachine):
    @rule()
    def act(self) -> None:
        in_thread(fail).join()


class Late(ChaosTest):
    """Its threads fail when the run is over."""

    @rule()
    def act(self) -> None: ...

    def teardown(self) -> None:
        in_thread(fail, seconds=0.005)


def explored(cls: type[RuleBasedStateMachine], mode: OutsideMode = "fail") -> ExplorationResult:
    return Explorer(cls, workers=1, tuning=Tuning(outside=mode)).run(max_runs=10, steps_per_run=5)


def test_a_failure_says_how_it_failed_a_step_in_which_it_was_not_raised() -> None:
    (failure,) = explored(InThread).failures
    assert (failure.step, failure.rule_log, failure.flaky) == (1, ["act"], False)
    assert failure.place is not None
    assert failure.place.asserted == ("not raised in the step: it ended a thread",)
    assert "[ordeal] not raised in the step: it ended a thread" in failure.error_traceback


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_the_mode_makes_it_a_warning_or_nothing() -> None:
    warned = explored(InThread, "warn")
    assert (warned.failures, warned.notes) == ([], ("Outside of the steps: KeyError: 'planted' ended a thread.",))
    ignored = explored(InThread, "ignore")
    assert (ignored.failures, ignored.notes) == ([], ())


def test_the_end_of_a_run_waits_a_moment_for_its_threads() -> None:
    (failure,) = explored(Late).failures
    assert not failure.flaky


class Swallowing(ChaosTest):
    @rule()
    def act(self) -> None:
        with warnings.catch_warnings():
            try:
                always(False, "swallowed")
            except AssertionError:
                return


class InTask(ChaosTest):
    @rule()  # type: ignore[arg-type]
    async def act(self) -> None:
        async def failing() -> None:
            fail()

        asyncio.create_task(failing())  # noqa: RUF006 - nothing awaits it
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("cls", "error"),
    [(InTask, KeyError), (Late, KeyError), (Swallowing, AssertionError)],
    ids=lambda each: each.__name__,
)
def test_hypothesis_by_itself_comes_to_the_same_verdict_on_a_chaos_test(
    cls: type[ChaosTest], error: type[Exception]
) -> None:
    hooks = threading.excepthook, sys.unraisablehook, warnings.showwarning
    with pytest.raises(error) as caught:
        run_state_machine_as_test(cls)
    assert outside_notes(caught.value)
    assert (threading.excepthook, sys.unraisablehook, warnings.showwarning) == hooks
    assert not outside.is_on


def test_the_first_failure_is_raised_once_with_one_note() -> None:
    watch, error = OutsideWatch(), AssertionError("planted")
    with watch.watching("fail"):
        for _ in range(2):
            watch.violated(error)
            watch.violated(AssertionError("second"))
            with pytest.raises(AssertionError) as caught:
                watch.raise_failed()
            assert caught.value is error
            watch.raise_failed()
    assert len(outside_notes(error)) == 1


class Finalised(RuleBasedStateMachine):
    """What goes away in a step violates the same twice."""

    class Held:
        def __del__(self) -> None:
            always(False, "planted")

    @rule()
    def act(self) -> None:
        for _ in range(2):
            self.Held()


def test_what_a_finaliser_violates_fails_the_step_and_is_no_warning_too() -> None:
    result = explored(Finalised)
    assert ([failure.step for failure in result.failures], result.notes) == ([1], ())


def test_a_hook_that_the_program_sets_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    with OutsideWatch().watching("fail"):
        threading.excepthook = seen.append
    assert threading.excepthook == seen.append


def test_a_hook_of_the_program_is_called_too(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", seen.append)
    with OutsideWatch().watching("fail"):
        in_thread(fail).join()
    assert len(seen) == 1


class Outliving(RuleBasedStateMachine):
    """Its thread goes on until the search has ended."""

    end = threading.Event()

    @rule()
    def act(self) -> None:
        if not any(thread.name == "a loop" for thread in threading.enumerate()):
            threading.Thread(target=self.end.wait, args=(300,), daemon=True, name="a loop").start()


def test_a_thread_that_outlives_its_run_is_named() -> None:
    Outliving.end.clear()
    try:
        result = Explorer(Outliving, workers=1).run(max_runs=5, steps_per_run=3)
    finally:
        Outliving.end.set()
        for thread in threading.enumerate():
            if thread.name == "a loop":
                thread.join()  # no later test may find it
    outlived = "the thread 'a loop' outlived the run that started it; join it in teardown()"
    assert (result.failures, result.notes) == ([], (f"Outside of the steps: {outlived}.",))


@pytest.mark.forks
def test_a_worker_sends_what_it_warns_of() -> None:
    class Leaking(RuleBasedStateMachine):
        @rule()
        def act(self) -> None:
            Path(__file__).open()  # noqa: SIM115 - that is what it leaves open

    result = Explorer(Leaking, workers=1, isolate=True).run(max_runs=5, steps_per_run=3)
    (note,) = result.notes
    assert note.startswith("Outside of the steps: unclosed file <_io.TextIOWrapper name=")


@pytest.mark.forks
def test_a_warning_outlives_the_process_that_sent_it() -> None:
    class LeakingAndEnding(RuleBasedStateMachine):
        @rule(ends=st.booleans())
        def act(self, ends: bool) -> None:
            if ends:
                os._exit(3)
            Path(__file__).open()  # noqa: SIM115 - that is what it leaves open

    result = Explorer(LeakingAndEnding, workers=1, isolate=True).run(max_runs=12, steps_per_run=2, shrink=False)
    assert [type(each.error).__name__ for each in result.failures] == ["ProcessExitError"]
    assert any(note.startswith("Outside of the steps: unclosed file") for note in result.notes)


class FailsTwice(RuleBasedStateMachine):
    @rule()
    def act(self) -> None:
        fail()

    def teardown(self) -> None:
        super().teardown()
        raise ValueError("second")


class FailsTwiceUnderFaults(FailsTwice, ChaosTest): ...


class HangsAfterwards(FailsTwiceUnderFaults):
    rule_timeout = 0.02

    def teardown(self) -> None:
        time.sleep(60)


@pytest.mark.parametrize(
    ("cls", "second"),
    [
        *((cls, "ValueError: second") for cls in (FailsTwice, FailsTwiceUnderFaults)),
        (HangsAfterwards, "RuleTimeoutError: "),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_run_is_reported_by_its_first_failure_and_notes_that_its_teardown_failed_too(
    cls: type[RuleBasedStateMachine], second: str
) -> None:
    (failure,) = explored(cls).failures
    assert type(failure.error).__name__ == "KeyError"
    assert failure.place is not None
    assert failure.place.name == "act"
    assert place_lines(failure.place)[1].startswith(f"Note: then the teardown failed as well: {second}")


def test_under_hypothesis_too_a_chaos_test_ends_with_its_first_failure() -> None:
    with pytest.raises(KeyError) as caught:
        run_state_machine_as_test(FailsTwiceUnderFaults)
    assert outside_notes(caught.value) == ("then the teardown failed as well: ValueError: second",)


@pytest.mark.forks
def test_what_a_forked_run_warns_of_is_noted() -> None:
    made_in = [0]

    class LeaksInFork(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            made_in[0] = os.getpid()

        @rule()
        def act(self) -> None:
            if os.getpid() != made_in[0]:
                Path(__file__).open()  # noqa: SIM115 - that is what it leaves open

    explorer = Explorer(LeaksInFork, workers=1, checkpoint_prob=0.9, tuning=Tuning(checkpoint_kind="fork"))
    result = explorer.run(max_runs=40, steps_per_run=5)
    assert any(note.startswith("Outside of the steps: unclosed file") for note in result.notes)
