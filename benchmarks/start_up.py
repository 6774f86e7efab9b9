"""What ordeal costs before, between and after the runs of a search: imports, and whole processes that find a toy bug.

usage: python benchmarks/start_up.py [--rounds N] [--against PYTHON]

Hypothesis is there to compare with: a machine imports it in any case. PYTHON is an interpreter with the ordeal of
another commit, whose processes run in turn with these.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.report import command, host, spread, table

TOY = """
from hypothesis import strategies as st
from ordeal import ChaosTest, rule

class Counter(ChaosTest):
    faults = []
    total = 0

    @rule(amount=st.integers(0, 100))
    def add(self, amount):
        self.total += amount
        assert self.total < 150

    @rule()
    def reset(self):
        self.total = 0
"""
SEARCH = """
from ordeal.explore import Explorer
from toy import Counter
result = Explorer(Counter, target_modules=["toy"], seed=1, workers=1).run(max_runs=50)
assert len(result.failures[0].trace.steps) == 2
"""
WHAT: dict[str, tuple[str, ...]] = {
    "an empty process": ("-c", "pass"),
    "import hypothesis.stateful": ("-c", "import hypothesis.stateful"),
    "import ordeal": ("-c", "import ordeal"),
    "import ordeal.explore": ("-c", "import ordeal.explore"),
    "Explorer: found, shrunk, returned": ("-c", SEARCH),
    "ordeal --help": ("-m", "ordeal", "--help"),
    "ordeal explore: found, shrunk, reported": (
        *("-m", "ordeal", "explore", "toy:Counter", "-t", "toy"),
        *("--seed", "1", "--max-runs", "50", "-w", "1", "--no-seeds"),
    ),
}


def run(python: str, project: Path, arguments: tuple[str, ...]) -> tuple[float, float]:
    """Wall and CPU milliseconds of a process in the project."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": ""}
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([python, *arguments], cwd=project, env=environment, capture_output=True, check=False)
    wall_s = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode > 1 or (b"Traceback" in done.stderr):
        sys.exit(f"error: {arguments} failed\n{done.stderr.decode()}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall_s * 1000, cpu_s * 1000


def main() -> None:
    """Measure all in turn, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="15")
    parser.add_argument("--against", metavar="PYTHON")
    options = parser.parse_args()
    print(f"{host()}\n`{command()}`\n")
    pythons = {"": sys.executable} | ({"other: ": options.against} if options.against else {})
    found: dict[str, list[tuple[float, float]]] = {f"{who}{what}": [] for what in WHAT for who in pythons}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "toy.py").write_text(TOY)
        for number in range(options.rounds + 1):
            for what, arguments in WHAT.items():
                for who, python in pythons.items():
                    cost = run(python, Path(folder), arguments)
                    if number:  # the first round filled the caches of compiled modules
                        found[f"{who}{what}"].append(cost)
    rows = ([what, *(spread(values, ".0f") for values in zip(*costs, strict=True))] for what, costs in found.items())
    print(table(["process", "wall, ms: min / median / max", "CPU, ms"], rows))


if __name__ == "__main__":
    main()
