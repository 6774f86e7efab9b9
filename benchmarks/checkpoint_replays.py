"""Failures that were born from a checkpoint, each replayed from its file in a process of its own.

usage: python benchmarks/checkpoint_replays.py [--failures N]

No figure of speed: a failure that a checkpoint led to must fail from a fresh machine as well, anywhere. Failures are
saved as they were found, not shrunk, and each is another run. Ends with 1 when one does not come back.
"""

import argparse
import itertools
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from harness.report import command, host, table

from ordeal._engine.execution.class_path import load_class
from ordeal.explore import Explorer
from ordeal.trace import Trace

ROOT = Path(__file__).parents[1]
FOUND = 1
RUNS_EACH = 2_000
SECONDS_EACH = 20.0
PROCESSES = 2


@dataclass(frozen=True, slots=True)
class Source:
    """A machine to explore: its class path, the folder that it is imported from, and what is traced."""

    machine: str
    folder: Path
    targets: tuple[str, ...]


SOURCES = (
    Source("tests.test_shop_chaos:ShopChaos", ROOT / "examples" / "shop", ("shop",)),
    Source("tests.puzzles.deep_chain:DeepChain", ROOT, ("tests.puzzles.deep_chain",)),
    Source("tests.puzzles.handed_out:HandedOut", ROOT, ("tests.puzzles.handed_out",)),
    Source("tests.puzzles.two_faults:TwoFaults", ROOT, ("tests.puzzles.two_faults",)),
)


def branched_failures(source: Source) -> Iterator[Trace]:
    """Failing runs that branched from a checkpoint, each other than the ones before, from one seed after the other."""
    machine = load_class(source.machine)
    seen: set[str] = set()
    for rng_seed in itertools.count():
        explorer = Explorer(machine, target_modules=source.targets, seed=rng_seed, checkpoint_prob=0.8, workers=1)
        for failure in explorer.run(max_runs=RUNS_EACH, max_time=SECONDS_EACH, shrink=False).failures:
            trace = failure.trace
            if trace is None or trace.from_checkpoint is None or trace.content_hash() in seen:
                continue
            seen.add(trace.content_hash())
            yield trace


def collect(number: int, wanted: int, folder: Path) -> None:
    """In a process of its own: save ``wanted`` traces of one source in ``folder``."""
    source = SOURCES[number]
    sys.path.insert(0, str(source.folder))
    for count, trace in enumerate(itertools.islice(branched_failures(source), wanted)):
        trace.save(folder / f"{count}.json")


def comes_back(path: Path, source: Source) -> bool:
    """Whether ``ordeal replay`` sees the failure that the file holds."""
    done = subprocess.run(
        [sys.executable, "-m", "ordeal", "replay", str(path)],
        cwd=source.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode == FOUND and "Failure reproduced" in done.stderr


def measure(number: int, wanted: int, folder: Path) -> tuple[list[str], int]:
    """The table row of one source, and how many of its failures did not come back."""
    source = SOURCES[number]
    one = [sys.executable, __file__, "--collect", str(number), "--failures", str(wanted), "--into", str(folder)]
    subprocess.run(one, check=True)
    paths = sorted(folder.iterdir(), key=lambda path: int(path.stem))
    with ThreadPoolExecutor(PROCESSES) as threads:
        back = sum(threads.map(lambda path: comes_back(path, source), paths))
    steps = [len(Trace.load(path).steps) for path in paths]
    row = [source.machine.rpartition(":")[2], f"{min(steps)} to {max(steps)}", f"{back} of {len(paths)}"]
    return row, len(paths) - back


def main() -> int:
    """Collect, replay, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--failures", type=int, default=50, help="of each machine (default: 50)")
    parser.add_argument("--collect", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.collect is not None:
        collect(options.collect, options.failures, options.into)
        return 0
    print(f"{host()}\n`{command()}`: failures from checkpoints, each replayed in a fresh process\n")
    rows, lost = [], 0
    for number in range(len(SOURCES)):
        with tempfile.TemporaryDirectory() as folder:
            row, missing = measure(number, options.failures, Path(folder))
        rows.append(row)
        lost += missing
    print(table(["machine", "steps", "replayed"], rows))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
