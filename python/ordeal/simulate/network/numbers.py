"""Numbers as hashes: sets of writers, transports and queues have the same order in each run, and in every process.

Servers keep their clients in sets. Python orders these by the addresses of the objects, so that who is told first would
differ from run to run.
"""

from __future__ import annotations

import asyncio
from asyncio import mixins
from typing import Any

_NUMBER = "_ordeal_number"


class NumberLoop:
    """The part of a loop that counts what is hashed in its run."""

    _hashed = 0

    def next_number(self) -> int:
        """Return the next number of this run."""
        self._hashed += 1
        return self._hashed


def number_of(hashed: Any) -> int:
    """Return the hash of an object: its number if it is first asked for inside of a run, else that of its address.

    It stays what it is, also when the run is over.
    """
    known: dict[str, Any] = vars(hashed)
    if _NUMBER not in known:
        loop: object = asyncio._get_running_loop()
        known[_NUMBER] = loop.next_number() if isinstance(loop, NumberLoop) else object.__hash__(hashed)
    return int(known[_NUMBER])


for _kind in (asyncio.StreamWriter, asyncio.StreamReader, mixins._LoopBoundMixin):
    _kind.__hash__ = number_of  # type: ignore[method-assign, assignment]
