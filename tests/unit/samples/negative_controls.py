"""Programs that depend on something which no simulation decides: each is a control that must be noticed."""

from __future__ import annotations

import asyncio
import datetime
import gc
import os
import random
import socket
import tempfile
import threading
import time
import weakref
from pathlib import Path
from typing import Any

now_in_c = datetime.datetime.now
kept: list[int] = []


async def for_ms(number: float) -> None:
    await asyncio.sleep(number / 1000)


async def time_by_alias(clock: Any = time.time_ns) -> None:
    await for_ms(clock() // 1000 % 1000)


async def date_in_c() -> None:
    await for_ms(now_in_c().microsecond)


async def process_id() -> None:
    await for_ms(os.getpid() % 1000)


async def order_of_ids() -> None:
    things = [bytearray(random.randrange(1, 5000)) for _ in range(8)]
    for place in sorted(range(8), key=lambda index: id(things[index])):
        await for_ms(place + 1)


async def order_of_a_set() -> None:
    for name in {"one", "two", "three", "four", "five", "six"}:
        await for_ms(len(name) + ord(name[0]))


async def order_of_a_folder() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for number in range(20):
            Path(folder, f"{os.getpid() + number}").touch()
        for name in os.listdir(folder):  # noqa: PTH208
            await for_ms(int(name) % 100)


async def real_thread() -> None:
    threading.Thread(target=print).start()


async def real_socket() -> None:
    socket.create_connection(("127.0.0.1", 9))


class Finalised:
    def __init__(self, seen: list[str]) -> None:
        self.seen = seen
        self.itself = self

    def __del__(self) -> None:
        self.seen.append("freed")


async def finaliser() -> None:
    seen = list[str]()
    Finalised(seen)
    for _ in range(3):
        [[] for _ in range(1000)]
        await for_ms(1 + len(seen))


async def module_global() -> None:
    kept.append(1)
    await for_ms(len(kept))


async def unseeded_generator() -> None:
    await for_ms(random.Random().randrange(1000))


async def weak_reference() -> None:
    seen = list[str]()
    thing = Finalised([])
    reference = weakref.ref(thing, lambda _: seen.append("gone"))
    del thing
    for _ in range(3):
        await for_ms(1 + len(seen))
    assert reference is not None
    gc.get_count()
