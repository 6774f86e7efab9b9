"""Members of a store learn what the others found, each thing once, whatever is lost, late, repeated or hostile."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest

from ordeal.store import Entry, FailureReport, Incoming, Outgoing, Store
from ordeal.store import store as store_module
from ordeal.store.backend import Backend, ShardState, Span, UnreachableError, Unreadable
from ordeal.store.records import encode
from ordeal.store.shard import HEADER, framed
from ordeal.store.store import ImportQueue

from ..samples.stores import Place, backend_of, write_shard

NOTHING = Outgoing()


def found(*names: str, edges: Sequence[int] = ()) -> Outgoing:
    return Outgoing(tuple(Entry(name.encode(), tuple(edges)) for name in names))


def failed(bucket: str, steps: int = 5, count: int = 1, trace: bytes | None = None) -> Outgoing:
    text = b'{"steps": %d}' % steps if trace is None else trace
    return Outgoing(failures=(FailureReport(bucket, text, steps, count),))


def tapes(incoming: Incoming) -> list[bytes]:
    return [entry.tape for entry in incoming.entries]


# -- members --


def test_no_two_members_have_the_same_number(place: Place) -> None:
    assert len({place.open().number for _ in range(3)}) == 3


def test_other_namespaces_are_other_stores(place: Place) -> None:
    a, b = place.open("one"), place.open("other")
    a.sync(found("x", edges=[1]))
    assert b.sync(NOTHING).entries == ()


def test_who_only_looks_sees_everything(place: Place) -> None:
    a = place.open()
    a.sync(found("x", edges=[1, 2]))
    a.sync(failed("KeyError in f"))
    looker = place.open()
    assert looker.edges() == {1, 2}
    assert [report.bucket for report in looker.failures()] == ["KeyError in f"]


def test_members_see_how_many_they_are(place: Place) -> None:
    a, b = place.open(), place.open()
    assert [each.sync(NOTHING).members for each in (a, b, a)] == [1, 2, 2]


# -- entries and edges --


def test_what_one_found_the_others_get_once(place: Place) -> None:
    a, b, c = place.open(), place.open(), place.open()
    assert a.sync(found("x", edges=[1, 2])).entries == ()
    got = b.sync(NOTHING)
    assert got.entries == (Entry(b"x", (1, 2)),)
    assert got.edges == {1, 2}
    assert b.sync(NOTHING) == replace(got, entries=(), edges=frozenset())
    assert tapes(c.sync(NOTHING)) == [b"x"]
    assert a.sync(NOTHING).entries == ()


def test_an_entry_without_a_new_edge_stays_at_home(place: Place) -> None:
    a, b, c = place.open(), place.open(), place.open()
    a.sync(found("x", edges=[1, 2]))
    b.sync(found("y", edges=[2]))
    assert tapes(c.sync(NOTHING)) == [b"x"]


def test_an_entry_that_names_no_edge_is_shared(place: Place) -> None:
    a, b = place.open(), place.open()
    a.sync(found("x"))
    assert tapes(b.sync(NOTHING)) == [b"x"]


def test_what_was_reached_here_is_not_imported(place: Place) -> None:
    a, b = place.open(), place.open()
    a.sync(found("x", edges=[1]))
    got = b.sync(Outgoing(edges=frozenset({1})))
    assert got.entries == ()
    assert got.edges == {1}


def test_edges_are_shared_without_entries(place: Place) -> None:
    a, b = place.open(), place.open()
    a.sync(Outgoing(edges=frozenset({7, 2**64 - 1})))
    assert b.sync(NOTHING).edges == {7, 2**64 - 1}
    assert b.edges() == a.edges() == {7, 2**64 - 1}


def test_the_same_tape_of_two_members_is_imported_once(place: Place) -> None:
    a, b, c = place.open(), place.open(), place.open()
    a.sync(found("x"))
    # It knows of nothing yet.
    b._take(found("x"))
    b._publish()
    assert tapes(c.sync(NOTHING)) == [b"x"]
    assert c.sync(NOTHING).entries == ()


def test_saying_it_again_writes_nothing(place: Place) -> None:
    a = place.open()
    everything = replace(failed("KeyError in f"), entries=found("x", "y").entries, edges=frozenset({4}))
    a.sync(everything)
    (before,) = backend_of(a).survey().values()
    a.sync(everything)
    (after,) = backend_of(a).survey().values()
    assert after.size == before.size


def test_rare_edges_come_first_and_then_the_newest(place: Place) -> None:
    a, b = place.open(), place.open()
    a.sync(found("common", edges=[1, 2]))
    a.sync(found("as common", edges=[1, 2, 3]))
    a.sync(found("rare", edges=[9]))
    a.sync(found("rare and new", edges=[1, 10]))
    a.sync(found("without"))
    assert tapes(b.sync(NOTHING)) == [b"rare and new", b"rare", b"as common", b"without"]


def test_no_more_are_imported_at_a_time_than_was_asked_for(place: Place) -> None:
    a, b = place.open(), place.open()
    for number in range(5):
        a.sync(found(f"x{number}", edges=[number]))
    got = [tapes(b.sync(NOTHING, max_entries=2)) for _ in range(4)]
    assert got == [[b"x4", b"x3"], [b"x2", b"x1"], [b"x0"], []]
    assert b.sync(NOTHING, max_entries=0).entries == ()


def test_large_records_are_read_in_pieces(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "EXCHANGE_SIZE_MAX", 1_000_000)
    monkeypatch.setattr(store_module, "CHUNK_SIZE", 300_000)
    monkeypatch.setattr("ordeal.store.shard.CHUNK_SIZE", 300_000)
    a, b = place.open(), place.open()
    large = [bytes([number]) * 1_500_000 for number in range(3)]
    assert a.sync(Outgoing(tuple(Entry(tape) for tape in large))).refused == 0
    # Each exchange stops at its limit, and the next one goes on.
    got = [tapes(b.sync(NOTHING)) for _ in range(6)]
    assert sorted(itertools.chain.from_iterable(got)) == large
    assert max(map(len, got)) == 1


def test_what_is_too_large_is_refused_and_the_rest_is_published(place: Place) -> None:
    a, b = place.open(), place.open()
    incoming = a.sync(Outgoing((Entry(bytes(17 * 2**20)), Entry(b"x"), Entry(b"y", (2**64,)))))
    assert incoming.refused == 2
    assert "17825" in incoming.refusal
    assert tapes(b.sync(NOTHING)) == [b"x"]


def test_a_member_that_has_said_all_it_may_is_told_so(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "INPUT_BYTES_MAX", 1000)
    a = place.open()
    incoming = a.sync(found("x" * 500, "y" * 500))
    assert incoming.refused == 1
    assert "the most that are allowed" in incoming.refusal


# -- failures --


def test_one_bucket_of_many_members_is_one(place: Place) -> None:
    members = [place.open() for _ in range(3)]
    for number, member in enumerate(members):
        member.sync(failed("KeyError in f", steps=9 - number, count=10))
    (report,) = place.open().failures()
    assert report == FailureReport("KeyError in f", b'{"steps": 7}', 7, 30)
    assert [member.failures() for member in members] == [[report]] * 3


def test_counts_are_of_all_that_a_member_has_met(place: Place) -> None:
    a, b = place.open(), place.open()
    for count in (1, 4, 4, 2):
        a.sync(failed("KeyError in f", count=count))
    b.sync(failed("KeyError in f", count=3))
    assert place.open().failures()[0].count == 7


def test_members_hear_of_what_is_new_in_a_bucket(place: Place) -> None:
    a, b = place.open(), place.open()
    a.sync(failed("KeyError in f", steps=8))
    assert b.sync(NOTHING).failures[0].steps == 8
    assert b.sync(NOTHING).failures == ()
    a.sync(failed("KeyError in f", steps=3))
    assert b.sync(failed("other")).failures[0].trace == b'{"steps": 3}'


def test_a_longer_trace_is_not_taken_and_its_count_is(place: Place) -> None:
    a, b = place.open(), place.open()
    a.sync(failed("KeyError in f", steps=3))
    b.sync(failed("KeyError in f", steps=8, trace=b"x" * 5000))
    assert place.open().failures() == [FailureReport("KeyError in f", b'{"steps": 3}', 3, 2)]
    sizes = [state.size for state in backend_of(b).survey().values()]
    assert max(sizes) < 5000


def test_a_bucket_without_a_trace_gets_the_first_one(place: Place) -> None:
    a, b = place.open(), place.open()
    a.sync(failed("KeyError in f", steps=1, trace=b""))
    b.sync(failed("KeyError in f", steps=8))
    assert place.open().failures()[0].trace == b'{"steps": 8}'


def test_any_text_names_a_bucket(place: Place) -> None:
    a, b = place.open(), place.open()
    a.sync(failed("\ud800 \0\n" + "é" * 9000))
    (report,) = b.sync(NOTHING).failures
    assert report.bucket.startswith("? \0\né")
    assert a.failures() == b.failures()


# -- hostile members --

ENTRY = framed(encode(Entry(b"good", (5,))))


@pytest.mark.parametrize(
    ("data", "refusal"),
    [
        (b"x" * 500, "not a shard of ordeal"),
        (b"ordeal-shard\n\x09\x00" + bytes(20), "version 9"),
        (HEADER + bytes(500), "not a record"),
        (HEADER + framed(bytes(500)), "malformed"),
        (HEADER + framed(b"\x91" * 100_000), "malformed"),
        (HEADER + framed(encode(frozenset({1})) + b"\0"), "malformed"),
        (HEADER + ENTRY[:-1] + b"x" + ENTRY, "checksum"),
    ],
)
def test_a_shard_that_nobody_wrote_is_refused_and_the_others_are_read(place: Place, data: bytes, refusal: str) -> None:
    a, b = place.open(), place.open()
    write_shard(a, data)
    a.sync(found("x"))
    got = b.sync(NOTHING)
    assert (got.refused, tapes(got), got.paused) == (1, [b"x"], "")
    assert refusal in got.refusal
    assert "0123456789abcdef" in got.refusal
    # It is said once.
    assert [b.sync(NOTHING).refused for _ in range(5)] == [0] * 5


def test_what_stands_before_damage_is_read_and_nothing_behind(place: Place) -> None:
    a = place.open()
    other = framed(encode(Entry(b"behind", (6,))))
    write_shard(a, HEADER + ENTRY + ENTRY[:20] + other * 3)
    got = a.sync(NOTHING)
    assert (tapes(got), got.refused) == ([b"good"], 1)


def test_an_incomplete_end_is_waited_for(place: Place) -> None:
    a = place.open()
    data = HEADER + ENTRY
    for end in range(0, len(data), 7):
        write_shard(a, data[:end] or b"o")
        assert a.sync(NOTHING) == Incoming(members=2)
    write_shard(a, data)
    assert tapes(a.sync(NOTHING)) == [b"good"]


def test_a_write_that_is_seen_in_pieces_is_read_when_it_is_whole(place: Place) -> None:
    a = place.open()
    write_shard(a, HEADER + bytes(len(ENTRY)))
    assert a.sync(NOTHING).refused == 1
    write_shard(a, HEADER + ENTRY)
    assert tapes(a.sync(NOTHING)) == [b"good"]


def test_an_endless_shard_does_not_keep_the_others_waiting(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "EXCHANGE_SIZE_MAX", 100_000)
    a, b = place.open(), place.open()
    garbage = HEADER + b"".join(framed(encode(Entry(b"%d" % number * 1000))) for number in range(4_000))
    for number in range(4):
        write_shard(a, garbage, token=f"{number:016x}")
    a.sync(found("x", edges=[1]))
    got = [b.sync(NOTHING) for _ in range(5)]
    assert any(b"x" in tapes(each) for each in got)


# -- a store that is away --


class Flaky(Backend):
    """A backend that can be away, that fails after its work is done, and that counts what is asked of it."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.away = ""
        self.forgets_to_answer = False
        self.calls = 0

    def _ask(self) -> None:
        self.calls += 1
        if self.away:
            raise UnreachableError(self.away)

    def survey(self) -> dict[str, ShardState]:
        self._ask()
        return self.backend.survey()

    def read(self, spans: Sequence[Span]) -> list[bytes | Unreadable]:
        self._ask()
        return self.backend.read(spans)

    def write(self, token: str, offset: int, data: bytes) -> None:
        self._ask()
        self.backend.write(token, offset, data)
        if self.forgets_to_answer:
            raise UnreachableError("no answer")

    def close(self) -> None:
        self.backend.close()


def flaky(store: Store) -> Flaky:
    store._backend = backend = Flaky(store._backend)
    # No attempt takes any time, so that none is waited for.
    store._clock = lambda: 0.0
    return backend


def test_what_was_found_while_the_store_was_away_is_published_later(place: Place) -> None:
    a, b = place.open(), place.open()
    backend = flaky(a)
    backend.away = "the cable is out"
    got = [a.sync(found(f"x{n}", edges=[n])) for n in range(3)]
    assert all(each.paused.startswith("the cable is out; ") for each in got)
    assert [each.members for each in got] == [0, 0, 0]
    assert b.sync(NOTHING).entries == ()
    backend.away = ""
    assert a.sync(NOTHING).paused == ""
    assert sorted(tapes(b.sync(NOTHING))) == [b"x0", b"x1", b"x2"]


def test_a_store_that_takes_but_does_not_answer_has_everything_once(place: Place) -> None:
    a, b = place.open(), place.open()
    backend = flaky(a)
    backend.forgets_to_answer = True
    for number in range(3):
        assert a.sync(found(f"x{number}", edges=[number])).paused
    backend.forgets_to_answer = False
    a.sync(found("x3", edges=[3]))
    got = b.sync(NOTHING)
    assert sorted(tapes(got)) == [b"x0", b"x1", b"x2", b"x3"]
    assert got.refused == 0


@pytest.mark.parametrize(("hangs", "waits"), [(0.0, 0.0), (1.0, 9.0), (5.0, 30.0)])
def test_a_store_that_hangs_is_not_asked_again_at_once(place: Place, hangs: float, waits: float) -> None:
    a = place.open()
    backend = flaky(a)
    now = 0.0

    def clock() -> float:
        nonlocal now
        # As if each look at the clock came so long after the last one, in an attempt that hangs.
        now += hangs if backend.away else 0.0
        return now

    a._clock = clock
    backend.away = "hangs"
    assert a.sync(NOTHING).paused
    calls = backend.calls
    backend.away = ""
    now += waits / 2
    assert bool(a.sync(NOTHING).paused) == (waits > 0)
    assert (backend.calls == calls) == (waits > 0)
    now += waits / 2 + 0.1
    assert not a.sync(NOTHING).paused


def test_looking_at_a_store_that_is_away_shows_what_is_known(place: Place) -> None:
    a = place.open()
    a.sync(replace(failed("KeyError in f"), edges=frozenset({1})))
    flaky(a).away = "the cable is out"
    assert a.edges() == {1}
    assert len(a.failures()) == 1


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


def test_what_was_there_at_the_first_look_comes_before_what_is_newer_and_as_rare() -> None:
    queue = queue_of(entry("known", 1), entry("seen", 2))
    assert names(queue.take(1, set(), {})) == ["seen"]
    queue.add(entry("new", 3), {})
    queue.add(entry("newer", 4), {})
    assert names(queue.take(None, set(), {})) == ["known", "newer", "new"]


def test_what_is_known_by_then_never_comes() -> None:
    queue = queue_of(entry("a", 1, 2), entry("b", 2), entry("c", 2, 3))
    known = {3}
    carriers = {1: 1, 2: 3, 3: 1}
    assert names(queue.take(1, known, carriers)) == ["c"]
    assert known == {2, 3}
    assert names(queue.take(None, known, carriers)) == ["a"]
    assert len(queue) == 0


def test_the_oldest_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordeal.store.store.QUEUE_MAX", 2)
    assert names(queue_of(entry("a"), entry("b"), entry("c")).take(None, set(), {})) == ["c", "b"]
    monkeypatch.setattr("ordeal.store.store.INPUT_BYTES_MAX", 30)
    assert names(queue_of(entry("a", 1, 2), entry("b", 3, 4)).take(None, set(), {})) == ["b"]


def test_what_becomes_common_while_it_waits_goes_back() -> None:
    queue = ImportQueue()
    carriers = {1: 1, 2: 1}
    queue.add(entry("a", 1), carriers)
    queue.add(entry("b", 2), carriers)
    carriers[2] = 9
    assert names(queue.take(1, set(), carriers)) == ["a"]
    assert names(queue.take(1, set(), carriers)) == ["b"]
