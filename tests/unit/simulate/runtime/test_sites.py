"""BoundPlaces are named so that edits which change nothing do not rename them."""

import asyncio
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ordeal import simulate
from ordeal.simulate.runtime.sites import locals_of

PROGRAM = """
import asyncio

async def worker(done):
    await asyncio.sleep(len("#1"))
    done.append(
        await asyncio.sleep(1, 'a # in a text'))

async def main():
    done = []
    await asyncio.wait([asyncio.create_task(worker(done))])
    assert done
"""


def imported(path: Path, text: str) -> Callable[[], Any]:
    path.write_text(text, "utf-8")
    names: dict[str, Any] = {"__name__": path.stem}
    exec(compile(text, str(path), "exec"), names)
    return names["main"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('len("#1"))', 'len("#1"))  # a comment'),
        ("await asyncio.sleep(1, 'a # in a text'))", "await asyncio.sleep(1, 'a # in a text'))# and # one"),
        ("import asyncio\n", "import asyncio\n\n# A comment.\n"),
    ],
)
def test_a_comment_leaves_a_recorded_failure_as_it_is(tmp_path: Path, old: str, new: str) -> None:
    faults = [simulate.cancel()]
    failures = {}
    for seed in range(0, 200, 20):
        failure = simulate.explore(imported(tmp_path / "a.py", PROGRAM), seed=seed, faults=faults, check=False).failure
        assert failure is not None
        failures[str(failure.decisions)] = failure.decisions
    assert any(" # in a text" in decisions for decisions in failures)
    edited = imported(tmp_path / "b.py", PROGRAM.replace(old, new))
    for decisions in failures.values():
        with pytest.raises(AssertionError):
            simulate.run(edited, faults=faults, decisions=decisions)


class Thing:
    pass


def test_what_is_read_of_a_frame_is_not_held_by_it() -> None:
    dropped = list[weakref.ref[Thing]]()

    async def drops() -> None:
        thing = Thing()
        dropped.append(weakref.ref(thing))
        await asyncio.sleep(0)
        del thing
        await asyncio.sleep(0)

    coroutine: Any = drops()
    coroutine.send(None)
    assert type(locals_of(coroutine.cr_frame)["thing"]) is Thing
    coroutine.send(None)
    assert dropped[0]() is None
    assert "thing" not in locals_of(coroutine.cr_frame)
    coroutine.close()


def test_the_table_that_a_program_asked_for_stays_as_it_is() -> None:
    async def asks(first: int) -> dict[str, Any]:
        known = locals()
        await asyncio.sleep(0)
        return known

    coroutine: Any = asks(1)
    coroutine.send(None)
    assert locals_of(coroutine.cr_frame)["first"] == 1
    with pytest.raises(StopIteration) as end:
        coroutine.send(None)
    assert end.value.value["first"] == 1
    names: dict[str, Any] = {"sys": sys, "value": 1}
    exec("frame = sys._getframe()", names)
    assert locals_of(names["frame"])["value"] == names["value"] == 1
