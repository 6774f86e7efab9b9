"""Puzzle for the order of tasks as coverage: progress that shows only in how far the tasks come."""

import asyncio

from hypothesis.stateful import rule

from ordeal import simulate
from ordeal.chaos import ChaosTest

LEGS = 7


class RelayRace(ChaosTest):
    """A team that goes one leg further when its runner, who starts second, comes in first; else it begins again."""

    world = simulate.world(clients=1)

    def __init__(self) -> None:
        super().__init__()
        self.legs = 0
        self.came_in: list[str] = []

    async def run(self, name: str) -> None:
        for _ in range(self.legs):
            await asyncio.sleep(0)
        await asyncio.sleep(1)
        self.came_in.append(name)

    @rule()  # type: ignore[arg-type]
    async def leg(self) -> None:
        self.came_in.clear()
        await asyncio.gather(self.run("they"), self.run("we"))
        self.legs = (self.legs + 1) * (self.came_in[0] == "we")
        assert self.legs < LEGS, "the baton was dropped"
