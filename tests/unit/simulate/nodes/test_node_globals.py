"""A failure names the globals that more than one node wrote."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ordeal import simulate


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    text = "count = 0\nnames = {}\n\ndef note(name):\n    global count\n    count += 1\n    names[name] = count\n"
    (tmp_path / "shared_program.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield __import__("shared_program")
    sys.modules.pop("shared_program")


async def _work(program: Any, name: str) -> None:
    program.note(name)


def test_who_wrote_a_global_is_reported(program: Any) -> None:
    async def main(world: simulate.World) -> None:
        for name in ("b", "a"):
            world.node(name, _work, program, name)
        await asyncio.sleep(1)
        raise ValueError

    failure = simulate.explore(main, runs=3, check=False).failure
    assert failure is not None
    assert [line for line in str(failure).splitlines() if line.startswith("Shared: ")] == [
        f"Shared: a, b wrote shared_program.{name}; real machines each have their own" for name in ("count", "names")
    ]


class _Hostile:
    """Fails whatever it is asked, as a proxy does that stands for nothing yet."""

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise RuntimeError("working outside of a request")

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("working outside of a request")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_nothing_is_asked_of_what_globals_hold(program: Any) -> None:
    program.proxy = _Hostile()
    test_who_wrote_a_global_is_reported(program)


def test_what_one_node_wrote_is_no_matter(program: Any) -> None:
    async def main(world: simulate.World) -> None:
        world.node("a", _work, program, "a")
        await asyncio.sleep(1)
        program.note("the test")
        raise ValueError

    failure = simulate.explore(main, runs=3, check=False).failure
    assert failure is not None
    assert failure.shared == {}
