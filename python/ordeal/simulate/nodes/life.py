"""One life of a node, from its start to its crash: which callbacks may run now, which are held back, and its clock."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import math
import sys
from asyncio import events
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import ordeal._native as _native
from ordeal.simulate.file_system import FileSystem


class NodeClock(_native.ClockState):
    """The clock of a node: it may go too fast or too slow, and its date may be wrong."""

    def __init__(self) -> None:
        self.rate = 1.0
        self.offset = 0.0
        """By how many seconds the date is wrong, besides what the rate makes of it."""
        self._since = 0.0
        self._base = 0.0

    def reading(self, now: float) -> float:
        """Return what the clock shows at the time ``now`` of the world."""
        return self._base + (now - self._since) * self.rate

    def moment(self, reading: float) -> float:
        """Return the time of the world at which the clock shows ``reading``."""
        return self._since + (reading - self._base) / self.rate

    def skew(self, now: float, *, offset: float, rate: float) -> None:
        """Move the date by ``offset`` seconds, and let the clock go at another rate from ``now`` on."""
        self._base, self._since = self.reading(now), now
        self.rate = rate
        self.offset += offset

    def __getstate__(self) -> object:
        return vars(self), {name: getattr(self, name) for name in ("rate", "_since", "_base")}


#: What the loop reads of a life.
_NATIVE = ("clock", "is_dead", "is_silent", "steps", "next_strike", "step_s", "_held", "_freed", "_held_until")


class Life(_native.LifeState):
    """One life of a node. What runs in a context where ``LIFE`` is this one belongs to it. Not thread-safe."""

    def __init__(self, loop: Any, name: str, clock: NodeClock, disk: FileSystem) -> None:
        self.name = name
        self.clock = clock
        self.disk = disk
        self.is_dead = False
        self.is_silent = False
        """Whether nothing answers for a dead life: its peers do not notice."""
        self.steps = 0
        """How many callbacks of the node have run."""
        self.next_strike = sys.maxsize
        """The step after which a fault strikes."""
        self.step_s = 0.0
        """How long each step takes."""
        self._loop = loop
        self._held: deque[events.Handle] = deque()
        self._held_until = 0.0
        self._freed: deque[events.Handle] = deque()
        """What was held back and is ready now, and what comes after it: nothing of the node overtakes it."""
        self._dropped: list[events.Handle] = []

    def __getstate__(self) -> object:
        return vars(self), {name: getattr(self, name) for name in _NATIVE}

    @property
    def is_paused(self) -> bool:
        """Whether the node stands still until it is resumed."""
        return self._held_until == math.inf

    def keeps_back(self, handle: events.Handle) -> bool:
        """Return True if a callback may not run now: for ever if the life has ended, else until the node goes on.

        The loop asks only where something is not as usual.
        """
        if self.is_dead:
            # Kept until the end of the run: freeing it could run code of the node.
            self._dropped.append(handle)
            return True
        freed = self._freed
        while freed and freed[0]._cancelled:
            freed.popleft()
        if freed and freed[0] is not handle:
            # Others that were freed come first: it is ready again after them.
            if not any(each is handle for each in freed):
                freed.append(handle)
            self._loop.make_ready([handle])
            return True
        if freed:
            freed.popleft()
        if self._held or self._held_until > self._loop.now:
            self._held.append(handle)
            return True
        return False

    def hold_until(self, when: float) -> None:
        """Let nothing of the node run until ``when``; infinity for until ``resume``."""
        if when > self._held_until:
            self._held_until = when
            if when != math.inf:
                self._loop.at(when, self._release, when)

    def resume(self) -> None:
        """Let the node go on that stood still."""
        self._release(self._held_until)

    def _release(self, until: float) -> None:
        # It may have been ordered meanwhile to stand still for longer.
        if self._held_until == until:
            self._held_until = 0.0
            held, self._held = self._held, deque()
            self._freed.extendleft(reversed(held))
            self._loop.make_ready(held)

    def end(self, *, is_silent: bool) -> None:
        """Let nothing of the node run ever again."""
        self.is_dead, self.is_silent = True, is_silent
        self._dropped.extend(self._held)
        self._held.clear()
        self._freed.clear()

    def forget(self) -> None:
        """Free what was dropped, at the end of the run."""
        self._dropped.clear()


#: The life that the running code belongs to; None for the test itself.
LIFE: contextvars.ContextVar[Life | None] = contextvars.ContextVar("ordeal_life", default=None)

#: Where the network runs: in no node.
NOWHERE = contextvars.Context()


def life_of(task: asyncio.Task[Any]) -> Life | None:
    """Return the life that a task belongs to."""
    context: contextvars.Context = task.get_context()
    return context.get(LIFE)


#: How often a coroutine of a node that is gone is ordered to end.
_BURIALS_MAX = 10


def bury_all(tasks: Callable[[], Iterable[asyncio.Task[Any]]]) -> None:
    """End the coroutines of nodes whose run is over, as far as they have not ended; nothing of it is reported.

    Asks for the tasks again, as one that is ordered to end may make others.
    """
    buried = set[int]()
    for _ in range(_BURIALS_MAX):
        left = [task for task in tasks() if not task.done() and id(task) not in buried]
        if not left:
            return
        buried.update(map(id, left))
        before, hook = logging.root.manager.disable, sys.unraisablehook
        logging.disable(sys.maxsize)
        sys.unraisablehook = lambda _unraisable: None
        try:
            resisting = [task for task in left if not bury(task)]
            if resisting:
                # What they awaited as they were ordered to end is left in a cycle, and would complain when it is freed.
                gc.collect(0)
        finally:
            logging.disable(before)
            sys.unraisablehook = hook


def bury(task: asyncio.Task[Any]) -> bool:
    """End the coroutine of a node that is gone, where nothing that it does has an effect; return if it did at once."""
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    coroutine: Any = task.get_coro()
    for attempt in range(_BURIALS_MAX):
        try:
            task.get_context().run(coroutine.close)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - a machine without power reports nothing
            continue
        return attempt == 0
    return False
