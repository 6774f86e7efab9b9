"""The store of the examples: a power cut loses what it promised, until the file is synced before it is renamed."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from ordeal.explore import Explorer

from .conftest import EXAMPLES, imported

PROJECT = EXAMPLES / "simulated_store"


@pytest.fixture
def chaos() -> Iterator[ModuleType]:
    with imported(PROJECT / "tests" / "test_store_chaos.py", path=[PROJECT], modules={"store"}) as module:
        yield module


@pytest.fixture
def repaired(chaos: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The machine over the store with the repair of its README."""
    store = vars(chaos)["Store"].__init__.__globals__

    def write_whole(path: Path, text: str) -> None:
        new = path.with_suffix(".new")
        with new.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        store["sync_folder"](path.parent)

    monkeypatch.setitem(store, "write_whole", write_whole)
    return chaos


def test_explorer_finds_the_lost_content_in_two_steps(chaos: ModuleType) -> None:
    result = Explorer(chaos.StoreChaos, target_modules=["store"], seed=1).run(max_runs=120, max_time=600)
    assert {type(failure.error).__name__ for failure in result.failures} == {"JSONDecodeError"}
    traces = [failure.trace for failure in result.failures if failure.trace is not None]
    # Both operations that write do so without care, and both show where the file is read: one is found at a time.
    ((write, cut),) = [[step.name for step in trace.steps] for trace in traces]
    assert (write in ("put", "remove"), cut) == (True, "cut_power")


@pytest.mark.nightly
def test_same_seed_gives_the_same_report(chaos: ModuleType) -> None:
    def explore() -> tuple[object, ...]:
        result = Explorer(chaos.StoreChaos, target_modules=["store"], seed=7).run(max_runs=60, shrink=False)
        return result.total_steps, result.unique_edges, [(f.run_id, f.step, str(f.error)) for f in result.failures]

    assert explore() == explore()


def test_explorer_finds_nothing_in_the_repaired_store(repaired: ModuleType) -> None:
    result = Explorer(repaired.StoreChaos, target_modules=["store"]).run(max_runs=250, max_time=600)
    assert result.failures == []


def test_hypothesis_finds_it_too(chaos: ModuleType) -> None:
    options = settings(database=None, derandomize=True, report_multiple_bugs=False)
    with pytest.raises(ValueError, match=r"line 1 column \d"):
        run_state_machine_as_test(chaos.StoreChaos, settings=options)
