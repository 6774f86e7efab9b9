"""What a server bears of a fleet, and what breaks first: the real protocol over simulated members, clock and server.

usage: python benchmarks/fleet_simulation.py [--seconds N] [--members N ...] [--simulated N] [--check]

Members are the stores that explorations use, with the waits and limits that these have. Their backend is a server in
memory, which counts the commands and bytes of a Redis server. What a command and a byte cost is measured on a server
that is started for this. Above --simulated members, the looks are computed: how many there are, the heads that each
reads, and what was published since the one before. --check runs 32 members over a real server as well, in one process
and in the same order, and compares what it counted.
"""

import argparse
import heapq
import tempfile
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import redis
from harness.report import command, host, table
from store_sync import redis_server

from ordeal._engine.parallel.store_client import (
    FIRST_ENTRIES_MAX,
    SYNC_SECONDS,
    SYNC_SECONDS_MAX,
    SYNCS_PER_SECOND,
    ImportBudget,
    sync_seconds,
)
from ordeal.store import Entry, Outgoing, Store, open_store
from ordeal.store.backend import Backend, ShardName, ShardState, Span, Unreadable
from ordeal.store.redis_backend import RedisBackend

SLOT_BYTES = 24
#: What stands around each argument and answer of a command, in bytes, and in the name of a key.
COMMAND_BYTES, ANSWER_BYTES = 95, 8
RUNS_PER_SECOND = 200
#: New entries a second of the whole fleet, their size, and how many the store has at first.
NEW_PER_SECOND, TAPE_BYTES, CORPUS = 20, 1024, 1000
#: Connections that a server takes by default.
CLIENTS_MAX = 10_000
NETWORK_BYTES = 10e9 / 8


@dataclass
class Server:
    """The shards of a namespace, and what was asked and said."""

    shards: dict[ShardName, bytearray] = field(default_factory=dict)
    commands: int = 0
    bytes_in: int = 0
    bytes_out: int = 0

    def count(self, sent: int, answered: int) -> None:
        self.commands += 1
        self.bytes_in += COMMAND_BYTES + sent
        self.bytes_out += ANSWER_BYTES + answered


class Simulated(Backend):
    """What one member sees of the server. It knows no leases: failures are another matter."""

    def __init__(self, server: Server, number: int) -> None:
        self.server, self.number = server, number

    def claim(self, token: str, preferred: int | None) -> int:  # noqa: ARG002 - nobody else has it
        return self.number if preferred is None else preferred

    def survey(self) -> dict[ShardName, ShardState]:
        self.server.count(0, SLOT_BYTES * len(self.server.shards))
        self.server.count(0, 0)
        return {name: ShardState(len(data), 0.0) for name, data in self.server.shards.items()}

    def read(self, spans: Sequence[Span]) -> list[bytes | Unreadable]:
        parts = [bytes(self.server.shards[span.name][span.offset : span.offset + span.size]) for span in spans]
        for part in parts:
            self.server.count(0, len(part))
        return list(parts)

    def write(self, name: ShardName, offset: int, data: bytes) -> None:
        shard = self.server.shards.setdefault(name, bytearray())
        if data:
            shard[offset : offset + len(data)] = data
            self.server.count(len(data), 0)
        self.server.count(SLOT_BYTES, 0)

    def bases(self) -> Mapping[ShardName, int]:
        return {}

    def write_base(self, name: ShardName, parts: Iterable[bytes]) -> None:
        raise NotImplementedError

    def remove(self, shards: Collection[ShardName], bases: Collection[ShardName]) -> None:
        raise NotImplementedError

    def lease(self, key: str, token: str, seconds: float) -> bool:  # noqa: ARG002 - everybody has it
        return True

    def close(self) -> None:
        """Do nothing: nothing is held."""


def entry(number: int) -> Entry:
    return Entry(f"entry {number} ".encode().ljust(TAPE_BYTES, b"x"), tuple(range(4 * number, 4 * number + 4)))


@dataclass
class Fleet:
    """Members that look when it is their turn, by a clock that only they move."""

    stores: list[Store]
    now: float = 0.0
    looks: int = 0
    found: int = CORPUS
    #: When each member had 95 % of what the store had at first.
    warm: dict[int, float] = field(default_factory=dict)

    def run(self, seconds: float) -> None:
        count = len(self.stores)
        budgets = [ImportBudget(workers=1) for _ in range(count)]
        exchanges, had = [0] * count, [0] * count
        stagger = min(count / 100, 10.0)
        turns = [(stagger * member / count, member) for member in range(count)]
        heapq.heapify(turns)
        while turns[0][0] < seconds:
            self.now, member = heapq.heappop(turns)
            first = not exchanges[member]
            limit = FIRST_ENTRIES_MAX if first else budgets[member].spend(int(RUNS_PER_SECOND * self.now))
            got = self.stores[member].sync(self.outgoing(), max_entries=limit)
            assert not got.paused, got.paused
            self.looks += 1
            had[member] += sum(each.edges[0] < 4 * CORPUS for each in got.entries)
            if had[member] >= 0.95 * CORPUS:
                self.warm.setdefault(member, self.now)
            heapq.heappush(turns, (self.now + sync_seconds(count, member, exchanges[member]), member))
            exchanges[member] += 1

    def outgoing(self) -> Outgoing:
        """What was found since the last one looked: it falls to whoever looks first."""
        due = CORPUS + int(NEW_PER_SECOND * self.now)
        new = tuple(map(entry, range(self.found, due)))
        self.found = max(self.found, due)
        return Outgoing(new)


def simulated(count: int, seconds: float) -> tuple[Fleet, Server]:
    server = Server()
    seeded = Store(Simulated(server, count), place="00")
    seeded.join()
    seeded.sync(Outgoing(tuple(map(entry, range(CORPUS)))))
    stores = [Store(Simulated(server, number), place="00") for number in range(count)]
    for store in stores:
        store.join()
    server.commands = server.bytes_in = server.bytes_out = 0
    fleet = Fleet(stores)
    fleet.run(seconds)
    return fleet, server


def counted(client: redis.Redis) -> tuple[int, int]:
    """How many commands of members a server has run, and the bytes that it has sent and received."""
    stats = client.info("commandstats")
    calls = sum(stats.get(f"cmdstat_{name}", {}).get("calls", 0) for name in ("getrange", "setrange", "zrevrange"))
    net = client.info("stats")
    return calls, net["total_net_input_bytes"] + net["total_net_output_bytes"]


def real(count: int, seconds: float, url: str, folder: Path) -> tuple[int, int]:
    """The same with a real server."""
    with open_store(url, "fleet", folder=folder) as seeded:
        seeded.join()
        seeded.sync(Outgoing(tuple(map(entry, range(CORPUS)))))
        stores = [open_store(url, "fleet", folder=folder) for _ in range(count)]
        for store in stores:
            store.join()
        backend = seeded._medium
        assert isinstance(backend, RedisBackend)
        before = counted(backend._client)
        Fleet(stores).run(seconds)
        after = counted(backend._client)
        for store in stores:
            store.close()
    return after[0] - before[0], after[1] - before[1]


def costs(url: str) -> tuple[float, float, float]:
    """The processor time of a server, in seconds: for a round trip, a command among many, and a byte of an answer."""
    client = redis.Redis.from_url(url)
    client.set("costs", bytes(2**20))

    def spent(times: int, together: int, size: int) -> float:
        before = client.info("cpu")
        for _ in range(times):
            pipeline = client.pipeline(transaction=False)
            for _ in range(together):
                pipeline.getrange("costs", 0, size - 1)
            pipeline.execute()
        after = client.info("cpu")
        return sum(float(after[name] - before[name]) for name in ("used_cpu_user", "used_cpu_sys")) / times

    trip, hundred = spent(5_000, 1, 24), spent(500, 101, 24)
    each = max(0.0, hundred - trip) / 100
    return trip, each, max(0.0, spent(500, 1, 2**20) - trip) / 2**20


def check(seconds: float, url: str, folder: Path) -> bool:
    """Whether the simulation counts what a real server does, within a fifth."""
    _, server = simulated(32, seconds)
    calls, size = real(32, seconds, url, folder)
    apart = [server.commands / calls - 1, (server.bytes_in + server.bytes_out) / size - 1]
    print(f"\n32 members, {seconds:g} s: a real server had {calls:,} commands and {size:,} bytes; simulated", end=" ")
    print(f"{server.commands:,} ({apart[0]:+.1%}) and {server.bytes_in + server.bytes_out:,} ({apart[1]:+.1%})")
    return all(abs(each) <= 0.2 for each in apart)


def row(count: int, largest: int, seconds: float, trip: float, each: float, byte: float) -> list[str]:
    """A line of the table: of a simulation, or computed where members are more than ``largest``."""
    cold = "not run"
    if count <= largest:
        fleet, server = simulated(count, seconds)
        looks, commands = fleet.looks / seconds, server.commands / seconds
        rate = (server.bytes_in + server.bytes_out) / seconds
        if len(fleet.warm) == count:
            cold = f"{max(fleet.warm.values()):.0f}"
    else:
        wait = min(max(SYNC_SECONDS, count / SYNCS_PER_SECOND), SYNC_SECONDS_MAX)
        looks = count / wait
        # What one finds others read as one part of its shard each: as many as have found something since.
        commands = looks * (3 + min(count, NEW_PER_SECOND * wait))
        fresh = NEW_PER_SECOND * wait * (TAPE_BYTES + 60)
        rate = commands * (COMMAND_BYTES + ANSWER_BYTES) + looks * (SLOT_BYTES * count + fresh)
    cpu = 3 * looks * trip + commands * each + rate * byte
    limits = {"connections": count / CLIENTS_MAX, "network": rate / NETWORK_BYTES, "server": cpu}
    first = max(limits, key=lambda name: limits[name])
    verdict = f"{first}, at {count / limits[first]:,.0f}" if limits[first] > 1 else "nothing"
    return [
        f"{count:,}",
        f"{looks:,.0f}",
        f"{commands:,.0f}",
        f"{rate / 2**20:,.1f}",
        f"{cpu:.1%}",
        cold,
        verdict,
    ]


def main() -> int:
    """Measure, simulate, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the fleet works, by its own clock (60)")
    parser.add_argument("--members", type=int, nargs="*", default=[10, 100, 200, 1_000, 10_000, 100_000])
    parser.add_argument("--simulated", type=int, default=200, help="above so many, looks are computed (200)")
    parser.add_argument("--check", action="store_true", help="compare with a real server")
    options = parser.parse_args()
    print(f"{host()}\n`{command()}`")
    with tempfile.TemporaryDirectory() as name, redis_server(Path(name)) as url:
        trip, each, byte = costs(url)
        print(
            f"\nA round trip costs the server {1e6 * trip:.1f} µs, a command among many {1e6 * each:.2f} µs,", end=" "
        )
        print(f"a MiB {1e3 * byte * 2**20:.2f} ms.\n")
        if options.check:
            return int(not check(options.seconds, url, Path(name) / "waiting"))
        header = ["members", "looks/s", "commands/s", "MiB/s", "server", "s to 95 % of the corpus", "what breaks"]
        started = time.perf_counter()
        print(
            table(
                header, [row(count, options.simulated, options.seconds, trip, each, byte) for count in options.members]
            )
        )
        print(f"\nsimulated in {time.perf_counter() - started:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
