"""Cancellations strike whom somebody could cancel: not what a library keeps for itself, nor what is shielded."""

import asyncio
import importlib.util
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ordeal import simulate

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
