"""The shop of the examples: each bug fires on its shortest sequence until it is repaired, and the Explorer finds it."""

import importlib
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

import pytest

from ordeal.explore import Explorer
from ordeal.result import ProgressSnapshot

PROMISES = "promised units and open orders disagree"
REFUNDS = "a customer got more back than was collected"
UNITS = "the stock counts units that do not exist"

# The README's sequences: a rule with its arguments, or the name of a function whose fault is toggled.
Step = tuple[str, dict[str, object]] | str
PLACE_FIRST: list[Step] = [("place", {"sku": "kettle", "units": 1, "unit_cents": 1})]
FIRST: dict[str, object] = {"order": "A1"}
INSPECTED: list[Step] = [
    ("open_shop", {"units": 5}),
    *PLACE_FIRST,
    ("authorise", FIRST),
    ("ship", FIRST),
    ("deliver", FIRST),
    ("request_return", FIRST),
    ("receive_return", FIRST),
    ("inspect_return", FIRST),
]
SEQUENCES: dict[str, tuple[str, list[Step]]] = {
    "a": (PROMISES, [("open_shop", {"units": 5}), *PLACE_FIRST, ("amend", {"order": "A1", "units": 6})]),
    "b": (REFUNDS, [*INSPECTED, "await_answer", "look_up", ("settle_return", FIRST)]),
    "c": (
        UNITS,
        [
            *INSPECTED,
            "submit",
            ("settle_return", FIRST),
            *PLACE_FIRST,
            ("authorise", {"order": "A2"}),
            *PLACE_FIRST,
            ("authorise", {"order": "A3"}),
            ("settle_return", FIRST),
        ],
    ),
}
BUGS = pytest.mark.parametrize("bug", SEQUENCES)


def toggle(machine: Any, function: str) -> None:
    """Switch the fault on that function to the other state."""
    (fault,) = [fault for fault in machine._faults if f".{function}" in fault.name]
    (fault.deactivate if fault.active else fault.activate)()


def perform(machine: Any, step: Step) -> None:
    """Take one step and check every invariant after it."""
    if isinstance(step, str):
        toggle(machine, step)
    else:
        rule, arguments = step
        getattr(machine, rule)(**arguments)
    for _, invariant in inspect.getmembers(machine, lambda member: hasattr(member, "hypothesis_stateful_invariant")):
        invariant()


@pytest.fixture
def replay(shop_chaos: ModuleType) -> Callable[[list[Step]], None]:
    """Return a function that takes a list of steps on a fresh machine."""

    def run(steps: list[Step]) -> None:
        machine = shop_chaos.ShopChaos()
        try:
            for step in steps:
                perform(machine, step)
        finally:
            machine.teardown()

    return run


@pytest.fixture
def repaired(shop_chaos: ModuleType) -> Callable[[str], AbstractContextManager[None]]:
    """Return the context manager that repairs bugs by letter."""
    module = importlib.import_module("repairs")
    context: Callable[[str], AbstractContextManager[None]] = module.repaired
    return context


@BUGS
def test_sequence_fires(bug: str, replay: Callable[[list[Step]], None]) -> None:
    message, steps = SEQUENCES[bug]
    with pytest.raises(AssertionError, match=message):
        replay(steps)


@BUGS
def test_every_step_is_needed(bug: str, replay: Callable[[list[Step]], None]) -> None:
    _, steps = SEQUENCES[bug]
    for i in range(len(steps)):
        without = steps[:i] + steps[i + 1 :]
        try:
            replay(without)
        except KeyError:
            continue  # The order of a later step was never placed.


@BUGS
def test_repair_cures_its_bug_and_no_other(
    bug: str,
    replay: Callable[[list[Step]], None],
    repaired: Callable[[str], AbstractContextManager[None]],
) -> None:
    with repaired(bug):
        for other, (message, steps) in SEQUENCES.items():
            if other == bug:
                replay(steps)
            else:
                with pytest.raises(AssertionError, match=message):
                    replay(steps)


def test_explorer_finds_all_three(shop_chaos: ModuleType) -> None:
    def stop_at_three(progress: ProgressSnapshot) -> None:
        if progress.failures == len(SEQUENCES):
            raise KeyboardInterrupt

    result = Explorer(shop_chaos.ShopChaos, target_modules=["shop"]).run(max_time=600, progress=stop_at_three)
    found = {str(failure.error): failure for failure in result.failures}
    assert found.keys() == {message for message, _ in SEQUENCES.values()}
    for message, steps in SEQUENCES.values():
        trace = found[message].trace
        assert trace is not None
        # One more than by hand, at most: shrinking never makes a number larger to get rid of a step.
        assert len(steps) <= len(trace.steps) <= len(steps) + 1


def test_explorer_finds_nothing_in_the_repaired_shop(
    shop_chaos: ModuleType, repaired: Callable[[str], AbstractContextManager[None]]
) -> None:
    with repaired("abc"):
        result = Explorer(shop_chaos.ShopChaos, target_modules=["shop"]).run(max_time=600, max_runs=2_000)
    assert result.failures == []
