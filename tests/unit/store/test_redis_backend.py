"""A Redis server that members share, a real one: what is killed loses nothing, and what is hostile is refused."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from ordeal.errors import StoreError
from ordeal.store import Entry, FailureReport, Outgoing, Store, open_store
from ordeal.store.backend import Span, UnreachableError
from ordeal.store.redis_backend import RedisBackend

from ..samples.stores import (
    NAMESPACE,
    PATIENCE_SECONDS,
    RedisServer,
    backend_of,
    free_port,
    prefix_of,
    python_process,
    running_server,
    write_shard,
)

NOTHING = Outgoing()

# Each step has an edge of its own, one that all share, and a failure that all meet. A line is logged when `sync`
# has returned.
MEMBER = """
import sys, time
from ordeal.store import Entry, FailureReport, Outgoing, open_store

url, number, log, steps = sys.argv[1], int(sys.argv[2]), open(sys.argv[3], "a", buffering=1), int(sys.argv[4])
store = open_store(url, "kill")
for step in range(steps):
    edges = (number * 1_000_000 + step, 900_000_000 + step)
    entry = Entry(f"{number} {step}".encode(), edges)
    failure = FailureReport("KeyError in f", b"%d" % number, 100 - number, step + 1)
    incoming = store.sync(Outgoing((entry,), frozenset(edges), (failure,)))
    assert not incoming.refused, incoming.refusal
    log.write(f"{'waits' if incoming.paused else 'acked'} {number} {step}\\n")
    time.sleep(0.005)
while incoming.paused:
    time.sleep(0.01)
    incoming = store.sync(Outgoing())
store.close()
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    """A server of this test's own, which it may end."""
    folder = tmp_path / "redis"
    folder.mkdir()
    with running_server(folder) as running:
        yield running


@pytest.fixture
def members() -> Iterator[list[subprocess.Popen[str]]]:
    """Takes processes, and ends those that a test leaves: they would go on for ever."""
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()


@pytest.fixture
def shared(redis_server: RedisServer) -> RedisServer:
    """An empty server, which goes on."""
    redis_server.client().flushall()
    return redis_server


def member(server: RedisServer) -> Store:
    store = server.connected.enter_context(open_store(server.url, NAMESPACE))
    # No attempt takes any time, so that none is waited for.
    store._clock = lambda: 0.0
    return store


def entry(name: str, *edges: int) -> Outgoing:
    return Outgoing((Entry(name.encode(), edges),))


def tapes(store: Store) -> list[bytes]:
    return sorted(each.tape for each in store.sync(NOTHING).entries)


def wait_for_lines(log: Path, count: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not log.exists() or log.read_text().count("\n") < count:
        assert time.monotonic() < deadline, f"{log.name} does not get {count} lines"
        time.sleep(0.01)


def logged(logs: list[Path], what: str) -> list[tuple[int, list[float]]]:
    lines = [line.split() for log in logs for line in log.read_text().splitlines()]
    return [(int(number), list(map(float, values))) for kind, number, *values in lines if kind == what]


# -- what is killed --


def test_nothing_acknowledged_is_lost_when_a_member_and_the_server_are_killed(
    server: RedisServer, tmp_path: Path, members: list[subprocess.Popen[str]]
) -> None:
    steps = 100
    logs = [tmp_path / f"log{number}" for number in range(4)]
    # The first is killed, and must not have come to its end before.
    for number, log in enumerate(logs):
        members.append(python_process(MEMBER, server.url, number, log, steps * (1 if number else 10)))
    for log in logs:
        wait_for_lines(log, 20)
    server.kill()
    members[0].kill()
    time.sleep(0.2)
    server.start()
    for process in members[1:]:
        process.communicate()
        assert process.returncode == 0
    members[0].communicate()

    store = open_store(server.url, "kill")
    # Those that go on publish also what they found meanwhile.
    published = [(number, int(step)) for number, (step,) in logged(logs, "acked") + logged(logs[1:], "waits")]
    assert len(published) > 3 * steps
    got = {each.tape for each in store.sync(NOTHING).entries}
    assert {f"{number} {step}".encode() for number, step in published} <= got
    # A single process that merges what all have found knows the same edges, but for a step that was not acknowledged.
    merged = {edge for number, step in published for edge in (number * 1_000_000 + step, 900_000_000 + step)}
    after = 1 + max(step for number, step in published if number == 0)
    assert merged <= store.edges() <= merged | {after, 900_000_000 + after}
    # One planted bug is one bucket. It has the shortest trace, and the counts of all.
    (report,) = store.failures()
    assert (report.bucket, report.steps, report.trace) == ("KeyError in f", 97, b"3")
    assert report.count - 3 * steps in (after, after + 1)


def test_a_server_that_forgot_everything_is_told_again(server: RedisServer) -> None:
    a, b = member(server), member(server)
    failure = FailureReport("KeyError in f", b"{}", 3, 5)
    a.sync(Outgoing((Entry(b"x", (1,)),), frozenset({1, 2}), (failure,)))
    b.sync(entry("y", 3))
    server.client().flushall()
    c = member(server)
    c.sync(entry("z", 4))
    for store in (a, b, a, b):
        assert store.sync(NOTHING).refused == 0
    late = member(server)
    assert tapes(late) == [b"x", b"y", b"z"]
    assert [store.edges() for store in (a, b, c, late)] == [{1, 2, 3, 4}] * 4
    assert [store.failures() for store in (a, b, c, late)] == [[failure]] * 4


def test_a_server_that_forgot_the_last_minutes_is_told_them_again(server: RedisServer) -> None:
    a, b = member(server), member(server)
    a.sync(entry("x", 1))
    kept = {key: server.client().dump(key) for key in server.client().scan_iter()}
    a.sync(entry("y", 2))
    b.sync(NOTHING)
    server.client().flushall()
    for key, value in kept.items():
        server.client().restore(key, 0, value)  # type: ignore[arg-type]
    a.sync(entry("z", 3))
    assert tapes(b) == [b"z"]
    assert tapes(member(server)) == [b"x", b"y", b"z"]


def test_a_search_goes_on_while_the_server_is_away(server: RedisServer) -> None:
    a, b = member(server), member(server)
    a.sync(entry("x", 1))
    b.sync(NOTHING)
    server.kill()
    paused = a.sync(entry("y", 2))
    assert "Connection refused" in paused.paused
    assert "bytes wait for it" in paused.paused
    assert paused.members == 0
    assert a.edges() == {1, 2}
    server.start()
    assert a.sync(NOTHING).paused == ""
    assert tapes(b) == [b"y"]


def test_a_server_that_began_anew_unnoticed_is_not_missed(server: RedisServer) -> None:
    a = member(server)
    a.sync(NOTHING)
    server.kill()
    server.start()
    # Its connection is dead, which it does not know yet.
    assert a.sync(entry("x", 1)).paused == ""


def test_a_server_that_takes_no_writes_pauses(shared: RedisServer) -> None:
    a = member(shared)
    shared.client().config_set("maxmemory", 1)
    try:
        assert "maxmemory" in a.sync(entry("x", 1)).paused
    finally:
        shared.client().config_set("maxmemory", 0)
    assert a.sync(NOTHING).paused == ""
    assert member(shared).edges() == {1}


# -- what cannot be opened --


def test_a_server_that_is_not_there_is_an_error() -> None:
    port = free_port()
    with pytest.raises(StoreError, match=f"redis://127.0.0.1:{port}/0: .*refused") as caught:
        open_store(f"redis://127.0.0.1:{port}/0", NAMESPACE)
    assert "redis-server" in str(caught.value.hint)


def test_a_database_that_is_not_there_is_an_error(shared: RedisServer) -> None:
    with pytest.raises(StoreError, match="DB index is out of range"):
        open_store(f"redis://127.0.0.1:{shared.port}/99", NAMESPACE)


def test_a_password_is_asked_for_and_not_printed(shared: RedisServer) -> None:
    client = shared.client()
    client.config_set("requirepass", "p@ss")
    try:
        for secret, said in (("", "asks for a password"), (":wrong@", "refuses the password")):
            with pytest.raises(StoreError, match=said) as caught:
                open_store(f"redis://{secret}127.0.0.1:{shared.port}/0", NAMESPACE)
            assert "wrong" not in str(caught.value)
            assert "ORDEAL_STORE" in str(caught.value.hint)
        with open_store(f"redis://:p%40ss@127.0.0.1:{shared.port}/0", NAMESPACE) as store:
            assert store.sync(NOTHING).paused == ""
    finally:
        client.config_set("requirepass", "")


ANSWERS = [
    *(
        b"$-1",
        b"$-7",
        b"$abc",
        b"$5\r\nhello",
        b"$9999999999\r\nx",
        b":5",
        b":abc",
        b":-9",
        b"+OK",
        b"+\xff",
        b"-ERR no",
    ),
    *(b"*-1", b"*abc", b"*2\r\n+a\r\n:1", b"*999999999", b"*1\r\n" * 20_000, b"%2", b"_", b",x", b"(99", b"#x"),
    *(b"", b"\0\xff", b"HTTP/1.1 400 Bad Request"),
]


@contextlib.contextmanager
def answering(answer: bytes) -> Iterator[int]:
    """The port of a server that greets politely, and then has one answer to everything."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection, contextlib.suppress(OSError):
                        while b"CLIENT" in (asked := connection.recv(10_000)):
                            connection.sendall(b"+OK\r\n" * asked.count(b"CLIENT"))
                        connection.sendall(answer + b"\r\n")

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def test_a_server_of_another_kind_is_an_error() -> None:
    with answering(b"HTTP/1.1 400 Bad Request") as port, pytest.raises(StoreError, match="cannot be used"):
        open_store(f"redis://127.0.0.1:{port}/0", NAMESPACE)


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: repr(answer[:20]))
def test_a_server_that_answers_anything_is_away_at_worst(answer: bytes) -> None:
    token = "0123456789abcdef"
    with answering(answer) as port:
        client = redis.Redis(port=port, protocol=2, socket_timeout=PATIENCE_SECONDS, retry=Retry(NoBackoff(), 0))
        backend = RedisBackend(client, "prefix", place="here")
        asked: list[Callable[[], object]] = [
            backend.survey,
            lambda: backend.read([Span(token, 0, 3)]),
            lambda: backend.write(token, 0, b"x"),
        ]
        for ask in asked:
            with contextlib.suppress(UnreachableError):
                ask()
        backend.close()


def test_the_package_that_is_missing_is_named() -> None:
    script = """
import sys
sys.modules["redis"] = None
from ordeal.errors import StoreError
from ordeal.store import open_store
try:
    open_store("redis://user:secret@localhost/0", "x")
except StoreError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "needs the Python package `redis`" in said
    assert "pip install redis" in said
    assert "secret" not in said


# -- hostile keys --


def test_a_shard_of_another_type_is_refused_and_the_others_are_read(shared: RedisServer) -> None:
    a, b = member(shared), member(shared)
    write_shard(a, b"x" * 100)
    name = f"{prefix_of(a)}:shard:0123456789abcdef"
    shared.client().delete(name)
    shared.client().rpush(name, "x")
    b.sync(entry("y", 1))
    got = a.sync(NOTHING)
    assert (got.refused, got.paused, len(got.entries)) == (1, "", 1)
    assert "WRONGTYPE" in got.refusal
    assert a.sync(NOTHING).refused == 0


def test_a_key_of_another_type_pauses_and_does_not_crash(shared: RedisServer) -> None:
    a = member(shared)
    shared.client().sadd(f"{prefix_of(a)}:heads", "x")
    assert "WRONGTYPE" in a.sync(entry("x", 1)).paused


def test_heads_that_nobody_wrote_are_left_out_and_what_is_not_there_is_not_waited_for(shared: RedisServer) -> None:
    a, b = member(shared), member(shared)
    heads = {"x": b"y", "0123456789abcdef": (2**63).to_bytes(8, "little") + bytes(8), "fedcba9876543210": b""}
    shared.client().hset(f"{prefix_of(a)}:heads", mapping=heads)  # type: ignore[arg-type]
    b.sync(entry("x", 1))
    assert tapes(a) == [b"x"]
    assert a.edges() == {1}


def test_a_string_far_beyond_all_limits_is_not_fetched(shared: RedisServer) -> None:
    a, b = member(shared), member(shared)
    client = shared.client()
    write_shard(a, b"ordeal-shard\n\x01\x00")
    # Zeros that the server makes up.
    client.setrange(f"{prefix_of(a)}:shard:0123456789abcdef", 200_000_000, b"x")
    client.hset(f"{prefix_of(a)}:heads", "0123456789abcdef", (200_000_001).to_bytes(8, "little") + bytes(8))
    b.sync(entry("x", 1))
    before = int(client.info("stats")["total_net_output_bytes"])
    got = a.sync(NOTHING)
    assert [each.tape for each in got.entries] == [b"x"]
    assert got.refused == 1
    assert int(client.info("stats")["total_net_output_bytes"]) - before < 10_000_000
    client.flushall()


def test_who_writes_over_the_own_shard_harms_only_who_reads_it_later(shared: RedisServer) -> None:
    a, b = member(shared), member(shared)
    a.sync(entry("x", 1))
    (name,) = backend_of(a).survey()
    shared.client().set(f"{prefix_of(a)}:shard:{name}", b"garbage")
    assert b.sync(NOTHING).refused == 1
    assert a.sync(entry("y", 2)).paused == ""


def test_the_keys_of_others_are_left_alone(shared: RedisServer) -> None:
    shared.client().set("precious", "x")
    a = member(shared)
    a.sync(entry("x", 1))
    names = {key.decode() for key in shared.client().scan_iter()}
    assert all(name.startswith(f"{prefix_of(a)}:") for name in names - {"precious", "ordeal:namespaces"})
    assert shared.client().get("precious") == b"x"
