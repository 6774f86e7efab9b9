"""What compaction takes, and how long a member that reads and writes meanwhile waits.

usage: python benchmarks/store_compaction.py [--entries N] [--shards N] [--edges N] [--folder PATH]

Entries have tapes of 60 to 200 bytes and two edges each, from as many different ones as --edges says. While one process
compacts, a member in another one publishes an entry and reads, every 20 ms, and is timed. The Redis server is
started for this, with a file that has each command before it is answered.
"""

import argparse
import multiprocessing
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.synchronize import Event
from pathlib import Path

from harness.report import command, host, table
from store_sync import redis_server

from ordeal.store import Entry, Outgoing, compaction, open_store
from ordeal.store.records import encode
from ordeal.store.shard import FRAME_SIZE, HEADER, ShardReader, framed

NAMESPACE = "a million"
WRITE_SIZE = 4 * 2**20
PAUSE_SECONDS = 0.02


def fill(url: str, options: argparse.Namespace) -> None:
    """Write the shards of members that are gone."""
    rng = random.Random(1)
    per_shard = options.entries // options.shards
    with open_store(url, NAMESPACE) as store:
        for number in range(options.shards):
            data = bytearray(HEADER)
            for each in range(per_shard):
                edge = (number * per_shard + each) * 7 % options.edges
                data += framed(encode(Entry(rng.randbytes(rng.randrange(60, 200)), (edge, edge + 10**9))))
            for begin in range(0, len(data), WRITE_SIZE):
                store._backend.write(f"{number:016x}", begin, bytes(data[begin : begin + WRITE_SIZE]))


def member(url: str, ready: Event, over: Event, waits: "multiprocessing.Queue[list[float]]") -> None:
    """Exchange until it is over, and tell how long each exchange took."""
    with open_store(url, NAMESPACE) as store:
        # As if it had read everything as it came.
        for token, state in store._backend.survey().items():
            store._reader.shards[token] = ShardReader(offset=state.size, needed=FRAME_SIZE)
        ready.set()
        taken: list[float] = []
        while not over.is_set():
            tape = f"entry {len(taken)} ".encode().ljust(100)
            started = time.perf_counter()
            store.sync(Outgoing((Entry(tape, (2 * 10**9 + len(taken),)),)), max_entries=0)
            taken.append(time.perf_counter() - started)
            time.sleep(PAUSE_SECONDS)
        waits.put(taken)


def measured(url: str, options: argparse.Namespace) -> Iterator[list[str]]:
    """Compact everything, and once more with little new."""
    fill(url, options)
    context = multiprocessing.get_context("fork")
    for what in ("all of it", "what came meanwhile"):
        ready, over = context.Event(), context.Event()
        waits: multiprocessing.Queue[list[float]] = context.Queue()
        other = context.Process(target=member, args=(url, ready, over, waits))
        other.start()
        ready.wait()
        before, after, seconds, cpu = compacted(url)
        over.set()
        taken = sorted(waits.get())
        other.join()
        yield [
            what,
            f"{seconds:.1f}",
            f"{cpu:.1f}",
            f"{before / 2**20:.0f}",
            f"{after / 2**20:.0f}",
            f"{len(taken)}",
            f"{1e3 * taken[len(taken) // 2]:.1f}",
            f"{1e3 * taken[-1]:.0f}",
        ]


def compacted(url: str) -> tuple[int, int, float, float]:
    """How many bytes there were before a compaction and after it, its seconds, and how many of those were its own."""
    with open_store(url, NAMESPACE) as store:

        def size() -> int:
            return sum(state.size for state in store._backend.survey().values())

        before, started, cpu = size(), time.perf_counter(), time.process_time()
        assert store.compact()
        return before, size(), time.perf_counter() - started, time.process_time() - cpu


def main() -> None:
    """Measure, and print a table for each kind of store."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=1_000_000, help="how many all members have published (1000000)")
    parser.add_argument("--shards", type=int, default=100, help="how many members these are (100)")
    parser.add_argument("--edges", type=int, default=200_000, help="how many different first edges (200000)")
    parser.add_argument("--redis-only", action="store_true", help="leave out the folder")
    parser.add_argument("--folder", type=Path, help="where the folders are made (that of temporary files)")
    options = parser.parse_args()
    print(f"{host()}\n`{command()}`")
    # Members that have just written are lost, too, and each compaction has its turn.
    compaction.LOST_SECONDS, compaction.LEASE_SECONDS = -3600.0, 0.0
    header = [
        "compacted",
        "s",
        "s of CPU",
        "MiB",
        "MiB after",
        "exchanges",
        "ms, median",
        "ms, longest",
    ]
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        if not options.redis_only:
            print(f"\ndir://\n\n{table(header, measured(f'dir://{folder}/shared', options))}")
        with redis_server(folder, "--appendonly", "yes") as url:
            print(f"\nredis://, with appendonly\n\n{table(header, measured(url, options))}")
    print(f"\nlargest process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
