"""A search: in which order its listener hears of what happens, and why it ends."""

from __future__ import annotations

import itertools
import signal
import time
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from ordeal._engine.execution.machine import make_driver
from ordeal._engine.search.intake import SearchListener
from ordeal._engine.search.result_builder import WARM_UP_RUNS
from ordeal._engine.search.search import Search
from ordeal._engine.triage.findings import Confirmation, Finding
from ordeal.errors import MachineError, OrdealError
from ordeal.explore import Explorer
from ordeal.result import StoppedReason

from ...samples.monitored import MakeModule
from ...samples.traced import Counter
from ...samples.triaged import settings_for


class Log(SearchListener):
    """A listener that writes down what it hears; ``between`` may end the search after so many runs."""

    def __init__(self, between: Callable[[int], StoppedReason | None] = lambda _runs: None) -> None:
        self.heard: list[str] = []
        self.verdicts: list[tuple[str, Confirmation]] = []
        self.asked = 0
        self._between = between

    def begin(self) -> None:
        self.heard.append("begin")

    def between_runs(self) -> StoppedReason | None:
        self.heard.append("between")
        self.asked += 1
        return self._between(self.asked - 1)

    def run_made(self) -> None:
        self.heard.append("made")

    def failing(self, finding: Finding) -> None:
        self.heard.append("failing")

    def checked(self, finding: Finding, verdict: Confirmation) -> None:
        self.heard.append("judged")
        self.verdicts.append((finding.bucket, verdict))

    def cut_off(self) -> None:
        self.heard.append("cut off")


class Quiet(RuleBasedStateMachine):
    """Never fails, and shows nothing new after its first runs."""

    @rule()
    def rest(self) -> None: ...


class Failing(RuleBasedStateMachine):
    """Fails at once."""

    @rule()
    def fail(self) -> None:
        raise ValueError


class Slow(RuleBasedStateMachine):
    """Takes much longer than a search may."""

    @rule()
    def wait(self) -> None:
        time.sleep(20)


def search_of(machine: type[RuleBasedStateMachine], *, cuts_off: bool = False, **options: Any) -> Search:
    return Search(settings_for(machine, **options), make_driver(machine), [], cuts_off=cuts_off)


def run(search: Search, log: Log) -> StoppedReason:
    with search.prepared():
        return search.run(log)


def test_no_clock_decides_what_is_explored_where_the_number_of_runs_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def tapes(seconds: Callable[[], float]) -> list[int]:
        monkeypatch.setattr("ordeal._engine.search.search.monotonic", seconds)
        made: list[int] = []
        search = search_of(Counter, max_runs=60, max_time=10**9)
        log = Log()
        log.run_made = lambda: made.append(search.session.tape.hash())  # type: ignore[method-assign]
        run(search, log)
        return made

    clock = itertools.count(step=1.5)
    slow = tapes(lambda: next(clock) * (1 + next(clock) % 7))
    assert slow == tapes(itertools.count(step=1e-6).__next__)


def test_time_ends_it_after_the_run_that_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]

    class Late(Quiet):
        @rule()
        def wait(self) -> None:
            now[0] += 0.03

    monkeypatch.setattr("ordeal._engine.search.search.monotonic", lambda: now[0])
    log = Log()
    search = search_of(Late, max_time=0.05, steps_per_run=5)
    assert run(search, log) == "time"
    assert log.heard[-2:] == ["made", "between"]
    assert "cut off" not in log.heard


def test_one_that_cuts_off_ends_in_the_middle_of_a_run_which_is_forgotten() -> None:
    log = Log()
    search = search_of(Slow, cuts_off=True, max_time=1.0)
    began = time.monotonic()
    assert run(search, log) == "time"
    assert time.monotonic() - began < 10
    assert log.heard == ["begin", "between", "cut off"]
    assert (search.tally.runs, search.session.running) == (0, False)
    assert not search.findings


def test_ctrl_c_in_a_run_ends_it_with_what_was_found() -> None:
    class Interrupting(Failing):
        calls: ClassVar[int] = 0

        @rule()
        def fail(self) -> None:
            Interrupting.calls += 1
            if Interrupting.calls > 20:
                signal.raise_signal(signal.SIGINT)
            raise ValueError

    log = Log()
    search = search_of(Interrupting)
    assert run(search, log) == "interrupted"
    assert not search.session.running
    assert len(search.findings) == 1
    assert log.heard[-1] == "between"


def test_runs_without_news_end_it_where_that_is_asked_for() -> None:
    search = search_of(Quiet, patience=5, max_runs=10_000)
    assert run(search, Log()) == "patience"
    assert search.tally.runs_without_novelty == 5
    assert search.tally.runs < 1_000


def test_runs_that_all_end_before_their_first_step_are_stuck() -> None:
    class Rejecting(Quiet):
        def __init__(self) -> None:
            super().__init__()
            reject()

    search = search_of(Rejecting, max_runs=10_000)
    assert run(search, Log()) == "stuck"
    assert search.tally.runs == WARM_UP_RUNS
    assert list(search.tally.notes) == [f"Each of the first {WARM_UP_RUNS} runs ended before its first step."]


def test_a_machine_without_a_rule_that_can_run_is_an_error() -> None:
    class Locked(RuleBasedStateMachine):
        @precondition(lambda self: False)
        @rule()
        def never(self) -> None: ...

    with pytest.raises(MachineError) as caught:
        run(search_of(Locked, max_runs=10), Log())
    assert caught.value.hint == "a rule must be able to run from a fresh machine"


def breaking(runs: int) -> StoppedReason | None:
    if runs == 2:
        raise OrdealError("the store is gone")
    return None


def test_an_error_of_the_engine_ends_it_with_a_note_where_something_was_found() -> None:
    search = search_of(Failing)
    assert run(search, Log(breaking)) == "stuck"
    assert list(search.tally.notes) == ["Exploring stopped in run 3: the store is gone."]
    assert len(search.findings) == 1


def test_an_error_of_the_engine_gets_out_where_nothing_was_found() -> None:
    with pytest.raises(OrdealError, match="the store is gone"):
        run(search_of(Quiet), Log(breaking))


SOURCE = """
    def put(code):
        if code == int('123456789'):
            return "a"
        if code > 77_777_777:
            return "b"
"""


def test_the_kinds_of_runs_add_up_with_those_that_turn_comparisons(make_module: MakeModule) -> None:
    target: Any = make_module(SOURCE, "coded")

    class Coded(RuleBasedStateMachine):
        @rule(code=st.integers())
        def put(self, code: int) -> None:
            target.put(code)

    result = Explorer(Coded, target_modules=["coded"], seed=3, workers=1).run(max_runs=150)
    starts = result.run_kinds["starts"]
    assert starts["comparison"] > 0
    assert sum(starts.values()) == 150
