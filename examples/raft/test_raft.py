"""Three nodes agree on a log, whatever crashes, stands still, is cut off or gets lost."""

import asyncio

from raft import Client, Raft

from ordeal import simulate

NAMES = ["a", "b", "c"]
FAULTS = [simulate.crash(longest=3), simulate.pause(longest=3), simulate.partition(longest=3), simulate.latency(2.0)]


class Watcher:
    """Knows who led in each term, and what was agreed on."""

    def __init__(self, nodes: dict[str, Raft]) -> None:
        self.nodes = nodes
        self.leaders: dict[int, str] = {}
        self.agreed: list[list] = []
        self.seen: dict[str, tuple[Raft, int]] = {}

    def one_leader_a_term(self) -> bool:
        leaders = [node for node in self.nodes.values() if node.role == "leader"]
        return all(self.leaders.setdefault(node.term, node.name) == node.name for node in leaders)

    def one_log(self) -> bool:
        for node in self.nodes.values():
            if self.seen.get(node.name) != (node, node.committed):
                self.seen[node.name] = node, node.committed
                known = self.agreed[: node.committed]
                if node.log[: len(known)] != known:
                    return False
                self.agreed += node.log[len(self.agreed) : node.committed]
        return True


async def replica(name: str, nodes: dict[str, Raft]) -> None:
    nodes[name] = Raft(name, [other for other in NAMES if other != name])
    await nodes[name].run()


async def agreement(world: simulate.World) -> None:
    nodes: dict[str, Raft] = {}
    watcher = Watcher(nodes)
    world.always("one leader in each term", watcher.one_leader_a_term)
    world.always("all agree on one log", watcher.one_log)
    for name in NAMES:
        world.node(name, replica, name, nodes)

    done = []

    async def put_all(name: str) -> None:
        client = Client(NAMES)
        await client.connect()
        for number in range(5):
            value = f"{name}{number}"
            await client.put(value)
            done.append(value)
            await asyncio.sleep(0.3)

    clients = [asyncio.create_task(put_all(name)) for name in ("x", "y")]
    await asyncio.sleep(8)

    def everybody_has_all() -> bool:
        logs = [[value for _, value in node.log[: node.committed]] for node in nodes.values()]
        return all(client.done() for client in clients) and all(set(done) <= set(log) for log in logs)

    await world.eventually("everybody has all that was put", everybody_has_all, within=30)


@simulate.test(faults=FAULTS, runs=200)
async def test_agreement(world: simulate.World) -> None:
    await agreement(world)
