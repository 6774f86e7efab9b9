"""Explores a program of the attack, in this process' own workers or by the command, and says what held."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from hypothesis.stateful import RuleBasedStateMachine
from tests.contract.hostile.runs import data_mib, marked, processes_left

from ordeal.explore import Explorer

ROOT = Path(__file__).parents[2]
RULE_TIMEOUT = 0.4
MAX_TIME = 3.0
MAX_SHRINK_TIME = 2.0
MAX_RUNS = 500
#: What a worker may take beyond what is there before.
MEMORY_MIB = 512
#: Nothing takes as long: a command that does is stuck.
STUCK_SECONDS = 600.0
#: What must be found beside each program.
ORDINARY = "ValueError"


@dataclass(frozen=True)
class Held:
    """What an exploration came to: the types of its failures, its notes, and in words what did not hold."""

    failures: list[str]
    notes: list[str]
    broken: list[str]
    seconds: float = 0.0


def explored(machine: type[RuleBasedStateMachine]) -> Held:
    """Explore ``machine`` with two workers, from Python."""
    with marked() as mark, tempfile.TemporaryDirectory() as folder:
        explorer = Explorer(
            machine,
            target_modules=[machine.__module__],
            workers=2,
            isolate=True,
            seed=1,
            rule_timeout=RULE_TIMEOUT,
            max_memory=MEMORY_MIB + data_mib(),
            corpus_dir=f"{folder}/seeds",
        )
        began = time.monotonic()
        result = explorer.run(
            max_runs=MAX_RUNS, max_time=MAX_TIME, max_shrink_time=MAX_SHRINK_TIME, save_state_to=f"{folder}/state"
        )
        seconds = time.monotonic() - began
        broken = [f"left: {process}" for process in processes_left(mark)]
        if not Path(folder, "state").is_file():
            broken.append("no state was saved")
    failures = [type(failure.error).__name__ for failure in result.failures]
    if ORDINARY not in failures:
        broken.append("the ordinary bug was not found")
    broken += [
        f"{ORDINARY} counts as flaky"
        for failure in result.failures
        if type(failure.error).__name__ == ORDINARY and failure.flaky
    ]
    return Held(failures, list(result.notes), broken, seconds)


SETTINGS = """
[explorer]
workers = 2
seed = 1
max_time = {max_time}
rule_timeout = {rule_timeout}
max_memory = 1024
target_modules = ["{module}"]

[[tests]]
class = "{module}:{name}"
"""


def commanded(machine: type[RuleBasedStateMachine]) -> Held:
    """Explore ``machine`` by the command with all that it can write, then replay its seeds in pytest."""
    with marked() as mark, tempfile.TemporaryDirectory() as outer:
        folder = Path(outer)
        settings = SETTINGS.format(
            max_time=MAX_TIME, rule_timeout=RULE_TIMEOUT, module=machine.__module__, name=machine.__name__
        )
        (folder / "ordeal.toml").write_text(settings)
        began = time.monotonic()
        code, said, data = _run(
            folder,
            *("ordeal", "explore", "--json", "--generate-tests", "tests/test_generated.py", "--save-state", "state"),
            *("--store", "dir://store", "--no-shrink"),
        )
        seconds = time.monotonic() - began
        broken = [f"left: {process}" for process in processes_left(mark)]
        failures, notes = _report(data, broken)
        if code != 1:
            broken.append(f"exit code {code}: {said[-300:]}")
        if "Traceback" in said:
            broken.append(f"a traceback reached the user: {said[-300:]}")
        broken += [f"no {name}" for name in ("state", "tests/test_generated.py") if not (folder / name).is_file()]
        if failures:
            code, said, _ = _run(folder, "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "--ignore=tests")
            if code != 1:
                broken.append(f"pytest ends with {code}: {said[-300:]}")
    return Held(failures, notes, broken, seconds)


def _run(folder: Path, module: str, *arguments: str) -> tuple[int, str, str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=STUCK_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -1, "it was stuck", ""
    return done.returncode, done.stderr if module == "ordeal" else done.stdout, done.stdout


def _report(data: str, broken: list[str]) -> tuple[list[str], list[str]]:
    try:
        (result,) = json.loads(data)["results"]
        failures = [failure["error_type"] for failure in result["failures"]]
    except (ValueError, KeyError, TypeError) as error:
        broken.append(f"no report was written: {type(error).__name__}: {error}")
        return [], []
    if ORDINARY not in failures:
        broken.append("the ordinary bug was not found")
    return failures, list(result["notes"])
