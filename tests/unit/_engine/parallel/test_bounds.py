"""What a supervisor keeps of a long exploration: no more than somebody will still ask for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ordeal._base.property_tracker import PropertyResult
from ordeal._engine.parallel import worker as worker_module
from ordeal._engine.parallel.merged import MergedProgress
from ordeal._engine.parallel.messages import WorkerReport
from ordeal._engine.parallel.sync import NOTHING, ImmediateExchange, RoundExchange, Update
from ordeal._engine.parallel.worker import ByClock
from ordeal._engine.properties.watch import PropertyWatch

NAMES: tuple[list[str], list[str], list[str], list[str]] = (["rule"], [], [], [])


def tally(name: str, hits: int, passes: int) -> dict[str, str | int | float | bool | None]:
    return {"name": name, "type": "sometimes", "hits": hits, "passes": passes, "failures": hits - passes}


def report(
    runs: int, *, line: int, kind: str = "copy", bucket: str = "A", note: str = "", passes: int = 0
) -> WorkerReport:
    return WorkerReport(
        tally={"runs": runs, "steps": 10 * runs},
        notes=[note] if note else [],
        snapshot_kind=kind,  # type: ignore[arg-type]
        checkpoints=3,
        checkpoints_saved=2,
        swarm={"a": runs},
        run_kinds={"starts": {"fresh": runs}},
        counts={bucket: 1},
        properties={"properties": [tally("it happens", runs, passes)], "cells": []},
        lines={"shop.py": [line]},
        discovery=None,
    )


class TestAsItComes:
    def test_what_all_have_heard_is_dropped(self) -> None:
        exchange = ImmediateExchange(2)
        for number in range(100):
            for worker in (0, 1):
                exchange.report(worker, Update((number,), b"find"), last=False)
                exchange.answers()
        assert sum(map(len, exchange._for.values())) == 1

    def test_nothing_is_kept_for_who_is_done(self) -> None:
        exchange = ImmediateExchange(2)
        exchange.report(1, Update((), b""), last=True)
        for number in range(10):
            exchange.report(0, Update((number,), b""), last=False)
        assert exchange._for == {0: []}

    def test_one_that_only_tells_is_heard_by_all_again_and_again(self) -> None:
        exchange = ImmediateExchange(1)
        for number in range(2):
            exchange.report(1, Update((number,), b""), last=True)
        exchange.report(0, Update((9,), b""), last=False)
        assert exchange.answers() == [(0, [Update((0,), b""), Update((1,), b"")])]

    def test_who_has_nothing_to_tell_leaves_nothing(self) -> None:
        exchange = ImmediateExchange(2)
        exchange.report(0, Update((), b""), last=False)
        assert exchange.answers() == [(0, [])]
        assert exchange._for == {0: [], 1: []}

    def test_finds_are_urgent_and_edges_are_not(self) -> None:
        exchange = ImmediateExchange(2)
        exchange.report(0, Update((1,), b""), last=False)
        assert not exchange.has_entries_for(1)
        exchange.report(0, Update((), b"find"), last=False)
        assert exchange.has_entries_for(1)
        assert not exchange.has_entries_for(0)
        exchange.report(1, Update((), b""), last=False)
        exchange.answers()
        assert not exchange.has_entries_for(1)


class TestInRounds:
    def test_rounds_that_all_have_heard_leave_their_number_alone(self) -> None:
        exchange = RoundExchange(3)
        for number in range(50):
            for worker in range(3):
                exchange.report(worker, Update((number,), b""), last=False)
            assert len(exchange.answers()) == 3
        kept = [[each for each in rounds if each is not NOTHING] for rounds in exchange._rounds]
        assert kept == [[Update((49,), b"")]] * 3

    def test_who_is_done_is_waited_for_by_no_news(self) -> None:
        exchange = RoundExchange(2)
        exchange.report(1, Update((7,), b""), last=True)
        for number in range(10):
            exchange.report(0, Update((number,), b""), last=False)
            exchange.answers()
        assert exchange._rounds[0] == [NOTHING] * 10


class TestUnion:
    def test_processes_that_ended_are_counted_together(self) -> None:
        known = MergedProgress(NAMES)
        for number in range(1, 101):
            known.report(0, report(number, line=number % 3, bucket="AB"[number % 2], note=f"note {number % 2}"))
            known.end_report(0, number, 10 * number, "")
        known.report(0, report(5, line=7, kind="fork", passes=1))
        totals = known.totals()
        assert totals.tally.runs == 5050 + 5
        assert totals.tally.steps == 10 * totals.tally.runs
        assert set(totals.tally.notes) == {"note 0", "note 1"}
        assert totals.lines == {"shop.py": [0, 1, 2, 7]}
        assert totals.swarm == {"a": 5055}
        assert totals.run_kinds == {"starts": {"fresh": 5055}}
        assert totals.checkpoints_saved == 202
        assert known.counts() == {"A": 51, "B": 50}
        assert len(known._reports()) == 2

    def test_properties_of_processes_that_ended_are_summed(self) -> None:
        known = MergedProgress(NAMES)
        for number in range(1, 11):
            known.report(0, report(number, line=1, passes=number % 2))
            known.end_report(0, number, 0, "")
        assert [(each.hits, each.passes) for each in properties_of(known)] == [(55, 5)]


def properties_of(known: MergedProgress) -> list[PropertyResult]:
    watch = PropertyWatch()
    with watch.recording():
        known.absorb_properties(watch, lambda _, run: run)
    return [each for each in watch.results if each.name == "it happens"]


class TestByClock:
    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
        now = [100.0]

        def go_on(seconds: float) -> None:
            now[0] += seconds

        monkeypatch.setattr(worker_module, "monotonic", lambda: now[0])
        return go_on

    def test_without_finds_it_is_several_times_a_second(self, clock: Callable[[float], None]) -> None:
        schedule = ByClock()
        due = 0
        for _ in range(1000):
            clock(0.001)
            if schedule.is_due(0, lambda: False):
                schedule.exchanged(0.0)
                due += 1
        assert due == 3

    def test_finds_are_told_soon(self, clock: Callable[[float], None]) -> None:
        schedule = ByClock()
        assert schedule.is_due(0, lambda: True)
        schedule.exchanged(0.0)
        assert not schedule.is_due(0, lambda: True)
        clock(worker_module.SOON_SECONDS)
        assert schedule.is_due(0, lambda: True)

    def test_exchanges_that_take_long_come_less_often(self, clock: Callable[[float], None]) -> None:
        schedule = ByClock()
        schedule.exchanged(0.01)
        clock(0.01 * worker_module.SOON_SHARE - 0.01)
        assert not schedule.is_due(0, lambda: True)
        clock(0.02)
        assert schedule.is_due(0, lambda: True)

    def test_no_exchange_takes_so_long_that_the_next_one_is_put_off_for_ever(
        self, clock: Callable[[float], None]
    ) -> None:
        schedule = ByClock()
        schedule.exchanged(60.0)
        clock(worker_module.EXCHANGE_SECONDS)
        assert schedule.is_due(0, lambda: False)

    def test_it_is_asked_for_finds_every_now_and_then(self, clock: Callable[[float], None]) -> None:
        asked = []

        def has_entries() -> bool:
            asked.append(True)
            return False

        schedule = ByClock()
        for _ in range(200):
            clock(0.0001)
            schedule.is_due(0, has_entries)
        assert 1 <= len(asked) <= 3
