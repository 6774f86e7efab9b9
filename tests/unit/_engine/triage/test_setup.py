"""A process is set up for replays where it is one of its own, and left alone where the search has done so."""

from __future__ import annotations

import os
import random
from mmap import mmap

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

import ordeal._native as _native
from ordeal._engine.execution.bucket import ProcessExitError
from ordeal._engine.execution.recorder import RunRecorder
from ordeal._engine.isolation.child import JOURNAL_BYTES
from ordeal._engine.replay.crash_replayer import CrashReplayer
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.replay.trace_builder import Provenance
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.setup import JobContext, ReplaySetup
from ordeal._hypothesis import GlobalRandoms

from ...samples.traced import Faulty
from ...samples.triaged import setup_for, tape_for


class Exits(RuleBasedStateMachine):
    """Has a rule that ends its process, and one that exits in a way that a run must not take for its own."""

    @rule()
    def leave(self) -> None:
        os._exit(3)

    @rule()
    def ask_to_leave(self) -> None:
        raise SystemExit(4)


@pytest.fixture
def setup() -> ReplaySetup:
    return setup_for(Exits)


def of_the_search(setup: ReplaySetup) -> JobContext:
    return JobContext(setup, replayer=Replayer(setup.driver, setup.bucketer(), GlobalRandoms()))


def journal() -> _native.Journal:
    return _native.Journal(mmap(-1, JOURNAL_BYTES))


def test_the_process_of_the_search_is_not_isolated(setup: ReplaySetup) -> None:
    context = of_the_search(setup)
    context.isolate()
    assert not context.own_process
    assert not setup.driver.isolated
    assert setup.driver.journal is None


def test_a_process_of_its_own_is_isolated_only_when_it_is_asked_to(setup: ReplaySetup) -> None:
    kept = journal()
    context = JobContext(setup, journal=kept)
    assert context.own_process
    before = setup.driver.isolated
    context.isolate()
    assert (before, setup.driver.isolated) == (False, True)
    assert setup.driver.journal is kept


def test_in_a_process_of_its_own_whatever_gets_out_of_a_run_is_a_failure(setup: ReplaySetup) -> None:
    tape = tape_for(setup.driver, "ask_to_leave")
    context = JobContext(setup, journal=journal())
    context.isolate()
    with context.running():
        assert context.replayer.run(tape).bucket.startswith("SystemExit in Exits.ask_to_leave")


def test_randoms_are_put_back_where_the_process_is_its_own(setup: ReplaySetup) -> None:
    before = random.getstate()
    with JobContext(setup).running():
        random.seed(1)
    assert random.getstate() == before
    with of_the_search(setup).running():
        random.seed(1)
    assert random.getstate() != before  # the search puts them back, which goes on
    random.setstate(before)


def test_what_ends_its_process_is_replayed_in_others_and_nothing_else_is(setup: ReplaySetup) -> None:
    tape = tape_for(setup.driver, "leave")
    context = of_the_search(setup)
    ends = Finding("ProcessExitError(3) at leave", tape, Provenance(1, 0, None, 0), ProcessExitError("left"))
    raises = Finding("ValueError in leave", tape, Provenance(1, 0, None, 0), ValueError())
    assert isinstance(context.replayer_of(ends), CrashReplayer)
    assert context.replayer_of(raises) is context.replayer


@pytest.mark.forks
def test_a_crash_is_replayed_without_the_end_of_this_process(setup: ReplaySetup) -> None:
    replayed = of_the_search(setup).crash_replayer().run(tape_for(setup.driver, "leave"))
    assert replayed.bucket == "ProcessExitError(3) at leave"


def test_names_are_those_of_the_machine() -> None:
    rules, initializers, faults, _ = setup_for(Faulty).names
    assert "go" in rules
    assert (initializers, faults) == ([], ["one(a)", "two(b)", "three(c)"])


def test_traces_name_the_class_the_seed_and_the_limit_of_the_exploration() -> None:
    setup = setup_for(Exits, rule_timeout=7.5, seed=11)
    trace = setup.trace_builder.make(Provenance(9, 0, None, 0), tape_for(setup.driver), RunRecorder())
    assert (trace.test_class, trace.seed, trace.run_id, trace.rule_timeout) == (
        f"{__name__}:Exits",
        11,
        9,
        7.5,
    )
