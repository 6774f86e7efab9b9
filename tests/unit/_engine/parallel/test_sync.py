"""What workers hear of each other: as it comes, and in rounds that no clock decides."""

from __future__ import annotations

import itertools
import pickle

import pytest

import ordeal._native as _native
from ordeal._engine.parallel import sync
from ordeal._engine.parallel.sync import Exchange, ImmediateExchange, KnownCoverage, RoundExchange, Update


def update(*edges: int) -> Update:
    return Update(edges, b"")


def edges_of(answers: list[tuple[int, list[Update]]]) -> dict[int, list[int]]:
    return {worker: [edge for each in heard for edge in each.edges] for worker, heard in answers}


class TestAsItComes:
    def test_a_new_process_hears_what_the_one_before_did_not(self) -> None:
        exchange = ImmediateExchange(2)
        exchange.report(1, update(1), last=False)
        exchange.report(0, update(2), last=False)
        exchange.rejoin(0)
        assert edges_of(exchange.answers()) == {1: [2]}
        exchange.report(1, update(3), last=False)
        exchange.report(0, update(4), last=False)
        assert edges_of(exchange.answers()) == {1: [4], 0: [1, 3]}

    def test_a_new_process_goes_on_after_the_last_report_of_the_one_before(self) -> None:
        exchange = ImmediateExchange(2)
        exchange.report(0, update(1), last=True)
        exchange.rejoin(0)
        exchange.report(0, update(2), last=False)
        exchange.report(1, update(3), last=True)
        assert edges_of(exchange.answers()) == {0: [3]}


class TestInRounds:
    def test_what_is_heard_does_not_depend_on_who_is_faster(self) -> None:
        histories = set()
        for order in sorted(set(itertools.permutations([0, 0, 0, 1, 1, 1, 2, 2, 2]))):
            exchange = RoundExchange(3)
            told, heard = [0, 0, 0], [[], [], []]  # type: ignore[var-annotated]
            queue, waiting = list(order), set[int]()
            while queue:
                worker = next((each for each in queue if each not in waiting), None)
                assert worker is not None, "all wait for each other"
                queue.remove(worker)
                exchange.report(worker, update(10 * worker + told[worker]), last=told[worker] == 2)
                waiting |= {worker} if told[worker] < 2 else set()
                told[worker] += 1
                for number, edges in edges_of(exchange.answers()).items():
                    heard[number].append(edges)
                    waiting.discard(number)
            histories.add(str(heard))
            if len(histories) > 1:
                break
        assert len(histories) == 1


@pytest.mark.parametrize("exchange", [ImmediateExchange(2), RoundExchange(2)], ids=lambda each: type(each).__name__)
def test_what_all_have_heard_is_not_kept(exchange: Exchange) -> None:
    for number in range(100):
        for worker in (0, 1):
            exchange.report(worker, Update([number], b"x" * 1000), last=False)
            exchange.answers()
    assert pickle.dumps(vars(exchange)).count(b"x" * 1000) <= 2


NAMES: _native.MachineNames = (["climb"], [], [], [])


def packed(count: int) -> bytes:
    return _native.encode_entries(NAMES, [_native.SharedEntry(_native.Tape()) for _ in range(count)])


def test_of_too_many_finds_the_newest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync, "ENTRIES_BYTES_MAX", 2 * len(packed(3)))
    known = KnownCoverage()
    for count in (1, 2, 3, 3):
        known.add([], packed(count))
    assert len(known.entries(NAMES)) == 6
