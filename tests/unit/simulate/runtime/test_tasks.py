"""Tasks of a simulated run are made as asyncio makes them, and each has a name of its own in labels."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine, Generator
from typing import Any

import pytest

from ordeal import simulate


def test_a_task_is_made_with_every_kind_of_argument() -> None:
    async def named() -> str:
        task = asyncio.current_task()
        assert task is not None
        return task.get_name()

    async def main() -> list[str]:
        loop: Any = asyncio.get_running_loop()
        context = contextvars.copy_context()
        tasks = [
            loop.create_task(named()),
            loop.create_task(coro=named()),
            loop.create_task(named(), name=7),
            loop.create_task(named(), name="", context=context),
        ]
        with pytest.raises(TypeError, match="a coroutine was expected"):
            await loop.create_task(7)
        with pytest.raises(TypeError):
            await loop.create_task()
        tasks[0].set_name("renamed")
        assert [hash(task) for task in tasks] == [2, 3, 4, 5]
        return [await task for task in tasks]

    assert simulate.run(main) == ["renamed", "Task-3", "7", ""]


def test_many_tasks_of_one_function_have_names_of_their_own() -> None:
    async def nothing() -> None:
        await asyncio.sleep(0)

    async def main() -> list[str]:
        loop: Any = asyncio.get_running_loop()
        tasks = [asyncio.create_task(nothing()) for _ in range(100)]
        tasks += [asyncio.create_task(nothing(), name="nothing") for _ in range(2)]
        names = [loop.record_of(task).name for task in tasks]
        assert len({loop.record_of(task).key for task in tasks}) == len(tasks)
        await asyncio.wait(tasks)
        return names

    for _ in range(2):
        names = simulate.run(main)
        assert names == [f"nothing#{number}" for number in range(102)]


class _Plain(Coroutine[Any, Any, int]):
    """A coroutine that is no function's."""

    def send(self, value: Any) -> Any:
        raise StopIteration(5)

    def throw(self, *arguments: Any) -> Any:
        raise NotImplementedError

    def close(self) -> None: ...

    def __await__(self) -> Generator[Any, None, int]:
        raise NotImplementedError


def test_a_task_of_a_coroutine_without_a_function_has_the_name_of_its_type() -> None:
    async def main() -> tuple[str, int]:
        loop: Any = asyncio.get_running_loop()
        task = loop.create_task(_Plain())
        name: str = loop.record_of(task).name
        return name, await task

    assert simulate.run(main) == ("_Plain#0", 5)
