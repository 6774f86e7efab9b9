"""Tasks of a simulated run are made as asyncio makes them, and each has a name of its own in labels."""

from __future__ import annotations

import asyncio
import contextvars
import importlib.util
from collections import Counter
from collections.abc import Coroutine, Generator
from pathlib import Path
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
    """A coroutine that is not a function's."""

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


LIBRARY = """
import asyncio

class Pool:
    def start(self):
        self.keeper = asyncio.create_task(self.keep())

    async def keep(self):
        await asyncio.sleep(5)

    async def get(self):
        await asyncio.sleep(1)

    def submit(self, coroutine):
        return asyncio.create_task(coroutine)
"""


def installed(folder: Path) -> Any:
    folder.mkdir(exist_ok=True)
    path = folder / "pooled.py"
    path.write_text(LIBRARY, "utf-8")
    spec = importlib.util.spec_from_file_location("pooled", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def struck(module: Any, tasks: str = "clients") -> set[str]:
    """Which of its tasks are cancelled while they wait."""
    ended = Counter[str]()

    async def job() -> None:
        await asyncio.sleep(1)

    async def main() -> None:
        pool = module.Pool()
        pool.start()
        async with asyncio.TaskGroup() as group:
            of_tasks = {
                "keeper": pool.keeper,
                "made": asyncio.create_task(pool.get()),
                "grouped": group.create_task(pool.get()),
                "submitted": pool.submit(job()),
                "shielded": asyncio.create_task(job()),
            }
            await asyncio.wait([*of_tasks.values(), asyncio.shield(of_tasks["shielded"])])
        ended.update(name for name, task in of_tasks.items() if task.cancelled())

    assert simulate.explore(main, runs=150, faults=[simulate.cancel(tasks)], check=False).failure is None
    return set(ended)


@pytest.mark.parametrize("folder", ["site-packages", "target"])
def test_what_a_library_keeps_for_itself_is_cancelled_by_name_alone(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder / "pooled-1.dist-info").mkdir(parents=True)
    module = installed(tmp_path / folder)
    assert struck(module) == {"made", "grouped", "submitted"}
    assert struck(module, "all") == {"keeper", "made", "grouped", "submitted", "shielded"}
    assert struck(module, "Pool.keep") == {"keeper"}


def test_the_tasks_of_a_program_are_its_own(tmp_path: Path) -> None:
    assert struck(installed(tmp_path / "src")) == {"keeper", "made", "grouped", "submitted"}
