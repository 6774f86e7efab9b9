"""What a schedule decided is told in sentences, whatever the numbers are."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest

from ordeal import simulate
from ordeal.simulate.runtime.decisions import VALUE_MAX, Decided
from ordeal.simulate.runtime.faults import TORN
from ordeal.simulate.runtime.report import Report, decision_text


@pytest.mark.parametrize(
    ("site", "value", "bound", "text"),
    [
        ("", 1, 2, "store: the one change that was not synced is lost"),
        ("", 1, 7, "store: of the 6 changes that were not synced, the last is lost"),
        ("", 2, 7, "store: of the 6 changes that were not synced, the last 2 are lost"),
        ("", 1, VALUE_MAX, "store: of the changes that were not synced, the last is lost"),
        ("", 3, VALUE_MAX, "store: of the changes that were not synced, the last 3 are lost"),
        (TORN, 1, 9, "store: 1 byte of the first lost write survives"),
        (TORN, 2, 9, "store: 2 bytes of the first lost write survive"),
    ],
)
def test_what_a_disk_loses(site: str, value: int, bound: int, text: str) -> None:
    decision = Decided(actor="store", kind="disk", site=site, occurrence=0, value=value, bound=bound)
    assert decision_text(decision, ()).strip() == text


async def serve() -> None:
    while True:
        await asyncio.sleep(1)


async def patient(world: simulate.World) -> None:
    world.node("db", serve)
    await asyncio.sleep(60)
    await world.eventually("is up", lambda: world.time > 1)


async def alone() -> None:
    await asyncio.sleep(1)


def said(main: Any, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        report: Report = simulate.explore(main, **options)
    found = [str(each.message) for each in caught]
    assert all(text in str(report) for text in found)
    return found


def test_names_that_nobody_has() -> None:
    faults = [simulate.pause("app*"), simulate.cancel("worker*")]
    node, task = said(patient, runs=20, faults=faults)
    assert node.endswith("no node has such a name, the nodes were db")
    assert task.endswith("never the test, nor without `private=True` what the target makes")
    assert said(patient, runs=200, faults=[simulate.crash()]) == []
    (text,) = said(alone, runs=20, faults=[simulate.reset()])
    assert text.endswith("there were no nodes")


def test_a_systematic_search_that_has_nothing_to_cancel() -> None:
    (text,) = said(alone, cancel="each", faults=[simulate.cancel()])
    assert "struck nothing in 1 run: no task was there" in text


def test_a_search_that_found_something_says_nothing() -> None:
    async def wrong(world: simulate.World) -> None:
        world.node("db", serve)
        await world.eventually("wrong", lambda: False)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(simulate.NotReached):
            simulate.explore(wrong, faults=[simulate.crash()])
