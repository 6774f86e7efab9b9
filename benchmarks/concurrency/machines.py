"""Machines with a world around the simulated examples: their coroutine rules are operations of clients that overlap.

Each function takes the module of a program, in which something may be left out, and returns a machine class that uses
it as its test in `examples/` does.
"""

import asyncio
import itertools
from types import ModuleType
from typing import Any

from hypothesis import strategies as st

from ordeal import ChaosTest, initialize, invariant, precondition, rule, simulate


def of_pool(program: ModuleType, test: ModuleType) -> type[ChaosTest]:
    """Users of a pool of two connections, and a server that is restarted now and then."""

    class PoolUsers(ChaosTest):
        world = simulate.world(clients=4, faults=test.FAULTS)

        def __init__(self) -> None:
            super().__init__()
            self.servers: list[Any] = []
            self.pool: Any = None

        @initialize()
        async def start(self) -> None:
            self.world.node("server", test.server, self.servers)
            self.pool = program.Pool("server", 2)

        @rule(question=st.sampled_from("abcdef"))
        async def ask(self, question: str) -> None:
            while True:
                try:
                    return await test.ask(self.pool, question)
                except (OSError, TimeoutError):
                    await asyncio.sleep(0.2)

        @rule()
        async def ask_two(self) -> None:
            await asyncio.gather(self.ask("left"), self.ask("right"))

        @rule()
        async def restart(self) -> None:
            self.world["server"].restart()

        @invariant()
        def no_more_connections(self) -> None:
            assert self.pool is None or self.pool.places <= 2

    return PoolUsers


def of_queue(program: ModuleType, test: ModuleType) -> type[ChaosTest]:
    """Jobs are put into a queue with two workers."""

    class QueueUsers(ChaosTest):
        world = simulate.world(clients=2, faults=test.FAULTS)

        def __init__(self) -> None:
            super().__init__()
            self.queues: list[Any] = []
            self.told: list[str] = []
            self.accepted: list[str] = []
            self.numbers = itertools.count()

        @initialize()
        async def start(self) -> None:
            self.world.node("queue", test.queue, self.queues)
            for number in range(2):
                self.world.node(f"worker{number}", program.work, "queue", 1.0, self.told)

        @rule()
        async def put(self) -> None:
            client, job = program.Client("queue"), f"job{next(self.numbers)}"
            assert (await client.ask(do="put", job=job))["is_there"]
            self.accepted.append(job)
            client.hang_up()

        @rule(seconds=st.integers(1, 5))
        async def wait(self, seconds: int) -> None:
            await asyncio.sleep(seconds)

        @invariant()
        def is_paid_once(self) -> None:
            paid = self.queues[-1].paid if self.queues else []
            assert len(set(paid)) == len(paid), "a job is paid twice"
            assert len(set(self.told)) == len(self.told), "two workers are told that they have done a job"
            assert not self.queues or set(self.told) <= set(paid), "what a worker is told is paid is not"

        def converged(self) -> bool:
            return not self.queues or set(self.accepted) <= set(self.queues[-1].paid)

    return QueueUsers


def of_store(_program: ModuleType, test: ModuleType) -> type[ChaosTest]:
    """Clients write and read one key of a store on three replicas."""

    class StoreUsers(ChaosTest):
        world = simulate.world(clients=3, faults=test.FAULTS)

        def __init__(self) -> None:
            super().__init__()
            self.operations: list[Any] = []
            self.numbers = itertools.count()
            self.begun = 0

        @initialize()
        async def start(self) -> None:
            for name in test.NAMES:
                self.world.node(name, test.replica, name)
                self.world.link(name, loss=0.5, duplicates=0.5, reordered=0.3)

        @precondition(lambda self: self.begun < 12)
        @rule(is_write=st.booleans(), moment=st.integers(0, 5))
        async def use(self, is_write: bool, moment: int) -> None:
            self.begun += 1
            name = f"client{next(self.numbers)}"
            await asyncio.sleep(moment / 10)
            client = await test.connected(name)
            began = self.world.time
            if is_write:
                await client.put("key", name)
            value = name if is_write else await client.get("key")
            self.operations.append(test.Operation("put" if is_write else "get", value, began, self.world.time))

        def converged(self) -> bool:
            assert test.fits_one_copy(frozenset(self.operations), None), "no order is that of one copy"
            return True

    return StoreUsers


def of_raft(program: ModuleType, test: ModuleType) -> type[ChaosTest]:
    """Clients put values into a log that three nodes agree on."""

    class RaftUsers(ChaosTest):
        world = simulate.world(clients=2, faults=test.FAULTS)

        def __init__(self) -> None:
            super().__init__()
            self.nodes: dict[str, Any] = {}
            self.watcher = test.Watcher(self.nodes)
            self.done: list[str] = []
            self.numbers = itertools.count()

        @initialize()
        async def start(self) -> None:
            for name in test.NAMES:
                self.world.node(name, test.replica, name, self.nodes)

        @rule(moment=st.integers(0, 10))
        async def put(self, moment: int) -> None:
            await asyncio.sleep(moment / 10)
            client, value = program.Client(test.NAMES), f"value{next(self.numbers)}"
            await client.connect()
            await client.put(value)
            self.done.append(value)

        @invariant()
        def one_leader_and_one_log(self) -> None:
            assert self.watcher.one_leader_a_term(), "two lead in one term"
            assert self.watcher.one_log(), "not all agree on one log"

        def converged(self) -> bool:
            logs = [[value for _, value in node.log[: node.committed]] for node in self.nodes.values()]
            return all(set(self.done) <= set(log) for log in logs)

    return RaftUsers


MACHINES = {"connection_pool": of_pool, "leased_queue": of_queue, "replicated_kv": of_store, "raft": of_raft}
