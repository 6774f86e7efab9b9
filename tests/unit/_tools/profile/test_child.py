"""Figures of a profile: the same in every process, of the program alone, and with the growth of each step."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import msgspec
import pytest

from ordeal._tools.profile.child import size_of
from ordeal._tools.profile.figures import ProfileReport, TestProfile

MACHINES = """
    import asyncio
    from collections import deque
    import hypothesis.strategies as st
    from ordeal import ChaosTest, always, rule, simulate

    def pairs(items):
        return sum(1 for one in items for other in items if one < other)

    class Sizes(ChaosTest):
        def __init__(self):
            super().__init__()
            self.items = []

        @rule(items=st.lists(st.integers()))
        def quadratic(self, items):
            self.found = pairs(items)

        @rule(items=st.lists(st.integers()))
        def linear(self, items):
            self.found = sum(1 for one in items if one)

        @rule()
        def put(self):
            self.items.append(1)

        @rule()
        def report(self):
            self.found = pairs(self.items)

        @rule()
        def by_address(self):
            for _ in range(id(object()) // 64 % 64 + id(self) // 64 % 64):
                pass

    latest = deque(map(float, range(50)), maxlen=50)

    class Bounded(ChaosTest):
        @rule()
        def put(self):
            latest.append(len(latest) / 7)

    class Waits(ChaosTest):
        world = simulate.world(clients=2)

        @rule(tenths=st.integers(1, 5))
        async def wait(self, tenths):
            await asyncio.sleep(tenths / 10)

    @simulate.test
    async def test_talks():
        async def serve(reader, writer):
            writer.write(await reader.read(3))
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 8000)
        reader, writer = await asyncio.open_connection("127.0.0.1", 8000)
        writer.write(b"abc")
        assert await reader.read(3) == b"abc"
        writer.close()
        server.close()
"""


def profiled(folder: Path, *arguments: str, hash_seed: str = "1") -> bytes:
    (folder / "profiled.py").write_text(dedent(MACHINES))
    command = [sys.executable, "-m", "ordeal", "profile", "--json", *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run(command, check=False, cwd=folder, env=environment, capture_output=True).stdout


@pytest.mark.slow
def test_figures_are_the_same_in_each_process_and_growth_is_named(tmp_path: Path) -> None:
    tests = ("profiled:Sizes", "profiled:Waits", "profiled:test_talks")
    first = profiled(tmp_path, *tests)
    assert first == profiled(tmp_path, *tests, hash_seed="2")
    report = msgspec.json.decode(first, type=ProfileReport)
    sizes, waits, talks = report.profiles
    names = {name: (each.growth.name, each.growth.of) for name, each in sizes.figures.items()}
    assert names["quadratic"] == ("quadratic", "`items`")
    assert names["linear"] == ("linear", "`items`")
    assert names["report"] == ("quadratic", "`self.items`")
    assert report.findings == [
        f"profiled:Sizes: `{name}` is quadratic in {of}"
        for name, (growth, of) in names.items()
        if growth == "quadratic"
    ]
    # What no two runs have in common is no figure.
    varying = sizes.figures["by_address"]
    assert (varying.instructions, varying.allocations, varying.calls > 0) == (None, None, True)
    assert (sizes.events, sizes.messages) == (0, 0)
    assert waits.events > waits.steps == waits.figures["wait"].calls
    latency = waits.figures["wait"].latency
    assert latency is not None
    assert 0.1 <= latency[0] <= latency[2] <= 0.6
    assert talks.messages >= 2 * talks.runs


def test_the_size_of_values_counts_what_they_hold_and_runs_nothing() -> None:
    class Hostile:
        def __init__(self, held: object) -> None:
            self.held = held

        def __len__(self) -> int:
            raise AssertionError

        def __eq__(self, other: object) -> bool:
            raise AssertionError

        __hash__ = None  # type: ignore[assignment]

    assert size_of([[0] * 100]) - size_of([[0] * 40]) == 60
    assert size_of(["x" * 100]) - size_of(["x" * 40]) == 60
    assert size_of([Hostile([0] * 100)]) - size_of([Hostile([0] * 40)]) == 60
    endless: list[object] = []
    endless.append(endless)
    assert size_of(endless) < 5
    assert size_of([size_of, TestProfile, sys]) == 0


@pytest.mark.slow
def test_what_takes_the_place_of_an_object_from_before_the_runs_is_no_leak(tmp_path: Path) -> None:
    report = msgspec.json.decode(profiled(tmp_path, "profiled:Bounded", "--memory", "--runs", "1"), type=ProfileReport)
    assert report.profiles[0].leaks == []
    assert report.findings == []


@pytest.mark.slow
def test_the_settings_say_what_passes_where_the_command_does_not(tmp_path: Path) -> None:
    def findings(*arguments: str) -> list[str]:
        report = msgspec.json.decode(
            profiled(tmp_path, "profiled:Sizes", "--runs", "20", *arguments), type=ProfileReport
        )
        return report.findings

    assert findings()
    (tmp_path / "ordeal.toml").write_text('[profile]\ngrowth = "cubic"\n')
    assert findings() == []
    assert findings("--growth", "n log n")
