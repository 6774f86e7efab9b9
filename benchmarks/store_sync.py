"""What sharing costs: how many exchanges a second each kind of store makes, and how long one of them takes.

usage: python benchmarks/store_sync.py [--syncs N] [--entries N] [--folder PATH]

An exchange publishes one entry, with a tape of a kilobyte that compresses badly and four new edges, or nothing, and
reads what others have published since. All members are in one process and take turns, so a rate is that of a client
and its store, not of a store with many clients. The Redis server is started for this, without a file to write to and
with one that has each command before it is answered. The folder is the one that temporary files go to, if no other is
named; each publication is synced to its disk.
"""

import argparse
import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import redis
from harness.report import command, host, table

from ordeal.store import Entry, Outgoing, open_store

TAPE_BYTES = 1024
EDGES = 4
CROWDS = (10, 100, 1000)
START_SECONDS_MAX = 20.0
NOTHING = Outgoing()


@contextlib.contextmanager
def redis_server(folder: Path, *options: str) -> Iterator[str]:
    """The address of a server that ends with the block."""
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        raise SystemExit("error: there is no redis-server\n\nhint: sudo apt-get install redis-server")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [program, "--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder), "--save", "", *options]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.kill()
        server.wait()


def wait_for(port: int) -> None:
    """Wait until a server answers."""
    deadline = time.monotonic() + START_SECONDS_MAX
    while True:
        try:
            with contextlib.closing(redis.Redis(port=port)) as client:
                client.ping()
                return
        except redis.ConnectionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def entries(member: int, count: int) -> list[Outgoing]:
    """What a member publishes: nobody else has any of it."""
    found = []
    for number in range(count):
        name = f"{member} {number} ".encode()
        first = (member * 1_000_000 + number) * EDGES
        found.append(Outgoing((Entry(name.ljust(TAPE_BYTES, b"x"), tuple(range(first, first + EDGES))),)))
    return found


def row(what: str, times: list[float]) -> list[str]:
    """How many a second, and how long the middle one and the slow ones took."""
    ordered = sorted(times)
    at = [1e3 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.99)]
    return [what, f"{len(times):,}", f"{len(times) / sum(times):,.0f}", *(f"{each:.2f}" for each in at)]


def timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def publish_rows(url: str, syncs: int) -> Iterator[list[str]]:
    one, other = open_store(url, "two members"), open_store(url, "two members")
    published, polled, got = [], [], 0
    for outgoing in entries(0, syncs):
        published.append(timed(lambda outgoing=outgoing: one.sync(outgoing)))  # type: ignore[misc]
        started = time.perf_counter()
        got += len(other.sync(NOTHING).entries)
        polled.append(time.perf_counter() - started)
    assert got == syncs
    yield row("publish an entry", published)
    yield row("poll, and get it", polled)
    yield row("publish and poll", [sum(pair) for pair in zip(published, polled, strict=True)])
    yield row("poll, nothing new", [timed(lambda: other.sync(NOTHING)) for _ in range(syncs)])


def crowd_rows(url: str, syncs: int) -> Iterator[list[str]]:
    """Polls among many that have published something."""
    store = open_store(url, "crowd")
    joined = 0
    for crowd in CROWDS:
        while joined < crowd - 1:
            joined += 1
            with open_store(url, "crowd") as other:
                # Written without reading first: a crowd that reads each other is another measurement.
                other._take(entries(joined, 1)[0])
                other._publish()
        store.sync(NOTHING)
        yield row(f"poll, nothing new, {crowd:,} members", [timed(lambda: store.sync(NOTHING)) for _ in range(syncs)])


def cold_rows(url: str, count: int) -> Iterator[list[str]]:
    """The first exchange of a member that comes late."""
    with open_store(url, "cold") as early:
        early.sync(Outgoing(tuple(each.entries[0] for each in entries(0, count))))
    with open_store(url, "cold") as late:
        got = []
        seconds = timed(lambda: got.append(len(late.sync(NOTHING).entries)))
        assert got == [count]
    yield row(f"first poll, {count:,} entries", [seconds])


def rows(url: str, options: argparse.Namespace) -> Iterator[list[str]]:
    yield from publish_rows(url, options.syncs)
    yield from crowd_rows(url, options.syncs)
    yield from cold_rows(url, options.entries)


def main() -> None:
    """Measure, and print a table for each kind of store."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--syncs", type=int, default=1000, help="how often each exchange is repeated (1000)")
    parser.add_argument("--entries", type=int, default=10_000, help="how many a late member reads (10000)")
    parser.add_argument("--folder", type=Path, help="where the folders are made (that of temporary files)")
    options = parser.parse_args()
    print(f"{host()}\n`{command()}`")
    header = ["exchange", "times", "a second", "ms, median", "ms, 99 %"]
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        print(f"\ndir://\n\n{table(header, rows(f'dir://{folder}/shared', options))}")
        for kind, words in (("redis://", []), ("redis://, with appendonly", ["--appendonly", "yes"])):
            with redis_server(folder, *words) as url:
                print(f"\n{kind}\n\n{table(header, rows(url, options))}")


if __name__ == "__main__":
    main()
