"""How often the tests that `ordeal mutate kill` writes for survivors fail on the mutant and pass on the original.

usage: python benchmarks/written_tests.py [--survivors N] [--times N] [--seed N]

Survivors of copies of four examples, N of each, are closed by a search of five seconds. The tests are run
by plain pytest in new processes: each on its mutant, written to the file, and all of a program together on the
original, in another order each time. Printed is how many of each were right every time.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.report import command, host, table

from ordeal._tools.mutation.mutants import Mutant, mutants_of
from ordeal._tools.mutation.operators import PRESETS
from ordeal._tools.mutation.source import Source

ROOT = Path(__file__).parents[1]
PROGRAMS = {
    "shop": "shop",
    "mail_queue": "mail_queue.py",
    "bounded_queue": "work_queue.py",
    "drop_four": "drop_four.py",
}


@dataclass(frozen=True)
class Written:
    """A test that notices a survivor."""

    path: Path
    source: Source
    mutant: Mutant


def ordeal(folder: Path, *words: str) -> dict[str, Any]:
    """Return what `ordeal mutate` prints as JSON."""
    line = [sys.executable, "-m", "ordeal", "mutate", *words, "--json", "--runs", "300", "--workers", "1"]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def written(folder: Path, target: str, count: int, seed: int) -> list[Written]:
    """Close survivors whose state differs, and return the tests."""
    report = ordeal(folder, target, "--with", "machines")
    ids = [each["id"] for each in report["mutants"] if each["difference"]]
    files = sorted((folder / target).glob("*.py")) if (folder / target).is_dir() else [folder / target]
    sources = [Source.of(each, each.relative_to(folder).as_posix()) for each in files]
    mutants = {each.id: (source, each) for source in sources for each in mutants_of(source, PRESETS["standard"])}
    found = []
    for name in random.Random(seed).sample(ids, min(count, len(ids))):
        path = folder / f"test_written_{name}.py"
        closed = ordeal(folder, "kill", name, target, "--kill-budget", "5", "-o", path.name)
        if closed["test"]:
            found.append(Written(path, *mutants[name]))
        else:
            print(f"- {target} {name}: {closed['why']}")
    return found


def passes(folder: Path, tests: list[Path]) -> bool:
    """Return whether tests pass, in a new process and in this order."""
    line = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *(each.name for each in tests)]
    return subprocess.run(line, cwd=folder, capture_output=True, check=False).returncode == 0


def judged(folder: Path, tests: list[Written], times: int, seed: int) -> tuple[int, int]:
    """Return how many tests fail each time on their mutant, and in how many orders all pass on the original."""
    failing = 0
    for each in tests:
        each.source.path.write_bytes(each.mutant.applied(each.source.text))
        failing += not any(passes(folder, [each.path]) for _ in range(times))
        each.source.path.write_bytes(each.source.text)
    order = [each.path for each in tests]
    chance = random.Random(seed)
    passing = 0
    for _ in range(times if tests else 0):
        chance.shuffle(order)
        passing += passes(folder, order)
    return failing, passing


def main() -> None:
    """Print a row for each program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--survivors", type=int, default=4)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(f"{host()}\n\n`{command()}`\n")
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for name, target in PROGRAMS.items():
            folder = Path(place, name)
            shutil.copytree(ROOT / "examples" / name, folder, ignore=shutil.ignore_patterns("__pycache__", ".ordeal"))
            tests = written(folder, target, given.survivors, given.seed)
            failing, passing = judged(folder, tests, given.times, given.seed)
            rows.append([name, str(len(tests)), f"{failing} of {len(tests)}", f"{passing} of {given.times}"])
    head = ["program", "tests", f"fail {given.times} of {given.times} times on the mutant", "orders that pass"]
    print(table(head, rows))


if __name__ == "__main__":
    main()
