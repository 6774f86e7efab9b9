"""Compaction keeps what is worth something, whatever else is going on, and whenever it is killed."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import pytest

from ordeal.store import Entry, FailureReport, Outgoing, Store, compaction
from ordeal.store.backend import Backend, ShardName, ShardState, Span, Unreadable
from ordeal.store.compaction import Compacted, Compactor
from ordeal.store.reading import TRIES_MAX
from ordeal.store.records import BaseContent, Covers, Incoming, encode
from ordeal.store.shard import HEADER, framed

from ..samples.stores import NAMESPACE, PATIENCE_SECONDS, Place, medium_of, python_process, write_shard

NOTHING = Outgoing()


def found(*tapes: str, edges: Sequence[int]) -> Outgoing:
    return Outgoing(tuple(Entry(tape.encode(), tuple(edges)) for tape in tapes))


def failed(bucket: str, steps: int, count: int) -> Outgoing:
    return Outgoing(failures=(FailureReport(bucket, b'{"steps": %d}' % steps, steps, count),))


def tapes(incoming: Incoming) -> set[bytes]:
    return {entry.tape for entry in incoming.entries}


def compact(place: Place) -> Compacted | None:
    return Compactor(medium_of(place.open())).run()


def lose_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every member for lost."""
    monkeypatch.setattr(compaction, "LOST_SECONDS", -3600.0)


def shards(place: Place) -> int:
    return len(medium_of(place.open()).survey())


def bases(place: Place) -> int:
    medium = medium_of(place.open())
    medium.survey()
    return len(medium.bases())


def test_who_comes_later_gets_the_shortest_entries_and_everything_else(place: Place) -> None:
    a, b = place.member(), place.member()
    a.sync(found("a long one", edges=[1, 2]))
    a.sync(Outgoing((Entry(b"no edge"),), frozenset({50})))
    # It knows of nothing yet.
    b._take(b._joined(), found("short", edges=[1, 2, 3]))
    b._publish(b._joined())
    a.sync(failed("KeyError in f", 9, 2))
    b.sync(failed("KeyError in f", 4, 5))
    done = compact(place)
    assert done is not None
    assert (done.entries_read, done.entries_kept) == (3, 2)
    c = place.member()
    assert tapes(c.sync(NOTHING)) == {b"short", b"no edge"}
    assert c.edges() == {1, 2, 3, 50}
    (report,) = c.failures()
    assert (report.steps, report.count) == (4, 7)


def test_who_reads_on_after_a_compaction_gets_nothing_twice(place: Place) -> None:
    a, b = place.member(), place.member()
    a.sync(found("x", edges=[1]))
    assert tapes(b.sync(NOTHING)) == {b"x"}
    b.sync(found("z", edges=[9]))
    a.sync(NOTHING)
    assert compact(place) is not None
    assert b.sync(NOTHING).entries == a.sync(NOTHING).entries == ()
    assert not a._reader.bases.read | b._reader.bases.read  # they have all that is in it
    a.sync(found("y", edges=[2]))
    assert tapes(b.sync(NOTHING)) == {b"y"}
    c = place.member()
    assert tapes(c.sync(NOTHING)) == {b"x", b"y", b"z"}


def test_shards_of_lost_members_are_deleted_and_their_content_stays(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind = place.member()
    for number in range(3):
        place.member().sync(found(f"x{number}", edges=[number]))
    place.member().sync(NOTHING)
    assert shards(place) == 4
    lose_all(monkeypatch)
    done = compact(place)
    assert done is not None
    assert done.shards_deleted == 4
    assert shards(place) == 0
    assert tapes(behind.sync(NOTHING)) == {b"x0", b"x1", b"x2"}
    assert tapes(place.member().sync(NOTHING)) == {b"x0", b"x1", b"x2"}


def test_a_member_that_was_only_asleep_says_everything_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    asleep = place.member()
    asleep.sync(found("x", edges=[1]))
    lose_all(monkeypatch)
    compact(place)
    asleep.sync(found("y", edges=[2]))
    assert tapes(place.member().sync(NOTHING)) == {b"x", b"y"}


def test_nothing_new_is_not_compacted_again(place: Place) -> None:
    place.member().sync(found("x", edges=[1]))
    assert compact(place) is not None
    assert compact(place) is None
    assert bases(place) == 1


def test_old_bases_are_deleted_in_time(place: Place) -> None:
    a = place.member()
    for number in range(5):
        a.sync(found(f"x{number}", edges=[number]))
        assert compact(place) is not None
        assert bases(place) <= 2
    assert len(tapes(place.member().sync(NOTHING))) == 5


def test_a_compaction_that_is_done_keeps_no_other_waiting(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    a = place.member()
    for number in range(3):
        a.sync(found(f"x{number}", edges=[number]))
        assert compact(place) is not None


def test_a_lost_count_is_not_added_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    a = place.member()
    a.sync(failed("KeyError in f", 3, 2))
    lose_all(monkeypatch)
    compact(place)
    a.sync(failed("KeyError in f", 3, 4))
    compact(place)
    (report,) = place.member().failures()
    assert report.count == 4


def test_two_that_compact_at_once_make_no_difference(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    a = place.member()
    a.sync(found("x", edges=[1]))
    monkeypatch.setattr(Compactor, "_hold", lambda self: None)
    lose_all(monkeypatch)
    first, second = Compactor(medium_of(place.open())), Compactor(medium_of(place.open()))
    write = first.backend.write_base

    def late(name: ShardName, parts: Iterable[bytes]) -> None:
        place.member().sync(found("y", edges=[2]))
        assert second.run() is not None
        write(name, parts)

    monkeypatch.setattr(first.backend, "write_base", late)
    assert first.run() is not None
    assert bases(place) == 2
    assert tapes(place.member().sync(NOTHING)) == {b"x", b"y"}
    assert compact(place) is not None
    assert tapes(place.member().sync(NOTHING)) == {b"x", b"y"}


def test_one_at_a_time_compacts(place: Place) -> None:
    a = place.member()
    a.sync(found("x", edges=[1]))
    other = Compactor(medium_of(place.open()))
    other._hold()
    assert compact(place) is None


def base_of(*contents: BaseContent) -> bytes:
    return HEADER + b"".join(framed(encode(content)) for content in contents)


COVERS, ENTRY = Covers({"000000-fedcba9876543210": 500}), Entry(b"never", (9,))


@pytest.mark.parametrize(
    ("data", "refusal"),
    [
        (base_of(ENTRY), "begin"),
        (base_of(COVERS, ENTRY)[:-3], ""),
        (base_of(COVERS, ENTRY)[:-3] + b"xyz", "checksum"),
        (b"no base at all, and nothing else either", "no shard"),
        (HEADER + framed(b"rubbish"), "malformed"),
    ],
)
def test_a_damaged_base_is_refused_and_the_one_before_it_is_read(place: Place, data: bytes, refusal: str) -> None:
    a = place.member()
    a.sync(found("x", edges=[1]))
    compact(place)
    medium_of(place.open()).write_base(ShardName(7, "0123456789abcdef"), [data])
    reader = place.member()
    incoming = reader.sync(NOTHING)
    assert tapes(incoming) == {b"x"}
    assert refusal in incoming.refusal
    assert bool(incoming.refusal) == bool(refusal)
    for _ in range(TRIES_MAX):
        reader.sync(NOTHING)
    # It is given up.
    assert reader.sync(NOTHING).refused == 0


def test_damaged_shards_are_compacted_up_to_the_damage(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    a = place.member()
    a.sync(found("x", edges=[1]))
    whole = a._joined().shard
    write_shard(a, whole.part(0, whole.size) + b"rubbish that is no record")
    lose_all(monkeypatch)
    assert compact(place) is not None
    assert tapes(place.member().sync(NOTHING)) == {b"x"}
    assert shards(place) == 2  # the damaged one, and the one of the last member


# -- kills --


class Killed(BaseException):
    """Stands for the end of a process."""


class Mortal(Backend):
    """A backend whose process ends before or after its call number ``last``."""

    def __init__(self, backend: Backend, last: int) -> None:
        self.backend = backend
        self.left = last

    def _live(self) -> None:
        if self.left == 0:
            raise Killed
        self.left -= 1

    def _do[T](self, action: Callable[[], T]) -> T:
        self._live()
        result = action()
        self._live()
        return result

    def claim(self, token: str, preferred: int | None) -> int:
        return self._do(lambda: self.backend.claim(token, preferred))

    def survey(self) -> dict[ShardName, ShardState]:
        return self._do(self.backend.survey)

    def read(self, spans: Sequence[Span]) -> list[bytes | Unreadable]:
        return self._do(lambda: self.backend.read(spans))

    def bases(self) -> dict[ShardName, int]:
        return dict(self._do(self.backend.bases))

    def write(self, name: ShardName, offset: int, data: bytes) -> None:
        self._do(lambda: self.backend.write(name, offset, data))

    def write_base(self, name: ShardName, parts: Iterable[bytes]) -> None:
        def mortal() -> Iterator[bytes]:
            for part in parts:
                self._live()
                yield part

        self._do(lambda: self.backend.write_base(name, mortal()))

    def remove(self, shards: Collection[ShardName], bases: Collection[ShardName]) -> None:
        # One after the other, so that the process can end between any two.
        for name in shards:
            self._do(lambda name=name: self.backend.remove([name], []))  # type: ignore[misc]
        for name in bases:
            self._do(lambda name=name: self.backend.remove([], [name]))  # type: ignore[misc]

    def lease(self, key: str, token: str, seconds: float) -> bool:
        """Give it without a note, as if it were over for the next one."""
        return self._do(lambda: True)

    def close(self) -> None:
        self.backend.close()


def ends_at(place: Place, last: int) -> bool:
    """Whether a compaction whose process ends at its call number ``last`` does; then what is left is read."""
    namespace = f"ends at {last}"
    behind, a, b = (place.member(namespace) for _ in range(3))
    a.sync(found("x" * 50, edges=[1]))
    b.sync(found("y" * 50, edges=[2]))
    medium = medium_of(place.open(namespace))
    assert Compactor(medium).run() is not None
    place.member(namespace).sync(found("z" * 50, edges=[3]))
    said = {50 * each for each in (b"x", b"y", b"z")}
    try:
        Compactor(Mortal(medium, last)).run()
    except Killed:
        ended = True
    else:
        ended = False
    assert tapes(behind.sync(NOTHING)) == tapes(place.member(namespace).sync(NOTHING)) == said
    place.member(namespace).sync(found("z" * 51, edges=[4]))
    assert Compactor(medium).run() is not None
    assert tapes(place.member(namespace).sync(NOTHING)) == {*said, b"z" * 51}
    return ended


def test_it_may_end_at_any_moment(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "_PART_SIZE", 40)
    lose_all(monkeypatch)
    last = 0
    while ends_at(place, last):
        last += 1
    assert last > 20


COMPACTS = """
import sys
from pathlib import Path
from ordeal.store import Outgoing, compaction, open_store
from ordeal.store.compaction import Compactor

compaction.LOST_SECONDS, compaction.LEASE_SECONDS, compaction.RENEW_SECONDS = 0.05, 0.05, 0.0
compaction._PART_SIZE = 2000
store = open_store(sys.argv[1], sys.argv[2], folder=Path(sys.argv[3]))
print("begins", flush=True)
while True:
    Compactor(store._medium).run()
"""


def kills(place: Place, times: int) -> tuple[set[bytes], list[float]]:
    """What was acknowledged while those that compact were killed, and how long a reader took each time."""
    said: set[bytes] = set()
    waited: list[float] = []
    reader = place.member()
    for number in range(times):
        process = python_process(COMPACTS, place.url, NAMESPACE, place.folder)
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begins\n"
            ends = time.monotonic() + 0.02 * (1 + number % 7)
            while time.monotonic() < ends:
                member: Store = place.member()
                tape = f"{number} {len(said)} ".ljust(300, "x")
                assert not member.sync(found(tape, edges=[len(said)])).paused
                said.add(tape.encode())
                started = time.monotonic()
                reader.sync(NOTHING)
                waited.append(time.monotonic() - started)
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=PATIENCE_SECONDS)
    return said, waited


def check_kills(place: Place, times: int) -> None:
    said, waited = kills(place, times)
    assert waited
    late = place.member()
    assert tapes(late.sync(NOTHING)) == said
    assert late.edges() == set(range(len(said)))


def test_nothing_acknowledged_is_lost_when_it_is_killed(place: Place) -> None:
    check_kills(place, 2)


@pytest.mark.nightly
def test_nothing_acknowledged_is_lost_when_it_is_killed_again_and_again(place: Place) -> None:
    check_kills(place, 60)
