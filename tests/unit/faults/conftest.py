"""A shop to put faults on, time that does not pass, and runs in which faults act without a machine."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from typing import Any

import pytest

from ordeal.faults import Fault, release
from ordeal.faults.fault import begin_run

from ..samples.shop import shop_app

CONNECTS = sqlite3.connect


@pytest.fixture
def in_run() -> Iterator[Any]:
    """Begins a run with the faults that it is given."""
    faults: list[Fault] = []

    def begin(*given: Fault) -> Any:
        faults.extend(given)
        begin_run(faults)
        return given[0] if len(given) == 1 else given

    yield begin
    release(faults)
    assert sqlite3.connect is CONNECTS


@pytest.fixture
def shop() -> Iterator[Any]:
    with shop_app() as modules:
        yield modules


@pytest.fixture
def api(shop: Any) -> Any:
    return shop.api


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses taken, none of which takes any time."""
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)

    async def sleep(pause: float) -> None:
        pauses.append(pause)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return pauses
