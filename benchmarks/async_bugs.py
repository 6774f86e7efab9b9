"""Searches released asyncio libraries for known bugs of concurrency, and says how many schedules that takes.

usage: python benchmarks/async_bugs.py [--seeds N] [--clean-runs N] [--python312 PATH] [--pairs NAME]

Each library is installed as the release with the bug and as the one in which it is repaired, into folders of their own.
With each of ten seeds the search may take 2,000 schedules; a repaired release is searched with as many as are given.
`--python312` is a Python 3.12 that has ordeal: a bug of its own is searched there and in the Python that runs this.
`--pairs` runs one program with each one of its decisions and each two, whatever their values, and says how many fail.
"""

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.peers import folder_with
from harness.report import command, host, table

from ordeal import simulate
from ordeal.simulate.runtime.decisions import Decided
from ordeal.simulate.runtime.exploring import ScheduleSearch
from ordeal.simulate.runtime.loop import TIME_LIMIT_S
from ordeal.simulate.runtime.running import checked_main, run_settings

ROOT = Path(__file__).parents[1]
RUNS = 2_000
CLEAN_RUNS = 2_000


@dataclass(frozen=True)
class Bug:
    """A bug, and the releases with and without it, each with what it needs; no release is without some."""

    name: str
    buggy: tuple[str, ...]
    repaired: tuple[str, ...]


_TIMEOUT = "async-timeout==4.0.3"
_ANYIO_NEEDS = ("idna==3.11", "sniffio==1.3.1", "typing_extensions==4.15.0")
_HTTPCORE_NEEDS = ("h11==0.14.0", "certifi==2025.8.3", "anyio==4.13.0", *_ANYIO_NEEDS)
BUGS = (
    Bug("alru_clear", ("async-lru==2.0.3",), ("async-lru==2.0.4",)),
    Bug("aiojobs_limit", ("aiojobs==1.0.0", _TIMEOUT), ("aiojobs==1.1.0", _TIMEOUT)),
    Bug("anyio_condition", ("anyio==4.12.1", *_ANYIO_NEEDS), ("anyio==4.13.0", *_ANYIO_NEEDS)),
    Bug("httpcore_pool", ("httpcore==1.0.9", *_HTTPCORE_NEEDS), ()),
    Bug("aiomcache_replies", ("aiomcache==0.8.2",), ()),
    Bug("redis_cancel", ("redis==4.5.1", _TIMEOUT), ("redis==4.5.4", _TIMEOUT)),
    Bug("redis_pipeline", ("redis==4.5.1", _TIMEOUT), ("redis==4.5.5", _TIMEOUT)),
    Bug("redis_pool", ("redis==4.5.3", _TIMEOUT), ("redis==4.5.5", _TIMEOUT)),
    Bug("redis_waiters", ("redis==5.0.1", _TIMEOUT), ("redis==8.1.0",)),
)


#: A bug of Python's own.
OF_PYTHON = Bug("cpython_condition", (), ())


def search(name: str, seeds: int, runs: int) -> list[dict[str, Any]]:
    """Search with several seeds in this process."""
    program = importlib.import_module(f"concurrency.{name}")
    faults = getattr(program, "FAULTS", [simulate.cancel()])
    found = []
    for seed in range(seeds):
        began = time.process_time()
        report = simulate.explore(program.main, runs=runs, seed=1 + seed, faults=faults, check=False)
        failure = report.failure
        found.append(
            {
                "run": None if failure is None else failure.run,
                "seconds": time.process_time() - began,
                "decisions": None if failure is None else len(failure.decisions),
                "error": "" if failure is None else type(failure.error).__name__,
                "message": "" if failure is None else str(failure.error),
            }
        )
    return found


def pairs(name: str) -> list[dict[str, Any]]:
    """Run a program with each one and each two decisions that it can make, all others being 0."""
    program = importlib.import_module(f"concurrency.{name}")
    faults = getattr(program, "FAULTS", [simulate.cancel()])
    search = ScheduleSearch(checked_main(program.main), run_settings(faults, (), TIME_LIMIT_S))
    failed: list[list[str]] = []
    runs = 0

    def fails(*decided: Decided) -> bool:
        nonlocal runs
        runs += 1
        is_failure = search.replay(list(decided), 0).error is not None
        if is_failure:
            failed.append([each.label for each in decided])
        return is_failure

    def others(*decided: Decided) -> Iterator[Decided]:
        for each in search.undecided(0, *decided):
            yield from (replace(each, value=value) for value in range(1, each.bound))

    with search.entered():
        for first in others():
            if not fails(first):
                for second in others(first):
                    fails(first, second)
    return [{"runs": runs, "failed": failed}]


def asked(
    bug: Bug, requirements: tuple[str, ...], seeds: int, runs: int, python: str = sys.executable, way: str = "search"
) -> list[dict[str, Any]]:
    """Search in a process that has these releases."""
    folders = [folder_with(f"async/{requirements[0]}", *requirements)] if requirements else []
    path = os.pathsep.join(map(str, [*folders, ROOT / "benchmarks"]))
    done = subprocess.run(
        [python, __file__, f"--{way}", bug.name, "--seeds", str(seeds), "--clean-runs", str(runs)],
        env=os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def of_repaired(clean: dict[str, Any] | None, runs: int) -> str:
    """What the search of the repaired release came to."""
    if clean is None:
        return "there is none"
    return f"none in {runs:,} runs" if clean["run"] is None else f"{clean['error']}: {clean['message']:.60}"


def row(bug: Bug, seeds: int, clean_runs: int) -> tuple[str, ...]:
    """Search for one bug, and in the repaired release."""
    results = asked(bug, bug.buggy, seeds, RUNS)
    clean = asked(bug, bug.repaired, 1, clean_runs)[0] if bug.repaired else None
    repaired = f"repaired in {bug.repaired[0].partition('==')[2]}" if bug.repaired else "the newest"
    return told(bug, f"{bug.buggy[0]}, {repaired}", results, clean, clean_runs)


def row_of_python(python: str, seeds: int, clean_runs: int) -> tuple[str, ...]:
    """Search for the bug of Python 3.12 itself there and in the Python that runs this."""
    results = asked(OF_PYTHON, (), seeds, RUNS, python)
    clean = asked(OF_PYTHON, (), 1, clean_runs)[0]
    return told(OF_PYTHON, "Python 3.12.1, repaired in 3.13.0", results, clean, clean_runs)


def told(
    bug: Bug, release: str, results: list[dict[str, Any]], clean: dict[str, Any] | None, clean_runs: int
) -> tuple[str, ...]:
    """The row of a bug."""
    hits = [each for each in results if each["run"] is not None]
    if not hits:
        return bug.name, release, f"0 of {len(results)}", "", "", "", ""
    return (
        bug.name,
        release,
        f"{len(hits)} of {len(results)}",
        f"{statistics.median(each['run'] for each in hits):.0f}",
        f"{statistics.median(each['seconds'] for each in hits):.2f} s",
        ", ".join(sorted({f"{each['error']} ({each['decisions']})" for each in hits})),
        of_repaired(clean, clean_runs),
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--clean-runs", type=int, default=CLEAN_RUNS)
    parser.add_argument("--python312")
    parser.add_argument("--search", choices=[bug.name for bug in (*BUGS, OF_PYTHON)], help=argparse.SUPPRESS)
    parser.add_argument("--each-pair", choices=[bug.name for bug in BUGS], help=argparse.SUPPRESS)
    parser.add_argument("--pairs", choices=[bug.name for bug in BUGS])
    options = parser.parse_args()
    if options.each_pair:
        warnings.simplefilter("ignore")
        print(json.dumps(pairs(options.each_pair)))
        return
    if options.pairs:
        bug = next(bug for bug in BUGS if bug.name == options.pairs)
        found = asked(bug, bug.buggy, 1, 1, way="each-pair")[0]
        print(host(), command(), f"{len(found['failed'])} of {found['runs']:,} runs fail", sep="\n\n")
        return
    if options.search:
        warnings.simplefilter("ignore")
        print(json.dumps(search(options.search, options.seeds, options.clean_runs)))
        return
    header = ("bug", "release", "seeds", "median run", "processor time", "failure (decisions)", "repaired release")
    rows = [row(bug, options.seeds, options.clean_runs) for bug in BUGS]
    if options.python312:
        rows.append(row_of_python(options.python312, options.seeds, options.clean_runs))
    print(host(), command(), table(header, rows), sep="\n\n")


if __name__ == "__main__":
    main()
