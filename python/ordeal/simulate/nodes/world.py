"""World: the nodes of one simulated run, the network between them, and what must always or at last be true."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn

import ordeal._native as _native
from ordeal.simulate.errors import (
    BrokenProperty,
    NotReached,
    SimulationError,
    checked_seconds,
    checked_share,
)
from ordeal.simulate.network.links import Conduct, Link
from ordeal.simulate.network.network_loop import FIRST_ADDRESS, TEST_ADDRESS
from ordeal.simulate.nodes.life import Life
from ordeal.simulate.nodes.nemesis import Nemesis
from ordeal.simulate.nodes.node import Node, NodeMain
from ordeal.simulate.outside.declared import Programs
from ordeal.simulate.outside.http import WebService, host_and_ports
from ordeal.simulate.recorded.recording import Recording, record
from ordeal.simulate.recorded.simulated import declared
from ordeal.simulate.runtime.faults import NodeFault
from ordeal.simulate.runtime.loop import SimulationLoop

#: For how long ``until`` and ``eventually`` wait by default, in simulated seconds.
WITHIN_S = 60.0

type Condition = Callable[[], object]


#: A coroutine that waits for a condition.
type _Wait = tuple[Condition, asyncio.Future[bool]]


class World(_native.WorldState):
    """The nodes of one simulated run, with ``faults`` that strike them. Not thread-safe.

    A test that has a parameter ``world`` gets one for each run.
    """

    def __init__(self, loop: SimulationLoop, faults: Sequence[NodeFault] = ()) -> None:
        self._loop = loop
        self._nodes: dict[str, Node] = {}
        self._links = loop.links
        self._nemesis = Nemesis(loop, self, faults)
        loop.world = self
        self._always: tuple[tuple[str, Condition], ...] = ()
        self._waits: tuple[_Wait, ...] = ()
        self._services: dict[str, WebService] = {}
        self.programs = Programs()
        """What child processes answer."""

    # Nodes

    def node(self, name: str, main: NodeMain, *arguments: Any) -> Node:
        """Start a node: a machine that runs ``main(*arguments)``, and again after each restart.

        Its tasks find the other nodes by their names: ``asyncio.start_server(..., port=80)`` in the node "db" is
        what ``asyncio.open_connection("db", 80)`` reaches. What it opens and writes is on its own disk.

        Args:
            name: the name of the node, and its name on the network.
            main: an ``async def`` function. Servers and tasks that it leaves behind when it returns go on; when it
                raises, the run fails.
            arguments: what it is called with.

        Raises:
            SimulationError: there is a node of this name, the name is not valid, or ``main`` cannot be run.
        """
        given: Any = name
        if not isinstance(given, str) or not given or any(char in given for char in " /:|*?["):
            raise SimulationError(f"{name!r:.100} is not a name of a node", hint='write a name such as "db"')
        if name in self._nodes:
            raise SimulationError(f"there is a node {name} already", hint="restart it, or give each node its own name")
        if not callable(main):
            raise SimulationError(
                f"the node {name} got {main!r:.100}", hint="pass an `async def` function, and its arguments after it"
            )
        address = f"{FIRST_ADDRESS}{len(self._nodes) + 1}"
        return Node(self._loop, name, address, main, arguments)

    # What lies outside

    def http(self, host: str, answers: Any) -> Node:
        """Declare what a web service outside of the run answers, as a node that speaks HTTP, and HTTPS by any name.

        Args:
            host: its name, such as ``"api.example"``, on the ports 80 and 443, or with a port ``"api.example:8080"``.
            answers: a table from what is asked, such as ``"GET /users/1"``, ``"GET /users?page=2"`` or a pattern
                ``"GET /users/*"``, to the answer; or a function of the request, which may be ``async def``. An
                answer is a text, bytes, a ``Response``, anything else that is sent as JSON, or such a function. A
                second call for the same host adds to the table.

        Returns:
            The node, which faults strike like any other.

        Raises:
            SimulationError: the name or the answers cannot be used.
        """
        name, ports = host_and_ports(host)
        if name not in self._services:
            service = WebService(self._loop, name, ports)
            service.declared.add(answers, is_table_needed=True)
            self.node(name, service.serve)
            self._services[name] = service
        else:
            self._services[name].declared.add(answers, is_table_needed=True)
        return self[name]

    def process(self, program: str, answers: Any) -> None:
        """Declare what a child process does: no process starts.

        Args:
            program: its name without the folder, such as ``"git"``.
            answers: a table from its arguments as a shell has them, such as ``"rev-parse HEAD"`` or a pattern
                ``"log *"``, to the answer; or one answer for all arguments. An answer is what it prints, an ``Output``,
                or a function of the ``Command``, which may be ``async def``. A second call adds to the first.

        Raises:
            SimulationError: the name or the answers cannot be used.
        """
        self.programs.add(program, answers)

    def record(self, *kinds: str, **options: Any) -> AbstractContextManager[Recording]:
        """Declare what ``simulate.record`` has recorded: use it with ``with``.

        It takes the same ``kinds`` and ``options``.

        A simulated run asks nothing of the real thing, so a plain test has to record it first; name its ``file``. The
        requests may come in any order, and the last answer to each is repeated. A recorded error ends the connection.

        Raises:
            RecordError: an argument or the file cannot be used.
        """
        return declared(self, record(*kinds, **{**options, "ordered": False}))

    def has_begun(self, node: Node) -> None:
        """Add a node, and plan what strikes it in the life that has begun."""
        self._nodes[node.name] = node
        self._nemesis.begin_life(node)

    @property
    def nodes(self) -> list[Node]:
        """All nodes, in the order in which they were made."""
        return list(self._nodes.values())

    def __getitem__(self, name: str) -> Node:
        """Return the node of this name.

        Raises:
            SimulationError: there is no such node.
        """
        if name not in self._nodes:
            known = ", ".join(self._nodes) or "there are none"
            raise SimulationError(f"the world has no node {name!r:.100}", hint=f"the nodes are: {known}")
        return self._nodes[name]

    @property
    def time(self) -> float:
        """The simulated time in seconds; the clocks of nodes may show others."""
        return self._loop.now

    # The network

    def partition(self, one: Node | str, other: Node | str | None = None, *, one_way: bool = False) -> None:
        """Cut the link between two nodes, or that of ``one`` to all others, until ``heal``.

        Connections stay open, and what they carry arrives when the link is healed; datagrams are lost.

        Args:
            one: a node or its name.
            other: the other end; None for all other nodes and the test.
            one_way: whether what ``other`` sends still arrives at ``one``.
        """
        self.cut(self._between(one, other, one_way=one_way))

    def heal(self, one: Node | str | None = None, other: Node | str | None = None) -> None:
        """Undo what ``partition`` cut between ``one`` and ``other``; without arguments, undo all cuts and clogs."""
        if one is None:
            self._links.heal_all()
        else:
            links = self._between(one, other, one_way=False)
            self._links.heal([link for link in links if self._links.is_cut(*link)])
        self._loop.send_overdue()

    def clog(self, node: Node | str, seconds: float) -> None:
        """Delay everything that a node sends or gets by this many seconds, until ``heal()`` or 0 seconds."""
        self._links.clog(self._named(node), seconds and checked_seconds("seconds", seconds))

    def link(
        self,
        one: Node | str,
        other: Node | str | None = None,
        *,
        latency: float = 0.0,
        loss: float | None = None,
        duplicates: float | None = None,
        reordered: float | None = None,
    ) -> None:
        """Make the links between two nodes slow or lossy, or those of ``one`` to all others, in both directions.

        A link is what the last call has made of it. Where none of the three shares is given, datagrams are lost,
        doubled and late as without this call; where one is, those that are not given are 0. How much of a share
        happens is decided by the run: a part of it, or nothing.

        Args:
            one: a node or its name.
            other: the other end; None for all nodes that there are, and the test.
            latency: how many seconds longer each packet takes.
            loss: which share of the datagrams gets lost, at most, from 0 for none to 1. Packets of streams that get
                lost are sent again, and arrive 0.2 seconds later.
            duplicates: which share of the datagrams arrives twice, at most.
            reordered: which share of the datagrams is overtaken by later ones, at most.

        Raises:
            SimulationError: an argument cannot be used.
        """
        seconds = latency and checked_seconds("latency", latency)
        shares = {"loss": loss, "duplicates": duplicates, "reordered": reordered}
        given = {name: checked_share(name, share) for name, share in shares.items() if share is not None}
        conduct = Conduct(**given) if given else None
        self._links.make(self._between(one, other, one_way=False), seconds, conduct)

    def reset(self, one: Node | str, other: Node | str | None = None) -> None:
        """Reset the connections between ``one`` and ``other``, or all of ``one``."""
        first, second = self._named(one), None if other is None else self._named(other)
        for end in self._loop.ends_of(first):
            if second is None or end.peer.host == second:
                end.reset_both()

    def _named(self, node: Node | str) -> str:
        return node.name if isinstance(node, Node) else self[node].name

    def _between(self, one: Node | str, other: Node | str | None, *, one_way: bool) -> list[Link]:
        first = self._named(one)
        others = [*(each for each in self._nodes if each != first), ""] if other is None else [self._named(other)]
        links = [(first, second) for second in others]
        return links if one_way else [*links, *((second, first) for second in others)]

    # What the nemesis asks for

    def cut(self, links: Sequence[Link]) -> None:
        """Cut links."""
        self._links.cut(links)

    def heal_links(self, links: Sequence[Link]) -> None:
        """Undo one cut of each of these links."""
        self._links.heal(links)
        self._loop.send_overdue()

    # What the loop asks

    def host_of(self, name: str) -> str | None:
        """Return the node with this name or address; None if there is none."""
        if name in self._nodes:
            return name
        return next((node.name for node in self._nodes.values() if node.address == name), None)

    def address_of(self, name: str) -> str:
        """Return the address of the node ``name``, or of the test itself."""
        return self._nodes[name].address if name else TEST_ADDRESS

    def is_silent(self, name: str) -> bool:
        """Return True if the node ``name`` is down and nothing answers for it."""
        life = self._nodes[name].life
        return life.is_dead and life.is_silent

    # The loop itself counts the steps of a life, and asks for the conditions after each callback.

    def _strike(self, life: Life) -> None:
        self._nemesis.strike(self._nodes[life.name])

    def _linger(self, life: Life) -> None:
        life.hold_until(self._loop.now + life.step_s)

    def _broken(self, name: str) -> NoReturn:
        self._always = tuple(each for each in self._always if each[0] != name)
        raise BrokenProperty(f"{name}: it does not hold at {self._loop.now:.3f} s", site=name)

    def _reached(self, wait: _Wait) -> None:
        self._forget(wait)
        _settle(wait[1], True)

    def _forget(self, wait: _Wait) -> None:
        self._waits = tuple(each for each in self._waits if each is not wait)

    def state_lines(self) -> list[str]:
        """Return, as text, what is unusual about the nodes and their links."""
        down = [node.name for node in self._nodes.values() if not node.is_up]
        paused = [node.name for node in self._nodes.values() if node.is_up and node.life.is_paused]
        cuts = [f"{source or 'the test'} to {target or 'the test'}" for source, target in self._links.cuts()]
        rows = (("down", down), ("paused", paused), ("cut", cuts))
        return [f"  {what}: {', '.join(names)}" for what, names in rows if names]

    def end(self) -> None:
        """End all nodes without a trace, as the run is over."""
        self._always = ()
        for node in self._nodes.values():
            node.life.end(is_silent=True)

    # Properties

    def always(self, name: str, condition: Condition) -> None:
        """Check ``condition()`` after each step of any task from now on; ``name`` stands in the failure.

        It should be quick, and may not await. SimulationError is raised if it is not a function. The run fails with
        BrokenProperty when it returns what counts as false, and with its own error when it raises one.
        """
        if not callable(condition):
            raise SimulationError(
                f"the condition {name!r:.100} is {condition!r:.100}", hint="pass a function: `lambda: ...`"
            )
        self._always = tuple({**dict(self._always), name: condition}.items())

    async def until(self, condition: Condition, *, within: float = WITHIN_S) -> None:
        """Wait until ``condition()`` is true.

        Raises:
            NotReached: it is not within this many simulated seconds.
        """
        if not await self._awaited(condition, within):
            raise self._not_reached("the condition of `until`", within)

    async def eventually(self, name: str, condition: Condition, *, within: float = WITHIN_S) -> None:
        """End all faults, and wait until ``condition()`` is true; ``name`` stands in the failure.

        Nothing is disturbed any more in the rest of the run: links are healed, nodes that a fault crashed or paused
        run again, packets take their usual time.

        Raises:
            NotReached: it does not become true within this many simulated seconds.
        """
        self.calm()
        if not await self._awaited(condition, within):
            raise self._not_reached(name, within)

    def calm(self) -> None:
        """End all faults for the rest of the run: heal, restart, resume, and disturb nothing any more."""
        self._nemesis.end()
        self._loop.be_quiet()
        self._links.heal_all()
        self._loop.send_overdue()

    async def _awaited(self, condition: Condition, within: float) -> bool:
        checked_seconds("within", within)
        if condition():
            return True
        future: asyncio.Future[bool] = self._loop.create_future()
        wait = condition, future
        self._waits = (*self._waits, wait)
        over = self._loop.call_later(within, _settle, future, False)
        try:
            return await future
        finally:
            over.cancel()
            self._forget(wait)

    def _not_reached(self, what: str, within: float) -> NotReached:
        lines = [f"{what} is not true within {within:g} s, at {self._loop.now:.3f} s", *self._loop.wait_lines()]
        return NotReached("\n".join(lines), site=what)


def _settle(future: asyncio.Future[bool], value: bool) -> None:
    if not future.done():
        future.set_result(value)
