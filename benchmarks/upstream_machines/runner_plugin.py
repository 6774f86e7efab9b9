"""A pytest plugin that runs each machine of a test suite by ordeal and by Hypothesis, where Hypothesis would.

What a test hands over to ``run_state_machine_as_test``, itself or as the ``TestCase`` of a machine, is explored, and
then run by Hypothesis. Each machine becomes a line of JSON in the file that the environment names.
"""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.stateful
import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import settings as Settings  # noqa: N812 - a class, whatever its name

from ordeal import Explorer

Make = Callable[[], Any]

_OUTPUT = Path(os.environ["MACHINES_OUTPUT"])
_SECONDS = float(os.environ["MACHINES_SECONDS"])
_MACHINES_MAX = int(os.environ["MACHINES_MAX"])
_LONGER = 5

_by_hypothesis: Callable[..., None] = hypothesis.stateful.run_state_machine_as_test
_seen: set[str] = set()


class Enough(BaseException):
    """The time is up."""


def run_state_machine_as_test(factory: Make, **_options: Any) -> None:
    """Run what ``factory`` makes by both engines."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").removesuffix(" (call)")
    if test in _seen or len(_seen) >= _MACHINES_MAX:
        pytest.skip("enough machines")
    _seen.add(test)
    # Before Hypothesis, in whose runs a failing test may leave something behind.
    explored = _explore(factory)
    # What ordeal found is looked for longer, so that a false failure shows.
    found = _run(factory, _SECONDS * (_LONGER if explored["failed"] else 1))
    line = {"machine": _name_of(factory), "test": test, "ordeal": explored, "Hypothesis": found}
    with _OUTPUT.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


vars(hypothesis.stateful)["run_state_machine_as_test"] = run_state_machine_as_test


def _name_of(factory: Make) -> str:
    made = factory if isinstance(factory, type) else type(factory())
    return made.__name__


def _explore(factory: Make) -> dict[str, Any]:
    try:
        # Strategies and tables of characters that are made once and kept are no engine's own time.
        Explorer(factory, workers=1, seed=2).run(max_runs=1, max_time=_SECONDS, shrink=False)
        start = time.process_time()
        # In this process, as the fixtures of the test are, and Hypothesis is.
        result = Explorer(factory, workers=1, seed=1).run(max_time=_SECONDS, shrink=False)
    except Exception as error:  # noqa: BLE001 - a refusal of any kind is what is looked for
        return {"refused": f"{type(error).__name__}: {error}", "steps": 0, "seconds": 0.0, "failed": []}
    return {
        "refused": str(result.inconclusive or ""),
        "steps": result.total_steps,
        "seconds": time.process_time() - start,
        "failed": [failure.bucket for failure in result.failures if not failure.flaky],
        "errors": [type(failure.error).__name__ for failure in result.failures if not failure.flaky],
    }


def _run(factory: Make, seconds_max: float) -> dict[str, Any]:
    counts = {"checks": 0, "runs": 0}
    over = False
    start, begun = time.process_time(), time.monotonic()
    machine: Any = hypothesis.stateful.RuleBasedStateMachine
    check = machine.check_invariants

    def counted(self: Any, *arguments: Any, **options: Any) -> Any:
        counts["checks"] += 1
        return check(self, *arguments, **options)

    def make() -> Any:
        nonlocal over
        if time.monotonic() - begun > seconds_max:
            over = True
            raise Enough
        counts["runs"] += 1
        return factory()

    failed = ""
    # A check after each step, and one after the machine was made.
    machine.check_invariants = counted
    try:
        limits = Settings(
            max_examples=1_000_000,
            database=None,
            deadline=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        _by_hypothesis(make, settings=limits)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        failed = "" if over else type(error).__name__
    finally:
        machine.check_invariants = check
    seconds = time.process_time() - start
    steps = max(counts["checks"] - counts["runs"], 0)
    return {"steps": steps, "seconds": seconds, "failed": [failed] if failed else []}
