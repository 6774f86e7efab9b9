"""Compaction keeps what is worth something, whatever else is going on, and whenever it is killed."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Collection, Sequence

import pytest

from ordeal.store import Entry, FailureReport, Incoming, Outgoing, compaction
from ordeal.store.backend import Backend, ShardState, Span, Unreadable
from ordeal.store.compaction import LOST_MAX, compact, is_worth_it

from ..samples.stores import NAMESPACE, PATIENCE_SECONDS, Place, backend_of, python_process, write_shard

NOTHING = Outgoing()


def found(*tapes: str, edges: Sequence[int]) -> Outgoing:
    return Outgoing(tuple(Entry(tape.encode(), tuple(edges)) for tape in tapes))


def failed(bucket: str, steps: int, count: int) -> Outgoing:
    return Outgoing(failures=(FailureReport(bucket, b'{"steps": %d}' % steps, steps, count),))


def tapes(incoming: Incoming) -> set[bytes]:
    return {entry.tape for entry in incoming.entries}


@pytest.fixture
def all_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every member for lost, and give each compaction its turn."""
    monkeypatch.setattr(compaction, "LOST_SECONDS", -3600.0)
    monkeypatch.setattr(compaction, "LEASE_SECONDS", 0.0)


def shards(place: Place) -> int:
    return len(backend_of(place.open()).survey())


def compacted(place: Place, namespace: str = NAMESPACE) -> int:
    return compact(backend_of(place.open(namespace)))


@pytest.mark.usefixtures("all_lost")
def test_who_comes_later_gets_the_shortest_entries_and_everything_else(place: Place) -> None:
    a, b, behind = place.open(), place.open(), place.open()
    a.sync(found("a long one", edges=[1, 2]))
    a.sync(Outgoing((Entry(b"no edge"),), frozenset({50})))
    # It knows of nothing yet.
    b._take(found("short", edges=[1, 2, 3]))
    b._publish()
    a.sync(failed("KeyError in f", 9, 2))
    b.sync(failed("KeyError in f", 4, 5))
    place.open().sync(NOTHING)
    assert shards(place) == 3
    assert compacted(place) == 3
    assert shards(place) == 1
    for late in (place.open(), behind):
        assert tapes(late.sync(NOTHING)) == {b"short", b"no edge"}
        assert late.edges() == {1, 2, 3, 50}
        (report,) = late.failures()
        assert (report.steps, report.count) == (4, 7)
    assert a.sync(NOTHING).entries == ()


@pytest.mark.usefixtures("all_lost")
def test_a_member_that_was_only_asleep_says_everything_again_and_is_counted_once(place: Place) -> None:
    asleep = place.open()
    asleep.sync(found("x", edges=[1]))
    asleep.sync(failed("KeyError in f", 3, 2))
    place.open().sync(NOTHING)
    assert compacted(place) == 2
    asleep.sync(failed("KeyError in f", 3, 4))
    late = place.open()
    assert tapes(late.sync(NOTHING)) == {b"x"}
    assert [report.count for report in late.failures()] == [4]
    assert compacted(place) == 3
    assert [report.count for report in place.open().failures()] == [4]


def test_members_that_live_are_left_alone(place: Place) -> None:
    for number in range(2):
        place.open().sync(found(f"x{number}", edges=[number]))
    assert compacted(place) == 0
    assert shards(place) == 2


def test_one_at_a_time_compacts(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "LOST_SECONDS", -3600.0)
    for number in range(2):
        place.open().sync(found(f"x{number}", edges=[number]))
    assert backend_of(place.open()).lease(100)
    assert compacted(place) == 0


@pytest.mark.usefixtures("all_lost")
def test_damaged_shards_are_compacted_up_to_the_damage_and_stay(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "LOST_MAX", 1)
    a = place.open()
    a.sync(found("x", edges=[1]))
    write_shard(a, bytes(a._shard) + b"rubbish that is not a record")
    assert compacted(place) == 1
    assert shards(place) == 2  # the damaged one, and the new one
    late = place.open()
    assert tapes(late.sync(NOTHING)) == {b"x"}
    assert not late.is_compaction_due


def test_it_is_worth_it_when_many_are_lost_or_most_of_what_they_left_is_new() -> None:
    large = compaction.LOST_SIZE_MIN
    assert [is_worth_it(sizes) for sizes in ([], [9] * LOST_MAX, [9] * (LOST_MAX + 1))] == [False, False, True]
    assert [is_worth_it(sizes) for sizes in ([large], [large, large], [large] * 3)] == [False, False, True]


# -- kills --


class Killed(BaseException):
    """Stands for the end of a process."""


class Mortal(Backend):
    """A backend whose process ends before or after its call number ``last``."""

    def __init__(self, backend: Backend, last: int) -> None:
        self.backend = backend
        self.left = last

    def _do[T](self, action: Callable[[], T]) -> T:
        self._live()
        result = action()
        self._live()
        return result

    def _live(self) -> None:
        if self.left == 0:
            raise Killed
        self.left -= 1

    def survey(self) -> dict[str, ShardState]:
        return self._do(self.backend.survey)

    def read(self, spans: Sequence[Span]) -> list[bytes | Unreadable]:
        return self._do(lambda: self.backend.read(spans))

    def write(self, token: str, offset: int, data: bytes) -> None:
        self._do(lambda: self.backend.write(token, offset, data))

    def remove(self, tokens: Collection[str]) -> None:
        # One after the other, so that the process can end between any two.
        for token in tokens:
            self._do(lambda token=token: self.backend.remove([token]))  # type: ignore[misc]

    def lease(self, seconds: float) -> bool:
        return self._do(lambda: self.backend.lease(seconds))

    def close(self) -> None:
        self.backend.close()


def ends_at(place: Place, last: int) -> bool:
    """Whether a compaction whose process ends at its call number ``last`` does; then what is left is read."""
    namespace = f"ends at {last}"
    behind = place.open(namespace)
    for number, letter in enumerate("xy"):
        place.open(namespace).sync(found(letter * 50, edges=[number]))
    assert compacted(place, namespace) == 2
    place.open(namespace).sync(found("z" * 50, edges=[3]))
    said = {50 * each for each in (b"x", b"y", b"z")}
    try:
        compact(Mortal(backend_of(place.open(namespace)), last))
    except Killed:
        ended = True
    else:
        ended = False
    assert tapes(behind.sync(NOTHING)) == tapes(place.open(namespace).sync(NOTHING)) == said
    place.open(namespace).sync(found("z" * 51, edges=[4]))
    assert compacted(place, namespace) >= 2
    assert tapes(place.open(namespace).sync(NOTHING)) == {*said, b"z" * 51}
    return ended


@pytest.mark.usefixtures("all_lost")
def test_it_may_end_at_any_moment(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "_PART_SIZE", 40)
    last = 0
    while ends_at(place, last):
        last += 1
    assert last > 12


COMPACTS = """
import sys
from ordeal.store import Outgoing, compaction, open_store

compaction.LOST_SECONDS, compaction.LEASE_SECONDS, compaction._PART_SIZE = 0.05, 0.05, 2000
store = open_store(sys.argv[1], sys.argv[2])
print("begins", flush=True)
while True:
    store.compact()
"""


def check_kills(place: Place, times: int) -> None:
    """Kill those that compact while members publish, and see that all that was acknowledged is there."""
    said: set[bytes] = set()
    for number in range(times):
        process = python_process(COMPACTS, place.url, NAMESPACE)
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begins\n"
            ends = time.monotonic() + 0.02 * (1 + number % 7)
            while time.monotonic() < ends:
                tape = f"{number} {len(said)} ".ljust(300, "x")
                assert not place.open().sync(found(tape, edges=[len(said)])).paused
                said.add(tape.encode())
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=PATIENCE_SECONDS)
    late = place.open()
    assert tapes(late.sync(NOTHING)) == said
    assert late.edges() == set(range(len(said)))


def test_nothing_acknowledged_is_lost_when_it_is_killed(place: Place) -> None:
    check_kills(place, 2)


@pytest.mark.nightly
def test_nothing_acknowledged_is_lost_when_it_is_killed_again_and_again(place: Place) -> None:
    check_kills(place, 60)
