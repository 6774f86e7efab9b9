"""What workers hear of each other: as it comes, and in rounds that no clock decides."""

from __future__ import annotations

import itertools

from ordeal._engine.parallel.sync import AsItComes, InRounds, News


def news(*edges: int) -> News:
    return News(edges, b"")


def edges_of(answers: list[tuple[int, list[News]]]) -> dict[int, list[int]]:
    return {worker: [edge for each in heard for edge in each.edges] for worker, heard in answers}


class TestAsItComes:
    def test_a_worker_hears_once_what_the_others_told(self) -> None:
        exchange = AsItComes(3)
        exchange.told(0, news(1), last=False)
        assert edges_of(exchange.answers()) == {0: []}
        exchange.told(1, news(2), last=False)
        assert edges_of(exchange.answers()) == {1: [1]}
        exchange.told(0, news(3), last=False)
        exchange.told(1, news(4), last=False)
        assert edges_of(exchange.answers()) == {0: [2, 4], 1: [3]}

    def test_who_told_its_last_waits_for_nothing(self) -> None:
        exchange = AsItComes(2)
        exchange.told(0, news(1), last=True)
        assert exchange.answers() == []

    def test_a_new_process_hears_what_the_one_before_did_not(self) -> None:
        exchange = AsItComes(2)
        exchange.told(1, news(1), last=False)
        exchange.told(0, news(2), last=False)
        exchange.rejoin(0)
        assert edges_of(exchange.answers()) == {1: [2]}
        exchange.told(1, news(3), last=False)
        exchange.told(0, news(4), last=False)
        assert edges_of(exchange.answers()) == {1: [4], 0: [1, 3]}


class TestInRounds:
    def test_a_round_brings_what_the_others_told_in_the_one_before(self) -> None:
        exchange = InRounds(2)
        exchange.told(0, news(1), last=False)
        exchange.told(1, news(2), last=False)
        assert edges_of(exchange.answers()) == {0: [], 1: []}
        exchange.told(0, news(3), last=False)
        assert edges_of(exchange.answers()) == {0: [2]}
        exchange.told(1, news(4), last=False)
        assert edges_of(exchange.answers()) == {1: [1]}

    def test_a_worker_waits_for_one_that_is_more_than_a_round_behind(self) -> None:
        exchange = InRounds(2)
        exchange.told(0, news(1), last=False)
        assert edges_of(exchange.answers()) == {0: []}
        exchange.told(0, news(2), last=False)
        assert exchange.answers() == []
        exchange.told(1, news(3), last=False)
        assert edges_of(exchange.answers()) == {0: [3], 1: []}

    def test_nobody_waits_for_one_that_is_done(self) -> None:
        exchange = InRounds(2)
        exchange.told(1, news(9), last=True)
        for number, heard in enumerate([[], [9], [], []]):
            exchange.told(0, news(number), last=False)
            assert edges_of(exchange.answers()) == {0: heard}

    def test_what_is_heard_does_not_depend_on_who_is_faster(self) -> None:
        histories = set()
        for order in sorted(set(itertools.permutations([0, 0, 0, 1, 1, 1, 2, 2, 2]))):
            exchange = InRounds(3)
            told, heard = [0, 0, 0], [[], [], []]  # type: ignore[var-annotated]
            queue, waiting = list(order), set[int]()
            while queue:
                worker = next((each for each in queue if each not in waiting), None)
                assert worker is not None, "all wait for each other"
                queue.remove(worker)
                exchange.told(worker, news(10 * worker + told[worker]), last=told[worker] == 2)
                waiting |= {worker} if told[worker] < 2 else set()
                told[worker] += 1
                for number, edges in edges_of(exchange.answers()).items():
                    heard[number].append(edges)
                    waiting.discard(number)
            histories.add(str(heard))
            if len(histories) > 1:
                break
        assert len(histories) == 1
