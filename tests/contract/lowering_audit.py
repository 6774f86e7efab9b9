"""Sees whether Hypothesis' own loop runs what the Explorer ran: the same rules, arguments and outcome."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.control import BuildContext
from hypothesis.errors import StopTest
from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.internal.entropy import deterministic_PRNG
from hypothesis.stateful import get_state_machine_test

from ordeal.errors import TraceError
from ordeal.explore import Explorer
from ordeal.trace import Trace, lower, replay

from . import landmarks
from .drawn.machines import AUDIT_ERRORS, random_machine
from .machines import LoggedMachine

# Above what any run has, so that the stop at the end of a run is a choice of its own and not forced by the limit.
STEP_LIMIT = 10_000
#: Why the Explorer refuses to lower a run that Hypothesis never makes: no mismatch.
REFUSALS = ("the run makes more choices than Hypothesis takes", "the run has no step")


@dataclass(frozen=True)
class Replayed:
    """What Hypothesis made of a choice sequence; ``is_exact`` when it asked for these choices and no others."""

    error: BaseException | None
    is_exact: bool


def replay_in_hypothesis(machine: type[LoggedMachine], choices: tuple[Any, ...]) -> Replayed:
    """Run Hypothesis' own loop on one choice sequence."""
    limits = settings(
        stateful_step_count=STEP_LIMIT, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    test: Any = get_state_machine_test(machine, settings=limits)
    inner = test.hypothesis.inner_test
    data = ConjectureData.for_choices(choices)
    error: BaseException | None = None
    with deterministic_PRNG(), BuildContext(data, is_final=False, wrapped_test=inner):
        try:
            inner(data=data.draw(st.data()))
        except StopTest:
            return Replayed(None, is_exact=False)  # it asked for more choices
        except AUDIT_ERRORS as failure:
            error = failure
    return Replayed(error, data.misaligned_at is None and data.index == len(choices))


@dataclass
class Audit:
    """What was looked at. A mismatch says how to see it again."""

    machines: int = 0
    runs: int = 0
    failures: int = 0
    steps: int = 0
    refused: int = 0
    mismatches: list[str] = field(default_factory=list)

    def add(self, seed: int) -> None:
        """Explore the machine of ``seed`` a little, and replay what was recorded."""
        self.machines += 1
        machine = random_machine(seed)
        for number, trace in enumerate(explored(machine, seed)):
            original = set(machine.histories)
            self.runs += 1
            self.steps += len(trace.steps)
            self.failures += trace.failure is not None
            try:
                problem = compare(machine, trace, original)
            except TraceError as error:
                problem = error.message
                if problem.startswith(REFUSALS):
                    self.refused += 1
                    continue
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a mismatch
                problem = f"{type(error).__name__}: {error}"
            if problem:
                self.mismatches.append(f"machine {seed}, run {number}: {problem}")


def explored(machine: type[LoggedMachine], seed: int, steps: int = 10) -> Iterator[Trace]:
    """The traces of the runs that reached something new or failed, some of them from a checkpoint."""
    explorer = Explorer(machine, target_modules=[landmarks.__name__], checkpoint_prob=0.5, seed=seed, workers=1)
    result = explorer.run(max_runs=8, steps_per_run=steps, shrink=False, record_traces=True)
    yield from result.traces
    yield from (failure.trace for failure in result.failures if failure.trace is not None)


def compare(machine: type[LoggedMachine], trace: Trace, original: set[str]) -> str:
    """What differs between the run of the Explorer, its replay and Hypothesis; empty when nothing does."""
    native = replay(trace, machine)
    history = machine.histories[-1]
    if history not in original:
        return f"the replay has a history of its own: {history}"
    choices = lower(trace, machine)
    if machine.histories[-1] != history:
        return f"lowering ran {machine.histories[-1]}, not {history}"
    replayed = replay_in_hypothesis(machine, choices)
    if machine.histories[-1] != history:
        return f"Hypothesis ran {machine.histories[-1]}, not {history}"
    if not replayed.is_exact:
        return f"Hypothesis asked for other choices than {choices} after {history}"
    if type(replayed.error) is not type(native):
        return f"Hypothesis ended with {replayed.error!r}, the Explorer with {native!r}"
    return ""
