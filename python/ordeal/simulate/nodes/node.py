"""A node of a world: a machine that runs a function, may crash and be restarted, and has a clock and a disk."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Coroutine
from functools import cache
from typing import Any

from ordeal.simulate.errors import SimulationError, checked_seconds
from ordeal.simulate.file_system import FileSystem
from ordeal.simulate.nodes.life import LIFE, Life, NodeClock
from ordeal.simulate.runtime.decisions import DISK, SILENCE, name_key
from ordeal.simulate.runtime.faults import NOT_SYNCED, TORN
from ordeal.simulate.runtime.loop import SimulationLoop

_REAL_FOLDERS = tuple(
    {f"{folder}/" for folder in (*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, "/dev", "/proc")}
)
_REAL_ENDINGS = (".py", ".pyc", ".so", ".pyd")


@cache
def is_real(where: str) -> bool:
    """Return True if a path is that of Python, a library or a source, which every node has."""
    return where.endswith(_REAL_ENDINGS) or where.startswith(_REAL_FOLDERS)


class NodeDisks:
    """Answers with the disk of the node whose code runs."""

    root = "/"

    @property
    def files(self) -> FileSystem | None:
        """The disk of the present node; None in the test itself."""
        life = LIFE.get()
        return None if life is None else life.disk

    def answers(self, _path: str, where: str) -> bool:
        """Return True if a path is on the disk of a node."""
        return not is_real(where)


type NodeMain = Callable[..., Coroutine[Any, Any, object]]

_DISK_SITE, _TORN_SITE, _CRASH_SITE = map(name_key, (NOT_SYNCED, TORN, "crash"))


class Node:
    """A host of a world; made by ``World.node``. Not thread-safe.

    It has a ``name`` and an ``address`` on the network, and runs ``main`` with ``arguments`` in each of its lives.
    """

    def __init__(
        self, loop: SimulationLoop, name: str, address: str, main: NodeMain, arguments: tuple[Any, ...]
    ) -> None:
        self.name = name
        self.address = address
        """Its address on the network. The name is as good."""
        self.clock = NodeClock()
        self.disk = FileSystem()
        """Its disk: what its tasks open is here, and it survives crashes as far as it was synced."""
        self.disk.make_root(tempfile.gettempdir())
        self.life = Life(loop, name, self.clock, self.disk)
        self.lives = 0
        """How often it was started."""
        self._loop = loop
        self._main = main
        self._arguments = arguments
        self._context = contextvars.copy_context()
        self.start()

    @property
    def is_up(self) -> bool:
        """Whether it runs; a paused node does."""
        return not self.life.is_dead

    @property
    def key(self) -> int:
        """What stands for it in decisions."""
        return name_key(self.name)

    def start(self) -> asyncio.Task[Any]:
        """Begin a life: run the function of the node.

        Raises:
            SimulationError: its function is not a coroutine function.
        """
        self.lives += 1
        self.life = Life(self._loop, self.name, self.clock, self.disk)
        context = self._context.copy()
        context.run(LIFE.set, self.life)
        coroutine: Any = context.run(self._main, *self._arguments)
        if not asyncio.iscoroutine(coroutine):
            name = getattr(self._main, "__qualname__", repr(self._main))
            raise SimulationError(
                f"the node {self.name} got {name}, which is not a coroutine function", hint="write it as `async def`"
            )
        task = self._loop.create_task(coroutine, context=context)
        task.add_done_callback(self._loop.fail_with, context=contextvars.Context())
        self._loop.world.has_begun(self)
        return task

    def crash(self) -> None:
        """End all that runs on the node at once: no ``finally`` and no ``except`` runs.

        What its disk had not synced is lost, as far as the run decides it, and its connections are reset or, if the
        run decides so, silent until it is restarted and a packet comes. Does nothing if the node is down.
        """
        if self.life.is_dead:
            return
        is_silent = self._loop.decide_evenly(SILENCE, self.key, _CRASH_SITE, 2) == 1
        self.life.end(is_silent=is_silent)
        self._loop.drop_life(self.life)
        # The decision 0 is that nothing is lost.
        self.disk.lose_power(
            lambda most: most - self._lost(NOT_SYNCED, _DISK_SITE, most),
            lambda most: self._lost(TORN, _TORN_SITE, most),
        )

    def _lost(self, what: str, site: int, most: int) -> int:
        """Decide how much of this is lost, or survives."""
        number: int = self._loop.decide_evenly(DISK, self.key, site, most + 1)
        if number:
            self._loop.note_cause("disk", "", of=(self.name, what))
        return number

    def restart(self) -> None:
        """Crash if the node is up, and run its function again."""
        self.crash()
        before = self.life
        self.start()
        before.is_silent = False
        self._loop.answer_for(before)

    def pause(self) -> None:
        """Let nothing of the node run until ``resume``; packets and timers wait."""
        self.life.hold_until(float("inf"))

    def resume(self) -> None:
        """Let the node go on after ``pause``."""
        self.life.resume()

    def send_signal(self, number: int) -> None:
        """Send the signal ``number``, such as ``signal.SIGTERM``: call its handler, or end the node if there is none.

        A node that ends so loses nothing of its disk.
        """
        if self.is_up:
            self._loop.send_signal(self.life, number)

    def slow(self, seconds: float) -> None:
        """Let each step of the node take this many seconds from now on; 0 for none."""
        self.life.step_s = seconds and checked_seconds("seconds", seconds)

    def skew(self, offset: float = 0.0, *, rate: float = 1.0) -> None:
        """Set the date of the node wrong by ``offset`` more seconds, and let its clock go at ``rate`` from now on.

        ``time.time()`` and dates move by the offset; ``time.monotonic()`` and timers follow the rate alone.

        Raises:
            SimulationError: the rate is not a number above 0.
        """
        checked_seconds("rate", rate)
        self.clock.skew(self._loop.now, offset=float(offset), rate=float(rate))

    def __repr__(self) -> str:
        return f"<node {self.name}, {'up' if self.is_up else 'down'}>"
