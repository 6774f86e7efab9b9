"""What tells the machines of a simulated run apart: their names, their network cards, and the UUIDs made from these."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

from ordeal.simulate.nodes.life import LIFE

#: What ``time.time()`` answers when a run begins: the first of January 2026, in UTC.
EPOCH_S = 1_767_225_600.0
#: The name of the machine that the test itself runs on.
TEST_HOST = "localhost"
#: What UUIDs count: a tenth of a microsecond, from the beginning of the Gregorian calendar.
_TICKS_PER_S = 10_000_000
_TICKS_TO_1970 = 0x01B21DD213814000
#: Marks a number that is no address of a real card.
_MULTICAST = 1 << 40
_CARD_BYTES, _SEQUENCE_MASK = 6, 0x3FFF
_VARIANT = 0x80


def epoch_s() -> float:
    """Return what the date is when the running code's clock says 0: in a node, its clock may be set wrong."""
    life = LIFE.get()
    return EPOCH_S if life is None else EPOCH_S + life.clock.offset


def host_name() -> str:
    """Return the name of the machine that the running code is on."""
    life = LIFE.get()
    return TEST_HOST if life is None else life.name


def card_number(loop: Any) -> int:
    """Return the address of the machine's network card: it follows from the seed of the run."""
    return int.from_bytes(_drawn(loop)[:_CARD_BYTES]) | _MULTICAST


def time_uuid(loop: Any, node: int | None, clock_seq: int | None) -> uuid.UUID:
    """Return a UUID of version 1: from the simulated date and the machine. A machine makes none of them twice."""
    host = host_name()
    ticks = int((epoch_s() + loop.time()) * _TICKS_PER_S) + _TICKS_TO_1970
    ticks = loop.uuid_ticks[host] = max(ticks, loop.uuid_ticks.get(host, 0) + 1)
    sequence = int.from_bytes(_drawn(loop)[_CARD_BYTES:]) if clock_seq is None else clock_seq
    sequence &= _SEQUENCE_MASK
    fields = ticks & 0xFFFFFFFF, ticks >> 32 & 0xFFFF, ticks >> 48 & 0x0FFF, sequence >> 8 | _VARIANT, sequence & 0xFF
    return uuid.UUID(fields=(*fields, card_number(loop) if node is None else node), version=1)


def _drawn(loop: Any) -> bytes:
    """Return what is drawn for the machine, once for each run."""
    return hashlib.sha256(f"{loop.machine_seed}:{host_name()}".encode()).digest()[: _CARD_BYTES + 2]
