"""Shrinks a failing run with Hypothesis: one of the Explorer, or one that Hypothesis has found itself.

The run is put where Hypothesis keeps failures that it has seen but not shrunk, so that it replays and then shrinks it
with its own shrinker, as it does with one that is left from an interrupted session.
"""

import re
import time
from collections.abc import Iterable
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.database import ExampleDatabase, choices_to_bytes
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from ordeal import trace
from ordeal._engine.execution.machine import make_driver
from shrinking.shrunk import Shrunk, Tally, counted

EXAMPLES_MAX = 20_000
NOT_SHRUNK = b".secondary"
CALL = re.compile(r"(?:[\w, ()]+ = )*state\.(\w+)\(")
CONTINUED = re.compile(r"\n(?=[\s)\]])\s*")
SWITCH = re.compile(r"Draw \d+ \(switch fault\): '(.*)'")


class OneFailure(ExampleDatabase):
    """Holds one failure, not yet shrunk, whatever the test: the one that it was made with, or the first one saved."""

    def __init__(self, choices: bytes = b"") -> None:
        super().__init__()
        self.choices = choices

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """The failure."""
        return [self.choices] if self.choices and key.endswith(NOT_SHRUNK) else []

    def save(self, key: bytes, value: bytes) -> None:
        """Take the failure, unless there is one."""
        del key
        self.choices = self.choices or value

    def delete(self, key: bytes, value: bytes) -> None:
        """Keep it."""


def lowered(machine: type[RuleBasedStateMachine], failing: trace.Trace) -> bytes:
    """A failing run of the Explorer, as Hypothesis stores its own."""
    return choices_to_bytes(trace.lower(failing, machine))


def find(machine: type[RuleBasedStateMachine], rng_seed: int) -> bytes:
    """A failing run that Hypothesis finds, as it was found."""
    found = OneFailure()
    seeded = seed(rng_seed)(counted(machine, Tally()))
    if _error_of(seeded, found, max_examples=EXAMPLES_MAX, phases=[Phase.generate]) is None:
        raise AssertionError(f"Hypothesis finds no failing run of {machine.__name__}")
    return found.choices


def shrink(machine: type[RuleBasedStateMachine], choices: bytes, steps: int, rng_seed: int) -> Shrunk:
    """Shrink a failing run of so many steps; its first executions and the one that prints the program count."""
    tally = Tally()
    counting = seed(rng_seed)(counted(machine, tally))
    started = time.process_time()
    # A run that branched from a checkpoint may have more steps than Hypothesis takes by default.
    steps_max = max(steps, settings().stateful_step_count)
    options = {"phases": [Phase.reuse, Phase.shrink], "stateful_step_count": steps_max}
    error = _error_of(counting, OneFailure(choices), **options)
    cpu_s = time.process_time() - started
    if error is None:
        raise AssertionError(f"the run of {machine.__name__} does not fail under Hypothesis")
    return Shrunk(program_of(machine, error), tally.made, cpu_s)


def _error_of(machine: type[RuleBasedStateMachine], database: ExampleDatabase, **options: Any) -> Exception | None:
    """What the machine fails with."""
    chosen = settings(
        database=database,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        **options,
    )
    try:
        run_state_machine_as_test(machine, settings=chosen)
    except Exception as error:  # noqa: BLE001 - the failure, which may be any
        return error
    return None


def program_of(machine: type[RuleBasedStateMachine], error: BaseException) -> tuple[str, ...]:
    """The calls that Hypothesis printed, as ordeal prints them: no invariants, and faults by their names."""
    definition = make_driver(machine).definition
    rules = {rule.name for rule in (*definition.initializers, *definition.rules)}
    calls: list[str] = []
    on: set[str] = set()
    for line in CONTINUED.sub(" ", "\n".join(error.__notes__)).splitlines():
        if switch := SWITCH.match(line):
            on ^= {switch[1]}
            calls.append(f"state.fault({switch[1]!r}).{'activate' if switch[1] in on else 'deactivate'}()")
        elif (call := CALL.match(line)) and call[1] in rules:
            calls.append(line)
    return tuple(calls)
