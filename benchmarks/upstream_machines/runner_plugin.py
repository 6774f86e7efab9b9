"""A pytest plugin that runs each machine of a test suite by ordeal and by Hypothesis, where Hypothesis would.

What a test hands over to ``run_state_machine_as_test``, itself or as the ``TestCase`` of a machine, is explored, and
then run by Hypothesis. Each machine becomes a line of JSON in the file that the environment names, one for each round.
"""

import functools
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any, Self

import hypothesis.stateful
import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import settings as Settings  # noqa: N812 - a class, whatever its name

from ordeal import Explorer

Make = Callable[[], Any]

_OUTPUT = Path(os.environ["MACHINES_OUTPUT"])
_SECONDS = float(os.environ["MACHINES_SECONDS"])
_MACHINES_MAX = int(os.environ["MACHINES_MAX"])
_ROUNDS = int(os.environ.get("MACHINES_ROUNDS", "1"))
#: What is traced, if anything.
_TARGETS = os.environ.get("MACHINES_TARGETS", "").split()
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
    made = factory if isinstance(factory, type) else type(factory())
    rules = _Rules(made)
    # Strategies and tables of characters that are made once and kept are no engine's own time.
    _explore(factory, 0, rules, warm_up=True)
    for number in range(_ROUNDS):
        # Before Hypothesis, in whose runs a failing test may leave something behind.
        with _Lines() as of_ordeal:
            explored = _explore(factory, number + 1, rules)
        explored["calls"] = rules.calls
        # What ordeal found is looked for longer, so that a false failure shows.
        rules.begin()
        with _Lines() as of_hypothesis:
            found = _run(factory, _SECONDS * (_LONGER if explored["failed"] else 1))
        found["calls"] = rules.calls
        explored["lines"], found["lines"] = len(of_ordeal.seen), len(of_hypothesis.seen)
        line = {"machine": made.__name__, "test": test, "round": number, "ordeal": explored, "Hypothesis": found}
        with _OUTPUT.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


vars(hypothesis.stateful)["run_state_machine_as_test"] = run_state_machine_as_test


class _Rules:
    """The rules of a machine under watch.

    ``longest`` is the longest time between two of them: what an engine takes, without the program's own. ``calls`` are
    the number of calls of each rule, and the CPU seconds that they took; those of all invariants are one.
    """

    def __init__(self, machine: type) -> None:
        self.longest = 0.0
        self.calls: dict[str, list[float]] = {}
        self._ended = 0.0
        for rule in (*machine.setup_state().rules, *machine.setup_state().initializers):  # type: ignore[attr-defined]
            if not getattr(rule.function, "ordeal_timed", False):
                object.__setattr__(rule, "function", self._watched(rule.function))
        for invariant in machine.setup_state().invariants:  # type: ignore[attr-defined]
            object.__setattr__(invariant, "function", self._checked(invariant.function))

    def begin(self) -> None:
        """Start from nothing."""
        self.longest, self._ended = 0.0, time.thread_time()
        self.calls = defaultdict(lambda: [0, 0.0])

    def _watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            self.longest = max(self.longest, time.thread_time() - self._ended)
            began = time.process_time()  # a program may work in another thread
            try:
                return function(*arguments, **keywords)
            finally:
                self._count(function.__name__, began)
                self._ended = time.thread_time()

        return call

    def _checked(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def check(*arguments: Any, **keywords: Any) -> Any:
            began = time.process_time()
            try:
                return function(*arguments, **keywords)
            finally:
                self._count("(invariants)", began)

        return check

    def _count(self, name: str, began: float) -> None:
        tally = self.calls[name]
        tally[0] += 1
        tally[1] += time.process_time() - began


class _Lines:
    """The lines of the targets that run meanwhile, whichever engine has them run."""

    #: Neither that of a coverage tool nor one that an engine takes.
    _TOOL = 5

    def __init__(self) -> None:
        self.seen: set[tuple[str, int]] = set()
        self._folders = tuple(f"{os.sep}{target.replace('.', os.sep)}{os.sep}" for target in _TARGETS)

    def __enter__(self) -> Self:
        if self._folders:
            monitoring = sys.monitoring
            monitoring.use_tool_id(self._TOOL, "lines")
            monitoring.register_callback(self._TOOL, monitoring.events.LINE, self._line)
            monitoring.set_events(self._TOOL, monitoring.events.LINE)
            monitoring.restart_events()
        return self

    def __exit__(self, *_: object) -> None:
        if self._folders:
            sys.monitoring.set_events(self._TOOL, 0)
            sys.monitoring.free_tool_id(self._TOOL)

    def _line(self, code: CodeType, line: int) -> object:
        if any(folder in code.co_filename for folder in self._folders):
            self.seen.add((code.co_filename, line))
        return sys.monitoring.DISABLE


def _explore(factory: Make, seed: int, rules: _Rules, *, warm_up: bool = False) -> dict[str, Any]:
    start = searched = time.process_time()
    stall = 0.0

    def told(_progress: object) -> None:
        nonlocal searched, stall
        searched, stall = time.process_time(), rules.longest

    try:
        explorer = Explorer(factory, workers=1, seed=seed, target_modules=_TARGETS or None)
        rules.begin()
        start = searched = time.process_time()
        # In this process, as the fixtures of the test are, and Hypothesis is.
        result = explorer.run(max_runs=1 if warm_up else None, max_time=_SECONDS, shrink=False, progress=told)
    except Exception as error:  # noqa: BLE001 - a refusal of any kind is what is looked for
        return {"refused": f"{type(error).__name__}: {error}", "steps": 0, "seconds": 0.0, "failed": [], "stall": 0.0}
    return {
        "refused": str(result.inconclusive or ""),
        "steps": result.total_steps,
        "seconds": searched - start,
        "report_seconds": time.process_time() - searched,
        "stall": stall,
        "kind": result.snapshot_kind,
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
