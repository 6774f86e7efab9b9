"""The pool replaces processes that end too soon, gives up on those that always do, and believes no rubbish."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

import ordeal._native as _native
from ordeal._base.limits import TRIES_MAX
from ordeal._engine.isolation.channel import Channel
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.parallel import worker_pool
from ordeal._engine.parallel.merged import MergedProgress
from ordeal._engine.parallel.messages import DONE, ERROR, FAILED, WorkerError
from ordeal._engine.parallel.state import ParallelState
from ordeal._engine.parallel.sync import Sharing
from ordeal._engine.parallel.worker import WorkerJob
from ordeal._engine.parallel.worker_pool import WorkerOptions, WorkerPool
from ordeal._engine.triage.messages import pack
from ordeal.errors import MachineError, OrdealError
from ordeal.explore import Explorer, Tuning

from ...samples.triaged import setup_for

Work = Callable[[WorkerJob, Channel, _native.Journal], None]


class Plain(RuleBasedStateMachine):
    @rule()
    def go(self) -> None: ...


class Pool:
    """A pool whose workers do ``work`` in place of exploring."""

    def __init__(self, work: Work, monkeypatch: pytest.MonkeyPatch, *, workers: int = 1, **options: Any) -> None:
        monkeypatch.setattr(worker_pool, "work", work)
        setup = setup_for(Plain)
        settings: Any = setup.settings
        if options:
            setup = setup_for(Plain, **options)
            settings = setup.settings
        self.union = MergedProgress(setup.names)
        folder = WorkingFolder(self.union.note)
        self.state = ParallelState(settings, self.union, folder, workers)
        worker_options = WorkerOptions(workers, Sharing(True, True))
        self.pool = WorkerPool(settings, setup, worker_options, self.union, self.state, folder)

    def search(self, *, seconds: float = 300.0) -> None:
        """Have all of them come to their end."""
        pool, deadline = self.pool, time.monotonic() + seconds
        pool.share_runs()
        pool.start(deadline)
        while pool.goes_on:
            assert time.monotonic() < deadline + 300, "the workers do not come to their end"
            pool.poll(0.05, deadline)
            pool.answer()


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Pool]]:
    pools: list[Pool] = []

    def made(work: Work, **options: Any) -> Pool:
        pools.append(Pool(work, monkeypatch, **options))
        return pools[-1]

    yield made
    for each in pools:
        each.pool.close()


def dies(job: WorkerJob, channel: Channel, journal: _native.Journal) -> None:
    os._exit(9)


def dies_in_its_second_run(job: WorkerJob, channel: Channel, journal: _native.Journal) -> None:
    job.counters[job.number].runs = 2
    os._exit(9)


def closes_all_in_its_second_run(job: WorkerJob, channel: Channel, journal: _native.Journal) -> None:
    job.counters[job.number].runs = 2
    os.closerange(3, 4_096)
    channel.send(FAILED, "it cannot be received")


def fails_after_its_second_run(job: WorkerJob, channel: Channel, journal: _native.Journal) -> None:
    job.counters[job.number].runs = 2
    channel.send(FAILED, "LookupError: lost")


@pytest.mark.forks
class TestEndings:
    def test_one_that_always_ends_before_its_first_run_is_given_up(self, make: Callable[..., Pool]) -> None:
        pool = make(dies)
        pool.search()
        pool.pool.cut_off("time")
        assert pool.pool.reasons() == ["stuck"]
        assert list(pool.union.notes) == [
            "A worker ended (exit code 9) while it ran no code of yours, and was replaced."
        ]
        assert pool.union.unjudged == "ended (exit code 9) while it ran no code of yours"
        assert pool.union.earlier(0).processes == TRIES_MAX

    def test_one_whose_descriptors_were_closed_says_so(self, make: Callable[..., Pool]) -> None:
        pool = make(closes_all_in_its_second_run, max_runs=11)
        pool.search()
        pool.pool.cut_off("time")
        assert pool.union.unjudged == "was cut off by a rule that closed all descriptors"
        (note,) = pool.union.notes
        assert note == "A worker was cut off by a rule that closed all descriptors, and was replaced."

    def test_one_that_fails_outside_of_runs_is_replaced(self, make: Callable[..., Pool]) -> None:
        pool = make(fails_after_its_second_run, max_runs=11)
        pool.search()
        pool.pool.cut_off("time")
        assert pool.pool.reasons() == ["max_runs"]
        (note,) = pool.union.notes
        assert note == "A worker failed (LookupError: lost) while it ran no code of yours, and was replaced."

    def test_one_that_makes_runs_is_replaced_until_they_are_made(self, make: Callable[..., Pool]) -> None:
        pool = make(dies_in_its_second_run, max_runs=11)
        pool.search()
        assert pool.pool.reasons() == ["max_runs"]
        assert pool.union.earlier(0).processes == 6  # more than may start in vain

    def test_one_that_goes_on_is_cut_off(self, make: Callable[..., Pool]) -> None:
        pool = make(lambda job, channel, journal: time.sleep(600))
        began = time.monotonic()
        pool.pool.start(began)
        pool.pool.cut_off("time")
        assert time.monotonic() - began < 300
        assert pool.pool.reasons() == ["time"]
        assert list(pool.union.notes) == []  # it ran no step that would have to be named


@pytest.mark.forks
class TestWhatTheyTell:
    @pytest.mark.parametrize(
        "message",
        [("no such kind",), (DONE,), (DONE, b"{}", b"", b"", b"", b""), ("news", b"", b"123", b""), ("part", 1)],
        ids=repr,
    )
    def test_who_tells_rubbish_is_given_up_and_nothing_is_taken_from_it(
        self, make: Callable[..., Pool], message: tuple[Any, ...]
    ) -> None:
        def babbles(job: WorkerJob, channel: Channel, journal: _native.Journal) -> None:
            channel.send(*message)
            time.sleep(600)

        pool = make(babbles)
        began = time.monotonic()
        pool.search()
        assert time.monotonic() - began < 300
        assert pool.pool.reasons() == ["stuck"]
        assert str(pool.union.notes[0]).startswith("A worker was ended because it sent an invalid message: ")
        assert (pool.union.edges, dict(pool.union.findings), pool.state.parts) == (set(), {}, [b""])

    @pytest.mark.parametrize(
        ("kind", "raised"), [("MachineError", MachineError), ("Path", OrdealError), ("no such error", OrdealError)]
    )
    def test_an_error_of_a_worker_is_raised_here(
        self, make: Callable[..., Pool], kind: str, raised: type[OrdealError]
    ) -> None:
        def breaks(job: WorkerJob, channel: Channel, journal: _native.Journal) -> None:
            channel.send(ERROR, pack(WorkerError(kind=kind, message="no rule", hint="add one")))

        with pytest.raises(OrdealError, match="no rule") as caught:
            make(breaks).search()
        assert type(caught.value) is raised
        assert caught.value.hint == "add one"


@pytest.mark.supervised
def test_a_step_that_takes_long_is_no_lack_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = iter((0.0, 5.0))

    class Slow(RuleBasedStateMachine):
        @rule()
        def wait(self) -> None:
            time.sleep(next(waits))

    monkeypatch.setattr(worker_pool, "IDLE_SECONDS_MAX", 3.0)
    # A copy is not a step, and may take long itself where the machine is busy.
    result = Explorer(Slow, workers=1, isolate=True, tuning=Tuning(checkpoint_kind="replay")).run(
        max_runs=2, steps_per_run=1
    )
    assert (result.total_runs, list(result.notes)) == (2, [])


@pytest.mark.forks
def test_a_copy_without_progress_is_said_to_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    class Held:
        def __deepcopy__(self, memo: object) -> object:
            time.sleep(30)
            return self

    class Copied(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.held = Held()

        @rule()
        def step(self) -> None:
            pass

    monkeypatch.setattr(worker_pool, "IDLE_SECONDS_MAX", 3.0)
    tuning = Tuning(checkpoint_kind="copy")
    result = Explorer(Copied, workers=1, isolate=True, tuning=tuning).run(max_runs=20, steps_per_run=5)
    assert result.total_runs == 20
    assert list(result.notes) == [
        "Checkpoints of Copied are reached by running their steps again: to copy one takes too long."
    ]
