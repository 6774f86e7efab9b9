"""What a server bears of a fleet, and what breaks first: the real protocol over simulated members, network and server.

usage: python benchmarks/fleet_simulation.py [--seconds N] [--members N ...] [--real N] [--relay N ...] [--corpus N]
       python benchmarks/fleet_simulation.py --check [--seconds N]

Members are the stores that explorations use, with the waits and limits that these have, over a server in memory. Each
round trip takes its time on the network, then on the one processor of the server, where it waits for those before it;
what commands, fields and bytes cost there is measured on a Redis server that is started for this. What members and
their launcher say beside the store (`ordeal fleet status` shows it) is simulated, too. The corpus is distilled first.

Up to --real members, all run the protocol. Of more, a hundred do, and see the shards of all; each of the others does
what a member of these did last, and publishes what it finds. With --relay N, a fleet is simulated in which one process
on each host looks for N members.

--check starts 32 members for real, as processes of this machine that do little, and compares what the server was asked
for, what it sent and received, and how busy it was, with the simulation of what these members did.
"""

import argparse
import contextlib
import heapq
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from textwrap import dedent
from typing import Any

import redis
from harness.report import command, host, table
from store_sync import redis_server

from ordeal._base.limits import STATUS_SECONDS
from ordeal._engine.parallel.fleet.fleet import BEAT_SECONDS
from ordeal._engine.parallel.store_client import FIRST_ENTRIES_MAX, ImportBudget, sync_seconds
from ordeal.store import Entry, Outgoing, Store
from ordeal.store.backend import Backend, ShardState, Span, Unreadable
from ordeal.store.open import open_readers
from ordeal.store.records import decode
from ordeal.store.shard import FRAME_SIZE, ShardReader

#: The head of a shard, with its name and what stands around both.
HEAD_BYTES = 45
#: What stands around the arguments and the answer of a command, in bytes, and in the name of a key.
COMMAND_BYTES, ANSWER_BYTES = 95, 8
#: Connections that a server takes by default, and bytes a second that its network carries.
CLIENTS_MAX = 10_000
NETWORK_BYTES = 10e9 / 8
#: From a member to the server, in seconds, in a data centre.
ONE_WAY_SECONDS = 0.25e-3
SHARE = 0.95
#: How many members run the protocol where all would be too many for this machine.
SAMPLE = 100
#: A member has one connection to the store, and one to say how it is.
CONNECTIONS = 2
#: How long the record of a launcher is.
LAUNCHER_BYTES = 250
#: How long a server waits between two round trips, of some hundred members.
PAUSE_SECONDS = 1e-3
#: How far the simulation may be from real members.
WITHIN = 0.2
HEADER = [
    *("members", "looks/s", "commands/s", "MiB/s", "server", "ms of a look, median / 99 %", "ms of CPU of a look"),
    *("s to 95 % of the corpus", "what breaks"),
]


@dataclass(frozen=True)
class Load:
    """What the members of a fleet do: each a number of runs a second, all together new entries, of some size."""

    runs_per_second: float = 200.0
    new_per_second: float = 20.0
    tape_bytes: float = 1024.0
    edges: int = 4
    corpus: int = 1000
    record_bytes: float = 600.0


@dataclass(frozen=True)
class Costs:
    """Processor time of the server, in seconds: a round trip, one more command in it, a field of a hash, a byte.

    And what it takes in a second by itself, and for each connection that is open.
    """

    trip: float
    each: float
    field: float
    byte: float
    idle: float
    connection: float


@dataclass
class Server:
    """What a Redis server has of a namespace, and what it was asked for. It does one thing after the other."""

    costs: Costs
    shards: dict[str, bytearray] = field(default_factory=dict)
    states: dict[str, ShardState] = field(default_factory=dict)
    trips: int = 0
    commands: int = 0
    bytes: float = 0.0
    busy: float = 0.0
    now: float = 0.0
    free_at: float = 0.0
    link_free_at: float = 0.0

    def trip(self, at: float, commands: int, sent: float, answered: float, fields: int = 0) -> float:
        """Do some commands that come together, and return when their answers have arrived."""
        sent += COMMAND_BYTES * commands
        answered += ANSWER_BYTES * commands
        cost = self.costs.trip + (commands - 1) * self.costs.each + fields * self.costs.field
        cost += (sent + answered) * self.costs.byte
        self.trips += 1
        self.commands += commands
        self.bytes += sent + answered
        self.busy += cost
        # By the time of the exchange, so that what waits for an answer holds up nobody who comes meanwhile.
        waits = max(0.0, self.free_at - self.now) + max(0.0, self.link_free_at - self.now)
        carries = answered / NETWORK_BYTES
        self.free_at = max(self.free_at, self.now) + cost
        self.link_free_at = max(self.link_free_at, self.now) + carries
        return at + 2 * ONE_WAY_SECONDS + waits + cost + carries

    def reset(self) -> None:
        self.trips, self.commands, self.bytes, self.busy = 0, 0, 0.0, 0.0

    def share(self, seconds: float, connections: int) -> float:
        """How much of its processor it took, on average."""
        return self.busy / seconds + self.costs.idle + connections * self.costs.connection


class Simulated(Backend):
    """What one member sees of the server. Failures are another matter.

    Attributes:
        at: the time of this member, which each round trip moves on.
        trips: those of its present exchange.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.at = 0.0
        self.trips: list[tuple[int, float, float, int]] = []

    def _trip(self, commands: int, sent: float, answered: float, fields: int = 0) -> None:
        self.trips.append((commands, sent, answered, fields))
        self.at = self.server.trip(self.at, commands, sent, answered, fields)

    def survey(self) -> dict[str, ShardState]:
        self._trip(1, 0, HEAD_BYTES * len(self.server.states), len(self.server.states))
        return dict(self.server.states)

    def read(self, spans: Sequence[Span]) -> list[bytes | Unreadable]:
        parts = [bytes(self.server.shards[span.token][span.offset : span.offset + span.size]) for span in spans]
        if parts:
            self._trip(len(parts), 0, sum(map(len, parts)))
        return list(parts)

    def write(self, token: str, offset: int, data: bytes) -> None:
        shard = self.server.shards.setdefault(token, bytearray())
        if data:
            shard[offset : offset + len(data)] = data
        self.server.states[token] = ShardState(len(shard), 0.0)
        self._trip(1 + bool(data) + (not offset), HEAD_BYTES + len(data), 0)

    def close(self) -> None:
        """Do nothing: nothing is held."""


def entry(number: int, load: Load) -> Entry:
    tape = f"entry {number} ".encode().ljust(round(load.tape_bytes), b"x")
    return Entry(tape, tuple(range(load.edges * number, load.edges * (number + 1))))


class Fleet:
    """Members that look when it is their turn, by a clock that only they move.

    Attributes:
        looks: how many exchanges there were, of all members.
        waits: how long the exchanges of those that are real took.
        cpu: the processor time that each of these took here, in the member.
        warm: when each of these had most of what the store had at first.
    """

    def __init__(self, server: Server, members: int, real: int, load: Load) -> None:
        self.server, self.members, self.load = server, members, load
        # The crowd lies between them, in an even mixture.
        chosen = range(0, members, -(-members // min(real, members)))
        self.backends = {number: Simulated(server) for number in chosen}
        self.stores = {number: Store(backend) for number, backend in self.backends.items()}
        self.crowd: dict[int, Store] = {}
        self.now, self.looks, self.found = 0.0, 0, load.corpus
        self.waits: list[float] = []
        self.cpu: list[float] = []
        self.warm: dict[int, float] = {}
        self._had = dict.fromkeys(chosen, 0)
        self._budgets = {number: ImportBudget(workers=1) for number in chosen}
        self._exchanges = [0] * members
        #: The round trips of the newest exchange of somebody real, by how many that one had made before.
        self._trips: dict[int, list[tuple[int, float, float, int]]] = {}
        self._order = count()
        self._turns: list[tuple[float, int, Callable[[], float]]] = []

    def run(self, seconds: float, *, from_second: float = 0.0) -> None:
        """Work for so long. What the server is asked for counts from a moment on, when all have started."""
        stagger = min(self.members / 100, 10.0)
        for number in range(self.members):
            at = stagger * number / self.members
            self._plan(at, lambda number=number: self._look(number))  # type: ignore[misc]
            self._plan(at, self._beat)
        self._plan(0.0, self._launcher_looks)
        self._plan(0.0, self._launcher_says)
        counts = False
        while self._turns[0][0] < from_second + seconds:
            self.now, _, action = heapq.heappop(self._turns)
            self.server.now = self.now
            if not counts and self.now >= from_second:
                counts, self.looks = True, 0
                self.server.reset()
            self._plan(action(), action)

    def _plan(self, at: float, action: Callable[[], float]) -> None:
        heapq.heappush(self._turns, (at, next(self._order), action))

    def _look(self, number: int) -> float:
        made = self._exchanges[number]
        self._exchanges[number] += 1
        self.looks += 1
        done = self._look_really(number, made) if number in self.stores else self._look_as_another(number, made)
        return done + sync_seconds(self.members)

    def _look_really(self, number: int, made: int) -> float:
        backend, load = self.backends[number], self.load
        limit = self._budgets[number].spend(int(load.runs_per_second * self.now)) if made else FIRST_ENTRIES_MAX
        backend.at, backend.trips = self.now, []
        cpu = time.process_time()
        got = self.stores[number].sync(Outgoing(self._fresh()), max_entries=limit)
        self.cpu.append(time.process_time() - cpu)
        assert not got.paused, got.paused
        self._trips[min(made, 2)] = backend.trips
        self.waits.append(backend.at - self.now)
        self._had[number] += sum(each.edges[0] < load.edges * load.corpus for each in got.entries)
        if self._had[number] >= SHARE * load.corpus:
            # What was received is run before the search goes on.
            self.warm.setdefault(number, backend.at + self._had[number] / load.runs_per_second)
        return backend.at

    def _look_as_another(self, number: int, made: int) -> float:
        fresh = self._fresh()
        if fresh:
            if number not in self.crowd:
                self.crowd[number] = Store(Simulated(self.server))
            # It publishes what it found; what it read is counted below.
            store = self.crowd[number]
            for each in fresh:
                store._say(each)
            store._publish()
        at = self.now
        for trip in self._trips.get(min(made, 2), self._trips[max(self._trips)]):
            at = self.server.trip(at, *trip)
        return at

    def _fresh(self) -> tuple[Entry, ...]:
        """What was found since the last one looked: it falls to whoever looks first."""
        due = self.load.corpus + int(self.load.new_per_second * self.now)
        new = tuple(entry(number, self.load) for number in range(self.found, due))
        self.found = max(self.found, due)
        return new

    def _beat(self) -> float:
        """A member says how it is, and looks whether its launcher is there."""
        at = self.server.trip(self.now, 2, self.load.record_bytes, 0)
        self.server.trip(at, 1, 0, LAUNCHER_BYTES)
        return self.now + STATUS_SECONDS

    def _launcher_looks(self) -> float:
        fields = self.members + 1
        done = self.server.trip(self.now, 1, 0, fields * (self.load.record_bytes + 20), fields)
        return done + BEAT_SECONDS

    def _launcher_says(self) -> float:
        at = self.server.trip(self.now, 1, 0, LAUNCHER_BYTES)
        self.server.trip(at, 3, LAUNCHER_BYTES, 0)
        return self.now + BEAT_SECONDS


def simulated(members: int, real: int, seconds: float, costs: Costs, load: Load, *, from_second: float = 0.0) -> Fleet:
    """A fleet after so many seconds, which began with the corpus of an earlier one."""
    server = Server(costs)
    with Store(Simulated(server)) as seeded:
        seeded.sync(Outgoing(tuple(entry(number, load) for number in range(load.corpus))))
    # Of a thousand members, each has written that it is there before any of them finds anything.
    for number in range(members):
        server.states[f"{number:016x}"] = ShardState(15, 0.0)
    fleet = Fleet(server, members, real, load)
    fleet.run(seconds, from_second=from_second)
    return fleet


def costs(url: str, pause: float = PAUSE_SECONDS) -> Costs:
    """What a server takes, by its own account, where it waits for ``pause`` between two round trips.

    The longer it waits, the more of its memory others have taken the place of in the caches, and the more a trip takes.
    """
    client = redis.Redis.from_url(url)
    client.set("costs", bytes(2**20))
    client.hset("fields", mapping={f"member-{number:06}": bytes(600) for number in range(1000)})

    def spent(times: int, ask: Callable[[Any], object]) -> float:
        before = client.info("cpu")
        for _ in range(times):
            pipeline = client.pipeline(transaction=False)
            ask(pipeline)
            pipeline.execute()
            time.sleep(pause)
        after = client.info("cpu")
        return sum(float(after[name] - before[name]) for name in ("used_cpu_user", "used_cpu_sys")) / times

    small = spent(2_000, lambda pipeline: pipeline.getrange("costs", 0, 23))
    many = spent(500, lambda pipeline: [pipeline.getrange("costs", 0, 23) for _ in range(101)])
    byte = max(0.0, spent(500, lambda pipeline: pipeline.getrange("costs", 0, -1)) - small) / 2**20
    fields = spent(300, lambda pipeline: pipeline.hgetall("fields")) - small - 620_000 * byte
    each_field = max(0.0, fields / 1000)
    # A round trip has bytes of its own, which are counted with all others.
    idle, connection = idle_costs(client, url)
    return Costs(
        max(0.0, small - 130 * byte), max(0.0, (many - small) / 100 - 130 * byte), each_field, byte, idle, connection
    )


def idle_costs(client: redis.Redis, url: str, *, connections: int = 500, seconds: float = 3.0) -> tuple[float, float]:
    """What a server takes in a second that nobody asks, and for each connection."""

    def spent() -> float:
        before = client.info("cpu")
        time.sleep(seconds)
        after = client.info("cpu")
        return sum(float(after[name] - before[name]) for name in ("used_cpu_user", "used_cpu_sys")) / seconds

    alone = spent()
    others = [redis.Redis.from_url(url) for _ in range(connections)]
    for each in others:
        each.ping()
    crowded = spent()
    for each in others:
        each.close()
    return alone, max(0.0, crowded - alone) / connections


def row(members: int, options: argparse.Namespace, costs: Costs, load: Load, relay: int = 1) -> list[str]:
    """A line of the table. With a relay, as many look as there are hosts, and what all found goes through them."""
    count = max(1, members // relay)
    fleet = simulated(count, count if count <= options.real else SAMPLE, options.seconds, costs, load)
    server, seconds = fleet.server, options.seconds
    connections = CONNECTIONS * count
    used = {
        "connections": connections / CLIENTS_MAX,
        "network": server.bytes / seconds / NETWORK_BYTES,
        "server": server.share(seconds, connections),
    }
    first = max(used, key=lambda name: used[name])
    warm = max(fleet.warm.values()) if len(fleet.warm) == len(fleet.stores) else None
    ordered = sorted(fleet.waits)
    return [
        f"{members:,}" + (f", relays for {relay}" if relay > 1 else ""),
        f"{fleet.looks / seconds:,.0f}",
        f"{server.commands / seconds:,.0f}",
        f"{server.bytes / seconds / 2**20:,.1f}",
        f"{used['server']:.1%}",
        f"{1e3 * median(ordered):.1f} / {1e3 * ordered[int(0.99 * len(ordered))]:.1f}",
        f"{1e3 * median(fleet.cpu):.1f}",
        "longer" if warm is None else f"{warm:.0f}",
        f"{first}, at {members / used[first]:,.0f}" if used[first] > 1 else f"nothing; {first} at {used[first]:.0%}",
    ]


# -- the check with real members ---------------------------------------------------------------------------------

CHECKED = 32
TARGET = """
    def look(number, kind):
        return LOOKS[number % len(LOOKS)](kind)

    LOOKS = []
    for number in range(3000):
        space = {}
        exec(compile(f"def look(kind):\\n if kind == 'a':\\n  return {number}\\n return 0", __file__, "exec"), space)
        LOOKS.append(space["look"])
"""
SLOW = """
    import time
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, rule
    import branches

    class Slow(RuleBasedStateMachine):
        @rule(number=st.integers(0, 10_000_000), kind=st.sampled_from("ab"))
        def look(self, number, kind):
            time.sleep(0.02)
            branches.look(number, kind)
"""
SETTINGS = """
    [explorer]
    target_modules = ["branches"]
    steps_per_run = 5

    [[tests]]
    class = "test_slow:Slow"
"""


def asked_so_far(client: redis.Redis) -> tuple[float, int, int, float, int]:
    """The time; the commands, bytes and processor time of a server; looks of members and of the launcher."""
    stats, net, cpu = client.info("commandstats"), client.info("stats"), client.info("cpu")
    commands = sum(each["calls"] for name, each in stats.items() if name not in ("cmdstat_info", "cmdstat_ping"))
    size = net["total_net_input_bytes"] + net["total_net_output_bytes"]
    looks = stats.get("cmdstat_hgetall", {}).get("calls", 0)
    return time.monotonic(), commands, size, float(cpu["used_cpu_user"] + cpu["used_cpu_sys"]), looks


@dataclass(frozen=True)
class Told:
    """What a store has: how many records, their bytes, how many entries and edges; and the members that run."""

    records: int
    record_bytes: int
    entries: int
    edges: int
    members: list[dict[str, Any]]


def told_so_far(url: str, environment: Mapping[str, str]) -> Told:
    """Look at a store, and at what its members say."""
    said = subprocess.run(
        [sys.executable, "-m", "ordeal", "fleet", "status", "--json"], env=environment, capture_output=True, check=True
    )
    members = [each for each in json.loads(said.stdout)["members"].values() if each["state"] == "running"]
    found: list[bytes] = []
    for store in open_readers(url):
        states = store._backend.survey()
        for span in [Span(token, 0, state.size) for token, state in states.items() if state.size]:
            (data,) = store._backend.read([span])
            assert isinstance(data, bytes)
            found += ShardReader().feed(data)[0]
        store.close()
    entries = [each for each in (decode(frame[FRAME_SIZE:]) for frame in found) if isinstance(each, Entry)]
    return Told(len(found), sum(map(len, found)), len(entries), sum(len(each.edges) for each in entries), members)


def load_of(before: Told, after: Told, seconds: float) -> Load:
    """What real members did between two looks."""
    runs = sum(each["runs"] for each in after.members) - sum(each["runs"] for each in before.members)
    new, new_bytes = after.records - before.records, after.record_bytes - before.record_bytes
    edges = (after.edges - before.edges) / max(1, after.entries - before.entries)
    return Load(
        runs_per_second=runs / seconds / CHECKED,
        new_per_second=new / seconds,
        edges=max(1, round(edges)),
        # The frame, and what else is in a record, come on top of the tape.
        tape_bytes=max(16, new_bytes / max(1, new) - 8 * edges - 12),
        corpus=before.entries,
        record_bytes=sum(len(json.dumps(each)) for each in after.members) / CHECKED,
    )


def check(options: argparse.Namespace, url: str, folder: Path) -> bool:
    """Whether the simulation of a fleet asks as much of a server as the fleet does, within a fifth."""
    for name, text in (("branches.py", TARGET), ("test_slow.py", SLOW), ("ordeal.toml", SETTINGS)):
        (folder / name).write_text(dedent(text), encoding="utf-8")
    environment = {**os.environ, "ORDEAL_STORE": url}
    words = ["explore", "--on", f"local:{CHECKED}", "--workers", "1", "--max-time", str(options.seconds + 300)]
    client = redis.Redis.from_url(url)
    fleet = subprocess.Popen(
        [sys.executable, "-m", "ordeal", *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline:
            time.sleep(3)
            with contextlib.suppress(subprocess.CalledProcessError):
                if len(told_so_far(url, environment).members) == CHECKED:
                    break
        time.sleep(15)
        before = told_so_far(url, environment)
        started = asked_so_far(client)
        time.sleep(options.seconds)
        ended = asked_so_far(client)
        after = told_so_far(url, environment)
        seconds = ended[0] - started[0]
        load = load_of(before, after, seconds)
        # How often it is asked, and what this processor, with so much else to do, takes for each time.
        asked = simulated(CHECKED, CHECKED, seconds, Costs(*6 * [0.0]), load, from_second=15).server.trips
        (folder / "other").mkdir()
        with redis_server(folder / "other") as idle:
            measured = costs(idle, pause=seconds / asked)
    finally:
        subprocess.run([sys.executable, "-m", "ordeal", "fleet", "stop"], env=environment, check=False)
        fleet.wait()
    _, commands, size, cpu, looks = (late - early for late, early in zip(ended, started, strict=True))
    print(f"{CHECKED} members made {CHECKED * load.runs_per_second:.0f} runs a second and {load.new_per_second:.1f}")
    print(f"records, each of {load.edges} edges; there were {before.records:,} at first. The server was asked")
    print(f"{asked / seconds:.0f} times a second, and a round trip cost it {1e6 * measured.trip:.1f} µs.\n")
    model = simulated(CHECKED, CHECKED, seconds, measured, load, from_second=15)
    server = model.server
    others = 1 / BEAT_SECONDS
    rows, within = [], True
    for what, real, other, form in (
        ("looks/s", looks / seconds, model.looks / seconds + others, ",.1f"),
        ("commands/s", commands / seconds, server.commands / seconds, ",.1f"),
        ("KiB/s", size / seconds / 1024, server.bytes / seconds / 1024, ",.1f"),
        ("share of a processor", cpu / seconds, server.share(seconds, CONNECTIONS * CHECKED), ".2%"),
    ):
        rows.append([what, f"{real:{form}}", f"{other:{form}}", f"{other / real - 1:+.1%}"])
        within = within and abs(other / real - 1) <= WITHIN
    print(table([f"{CHECKED} members, {seconds:.0f} s", "real", "simulated", "apart"], rows))
    return within


def main() -> int:
    """Measure, simulate, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the fleet works, by its own clock (60)")
    parser.add_argument("--members", type=int, nargs="*", default=[10, 100, 1_000, 10_000, 100_000])
    parser.add_argument("--real", type=int, default=100, help="up to so many, all members run the protocol (100)")
    parser.add_argument("--relay", type=int, nargs="*", default=[], help="and with a relay for so many members")
    parser.add_argument("--corpus", type=int, default=1000, help="how many entries there are at first (1000)")
    parser.add_argument("--check", action="store_true", help="compare with real members")
    options = parser.parse_args()
    print(f"{host()}\n`{command()}`\n")
    with tempfile.TemporaryDirectory(prefix="oc") as name, redis_server(Path(name)) as url:
        if options.check:
            return int(not check(options, url, Path(name)))
        measured, load = costs(url), Load(corpus=options.corpus)
    print(
        f"A round trip costs the server {1e6 * measured.trip:.1f} µs, a command more {1e6 * measured.each:.2f} µs,",
        f"a field {1e6 * measured.field:.2f} µs, a MiB {1e3 * measured.byte * 2**20:.2f} ms.\n",
    )
    started = time.perf_counter()
    print(table(HEADER, []))
    for relay in (1, *options.relay):
        for members in options.members:
            print(f"| {' | '.join(row(members, options, measured, load, relay))} |", flush=True)
    print(f"\nsimulated in {time.perf_counter() - started:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
