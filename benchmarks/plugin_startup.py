"""What the pytest plugin costs a project that has no saved seeds: whole runs with and without it, and its own calls.

usage: python benchmarks/plugin_startup.py [--rounds N]
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.report import command, host, spread, table

import _ordeal_pytest

GOAL_MS = 10.0
TESTS = 200
TRIVIAL = f"""
import pytest

@pytest.mark.parametrize("number", range({TESTS}))
def test_nothing(number):
    pass
"""

# Runs pytest with a stopwatch around the import of the plugin and around each of its hooks.
STOPWATCH = """
import json, sys, time, functools
import pytest

spent_s = 0.0
started = time.process_time()
import _ordeal_pytest as plugin
import_s = time.process_time() - started

def timed(hook):
    @functools.wraps(hook)
    def call(*args, **kwargs):
        global spent_s
        started = time.process_time()
        try:
            return hook(*args, **kwargs)
        finally:
            spent_s += time.process_time() - started
    return call

for name in [name for name in vars(plugin) if name.startswith("pytest_")]:
    setattr(plugin, name, timed(getattr(plugin, name)))
code = pytest.main(["-q"], plugins=[plugin])
print(json.dumps({"code": int(code), "import_s": import_s, "hooks_s": spent_s}))
"""


def environment() -> dict[str, str]:
    """The plugin's folder on the import path, and no plugin that was not asked for."""
    return {
        **os.environ,
        "PYTHONPATH": str(Path(_ordeal_pytest.__file__).parent),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def run(project: Path, *arguments: str) -> tuple[float, float, str]:
    """Wall and CPU milliseconds of a Python process in the project, and what it printed."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=project, env=environment(), capture_output=True, text=True, check=False
    )
    wall_s = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"error: pytest failed\n{done.stdout}{done.stderr}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall_s * 1000, cpu_s * 1000, done.stdout


def measure(project: Path, rounds: int) -> dict[str, list[float]]:
    """Milliseconds by what was measured, with runs of both kinds in turn."""
    kinds = {"without": (), "with": ("-p", "_ordeal_pytest")}
    found: dict[str, list[float]] = {
        name: []
        for name in ("without: CPU", "with: CPU", "with - without: wall", "with - without: CPU", "own calls: CPU")
    }
    for number in range(rounds + 1):
        cost = {
            kind: run(project, "-m", "pytest", "-q", *kinds[kind]) for kind in sorted(kinds, reverse=number % 2 == 0)
        }
        own = json.loads(run(project, "-c", STOPWATCH)[2].splitlines()[-1])
        if number == 0:
            continue  # It filled the caches of compiled modules.
        found["without: CPU"].append(cost["without"][1])
        found["with: CPU"].append(cost["with"][1])
        found["with - without: wall"].append(cost["with"][0] - cost["without"][0])
        found["with - without: CPU"].append(cost["with"][1] - cost["without"][1])
        found["own calls: CPU"].append((own["import_s"] + own["hooks_s"]) * 1000)
    return found


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15, help="15")
    options = parser.parse_args()
    print(f"{host()}\n`{command()}`\n")
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        (project / "pytest.ini").write_text("[pytest]\n")
        (project / "test_nothing.py").write_text(TRIVIAL)
        found = measure(project, options.rounds)
    print(
        table([f"pytest of {TESTS} tests", "ms, min / median / max"], ([k, spread(v, ".1f")] for k, v in found.items()))
    )
    print(f"\nThe goal is less than {GOAL_MS:g} ms.")


if __name__ == "__main__":
    main()
