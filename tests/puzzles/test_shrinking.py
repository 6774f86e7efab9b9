"""Shrinking against failing machines whose smallest failure is known: the least steps, with minimal arguments."""

from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine

from ordeal import trace
from ordeal.explore import Explorer
from ordeal.result import ProgressSnapshot

from .shrinking.known import Known
from .shrinking.machines import MACHINES
from .shrinking.stateful import DIE_HARD, DieHard

# Runs and the lack of candidates end these, the clock must not: the same seed then gives the same answer anywhere.
UNLIMITED_S = 3600.0
RNG_SEED = 2
RUNS_MAX = 1_000


def first_failure(known: Known) -> trace.Trace:
    """The first failing run, as it was found."""

    def stop(now: ProgressSnapshot) -> None:
        if now.failures:
            raise KeyboardInterrupt

    explorer = Explorer(known.machine, target_modules=[known.machine.__module__], seed=RNG_SEED)
    result = explorer.run(max_time=UNLIMITED_S, max_runs=RUNS_MAX, shrink=False, progress=stop)
    (failure,) = result.failures
    assert failure.trace is not None
    return failure.trace


@pytest.mark.parametrize("known", MACHINES, ids=lambda known: known.name)
def test_shrinks_to_the_known_minimum(known: Known) -> None:
    failing = first_failure(known)
    small = trace.shrink(failing, known.machine, max_time=UNLIMITED_S)
    calls = [call for call in small.program[1:-1] if not call.endswith("# the invariant")]
    assert len(calls) == known.steps_like(tuple(calls))
    assert tuple(calls) in known.programs


@pytest.mark.parametrize("known", MACHINES, ids=lambda known: known.name)
def test_each_known_program_fails_at_its_last_step(known: Known) -> None:
    for program in known.programs:
        assert len(program) == known.steps_like(program)
        assert first_failing_step(known.machine, program) == len(program)


@pytest.mark.parametrize("known", [known for known in MACHINES if known.steps > 1], ids=lambda known: known.name)
def test_fewer_steps_do_not_fail(known: Known) -> None:
    explorer = Explorer(known.machine, max_checkpoints=0)
    result = explorer.run(max_time=UNLIMITED_S, max_runs=RUNS_MAX, steps_per_run=known.steps - 1)
    assert not result.failures


def test_no_shorter_way_ends_with_the_same_call() -> None:
    names = [f"{verb}_{jug}" for verb in ("fill", "empty", "pour_into") for jug in ("small", "large")]
    shortest: dict[str, int] = {}
    states, ways = {(0, 0)}, [(0, 0, 0)]
    for steps, small, large in ways:
        for name in names:
            machine = DieHard()
            machine.small, machine.large = small, large
            getattr(machine, name)()
            after = machine.small, machine.large
            if machine.large == 4:
                shortest.setdefault(f"state.{name}()", steps + 1)
            elif after not in states:
                states.add(after)
                ways.append((steps + 1, *after))
    assert shortest == {program[-1]: len(program) for program in DIE_HARD.programs}


def first_failing_step(machine_class: type[RuleBasedStateMachine], program: tuple[str, ...]) -> int:
    """The number of the first step of ``program`` that fails, or after which an invariant does; 0 when none does."""
    machine = machine_class()
    faults = {fault.name: fault for fault in getattr(machine_class, "faults", [])}
    names: dict[str, Any] = {
        "state": machine,
        "activate": lambda name: faults[name].activate(),
        "deactivate": lambda name: faults[name].deactivate(),
    }
    try:
        for number, call in enumerate(program, 1):
            try:
                exec(call, names)
                trace.check_invariants(machine)
            except (AssertionError, ArithmeticError, ValueError):
                return number
    finally:
        machine.teardown()
    return 0
