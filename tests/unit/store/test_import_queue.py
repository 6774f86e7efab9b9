"""Entries that wait for a run: the order in which they come, and which never do."""

from __future__ import annotations

import pytest

from ordeal.store import Entry
from ordeal.store.import_queue import ImportQueue


def entry(name: str, *edges: int) -> Entry:
    return Entry(name.encode(), edges)


def queue_of(*entries: Entry) -> ImportQueue:
    queue = ImportQueue()
    for each in entries:
        queue.add(each, {})
    return queue


def names(entries: list[Entry]) -> list[str]:
    return [each.tape.decode() for each in entries]


def test_the_rarest_edge_of_an_entry_decides_and_then_its_age() -> None:
    queue = queue_of(entry("a", 1), entry("b", 1, 2), entry("c", 3), entry("d", 4), entry("e"))
    assert names(queue.take(None, set(), {1: 5, 2: 2, 3: 3, 4: 3})) == ["b", "d", "c", "e"]


def test_what_was_distilled_comes_before_what_is_newer_and_as_rare() -> None:
    queue = ImportQueue()
    queue.add(entry("distilled", 1), {}, distilled=True)
    for number in range(5):
        queue.add(entry(f"new {number}", 10 + number), {})
    assert names(queue.take(2, set(), {12: 0} | dict.fromkeys([1, 10, 11, 13, 14], 1))) == ["new 2", "distilled"]


def test_what_is_known_by_then_never_comes() -> None:
    queue = queue_of(entry("a", 1, 2), entry("b", 2), entry("c", 2, 3))
    known = {3}
    carriers = {1: 1, 2: 3, 3: 1}
    assert names(queue.take(1, known, carriers)) == ["c"]
    assert known == {2, 3}
    assert names(queue.take(None, known, carriers)) == ["a"]
    assert len(queue) == 0


def test_the_oldest_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordeal.store.import_queue.ENTRIES_MAX", 2)
    assert names(queue_of(entry("a"), entry("b"), entry("c")).take(None, set(), {})) == ["c", "b"]
    monkeypatch.setattr("ordeal.store.import_queue.SIZE_MAX", 30)
    assert names(queue_of(entry("a", 1, 2), entry("b", 3, 4)).take(None, set(), {})) == ["b"]


def test_what_becomes_common_while_it_waits_goes_back() -> None:
    queue = ImportQueue()
    carriers = {1: 1, 2: 1}
    queue.add(entry("a", 1), carriers)
    queue.add(entry("b", 2), carriers)
    carriers[2] = 9
    assert names(queue.take(1, set(), carriers)) == ["a"]
    assert names(queue.take(1, set(), carriers)) == ["b"]
