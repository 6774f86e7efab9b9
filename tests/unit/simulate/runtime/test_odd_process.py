"""What decides from outside of a simulation is noticed: stopped, or found in a repeated run or another process."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ordeal import simulate
from ordeal.simulate.runtime import odd_process

from ...samples import negative_controls as controls
from ...samples.nodes import ask, echo


async def orderly() -> None:
    for _ in range(3):
        await controls.for_ms(5)


async def in_a_world(world: simulate.World) -> None:
    world.node("db", echo)
    for _ in range(5):
        try:
            await ask("db", "x")
        except (OSError, AssertionError):
            await controls.for_ms(500)


def noticed_when_repeated(main: Callable[..., Any]) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return simulate.explore(main, runs=1).nondeterministic


@pytest.mark.parametrize("control", [controls.real_thread, controls.real_socket])
def test_what_leaves_the_simulation_is_stopped(control: Any) -> None:
    with pytest.raises(simulate.EscapedSimulation, match=r"negative_controls\.py:\d+"):
        simulate.run(control)


@pytest.mark.parametrize(
    "control", [controls.time_by_alias, controls.date_in_c, controls.unseeded_generator, controls.module_global]
)
def test_what_differs_from_run_to_run_is_found_at_once(control: Any) -> None:
    assert f"from `{control.__name__}: await " in noticed_when_repeated(control)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("control", "guess"),
    [
        (controls.process_id, "os.getpid"),
        (controls.order_of_a_set, "the order of a set"),
        (controls.order_of_a_folder, "a real file"),
        (controls.order_of_ids, "it may depend on"),
    ],
)
def test_what_differs_from_process_to_process_is_found_in_another(control: Any, guess: str) -> None:
    with pytest.raises(simulate.NotDeterministic, match=guess) as caught:
        simulate.check(control, runs=5)
    assert "in one process and" in str(caught.value)
    assert f"from `{control.__name__}: await " in str(caught.value)
    assert "negative_controls" not in str(caught.value)


@pytest.mark.parametrize("control", [controls.finaliser, controls.weak_reference])
def test_garbage_is_collected_at_the_same_place_in_each_run(control: Any) -> None:
    assert noticed_when_repeated(control) == ""


@pytest.mark.nightly
def test_a_program_that_depends_on_nothing_passes() -> None:
    simulate.check(orderly, runs=3)


@pytest.mark.slow
def test_a_world_is_the_same_in_each_process() -> None:
    faults = [simulate.crash(longest=1), simulate.partition(longest=1), simulate.skew(), simulate.cancel("all")]
    simulate.check(in_a_world, runs=20, faults=faults)


@pytest.mark.slow
def test_what_a_fresh_process_cannot_run_is_told() -> None:
    job = {"module": "no_such_module", "name": "main", "file": __file__, "runs": 1, "seed": 0, "faults": [], "path": []}
    with pytest.raises(simulate.SimulationError, match="a fresh process cannot run main: "):
        odd_process._logs(job, {})


def test_what_cannot_be_imported_is_refused() -> None:
    async def inner() -> None:
        pass

    with pytest.raises(simulate.SimulationError, match="cannot be imported"):
        simulate.check(inner)
    with pytest.raises(simulate.SimulationError, match="runs"):
        simulate.check(orderly, runs=0)


UNGUARDED = """
import asyncio
from ordeal import simulate

async def main():
    await asyncio.sleep(1)

simulate.check(main, runs=1)
"""


def test_a_file_that_checks_when_it_is_imported_starts_one_process(tmp_path: Path) -> None:
    path = tmp_path / "unguarded.py"
    path.write_text(UNGUARDED, "utf-8")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False, timeout=100)
    last = done.stderr.splitlines()[-2:]
    assert last[0].endswith(
        "its file calls simulate.check when it is imported; call it below `if __name__ == '__main__':`"
    )
    assert last[0].startswith("ordeal.simulate.errors.SimulationError: a fresh process cannot run main: ")


def test_runs_that_take_too_long_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(odd_process, "_PROCESS_S_MAX", 0.01)
    with pytest.raises(simulate.SimulationError, match=r"3 runs of orderly took more than 0.01 s in a new process"):
        simulate.check(orderly, runs=3)
