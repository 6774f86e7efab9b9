"""The programs and generated tests of failures, run in a fresh interpreter, fail the same way: type, message, place."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ordeal._base.formatting import program_lines
from ordeal.explore import Explorer
from ordeal.result.failure import failure_program
from ordeal.trace import generate_tests

from ...samples import written_values

#: Runs each program that it reads, and prints how it ended.
RUNNER = """
import json, sys
for name, program in json.load(sys.stdin).items():
    try:
        exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
        ended = None
    except BaseException as error:
        tb = error.__traceback__
        while tb.tb_next is not None:
            tb = tb.tb_next
        ended = [type(error).__name__, str(error), tb.tb_lineno]
    print(json.dumps([name, ended]))
"""


def failed(name: str, seed: int) -> tuple[dict[str, str], list[Any]]:
    """What is printed and written of a failure of a sample, with the type, message and line of the failure."""
    *outer, last = name.split(".")
    home: Any = written_values
    for part in outer:
        home = getattr(home, part)
    explorer = Explorer(getattr(home, last), seed=seed, workers=1)
    (failure, *_) = explorer.run(max_runs=60, shrink=False, max_time=20).failures
    error = failure.error
    tb = error.__traceback__
    assert tb is not None
    assert failure.trace is not None
    while tb.tb_next is not None:
        tb = tb.tb_next
    test = generate_tests([failure.trace])
    (function,) = re.findall(r"^def (test_\w+)", test, re.MULTILINE)
    programs = {
        f"program of {name}": "\n".join(program_lines(failure_program(failure))),
        f"test of {name}": f"{test}\n{function}()\n",
    }
    return programs, [type(error).__name__, str(error), tb.tb_lineno]


def differences(names: Iterable[str], seed: int = 1) -> list[str]:
    """What is wrong with the programs and tests of these samples."""
    wanted: dict[str, list[Any]] = {}
    programs: dict[str, str] = {}
    for name in names:
        written, end = failed(name, seed)
        programs |= written
        wanted |= dict.fromkeys(written, end)
    ended = run_apart(programs)
    return [
        f"{name}: {ended.get(name)}, not {wanted[name]}:\n{program}"
        for name, program in programs.items()
        if ended.get(name) != wanted[name] or written_values.FOLDER in program
    ]


def run_apart(programs: Mapping[str, str]) -> dict[str, Any]:
    """How each program ends in a fresh interpreter."""
    tests = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", RUNNER],
        input=json.dumps(programs),
        cwd=tests,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines())


def test_programs_fail_as_their_machines() -> None:
    assert differences(written_values.MACHINES) == []


def test_programs_have_the_values_that_failed() -> None:
    assert differences([f"Of_{name}" for name in list(written_values.STRATEGIES)[::5]]) == []


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [2, 3])
def test_all_programs_fail_as_they_should(seed: int) -> None:
    assert len(written_values.STRATEGIES) >= 200
    assert differences([f"Of_{name}" for name in written_values.STRATEGIES], seed) == []
    assert differences(written_values.MACHINES, seed) == []
