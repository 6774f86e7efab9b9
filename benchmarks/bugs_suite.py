"""Bugs that real libraries once had, and planted ones: how often and how soon each engine finds them.

usage: python benchmarks/bugs_suite.py [--seeds N] [--seconds S] [--targets NAME ...] [--engines NAME ...]
                                       [--repaired] [--check] [--results FILE]

Each cell is one engine on one target with one seed, in a process of its own; engines take turns on each seed. A search
ends at its first finding, which must happen again on a fresh machine without the engine, or after S seconds of
processor time. With --repaired the libraries are those without the bug, and nothing may be found. With --check no
engine runs: each target must fail against its one release and pass against the other. Cells in FILE are not run again.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bugs.catalog import TARGETS, Target, target_named
from bugs.check import reproduced
from bugs.environments import Engine, engine_named
from bugs.libraries import folder_of
from bugs.results import OWN, RIVALS, Result, append, found_table, read, summary
from harness.cells import said_by
from harness.peers import PeerError
from harness.report import command, host, table

SEEDS = 3
SECONDS = 10.0
ENGINES = (OWN, *RIVALS, "HypoFuzz", "Atheris")


def run_cell(engine: Engine, target: Target, rng_seed: int, limit_s: float, *, repaired: bool) -> Result:
    """Search in a process of its own."""
    arguments = ["--engine", engine.module, "--target", target.name, "--seconds", str(limit_s), "--seed", str(rng_seed)]
    said = said_by(engine.python, "bugs.cell", *arguments, *(["--repaired"] if repaired else []), limit_s=limit_s)
    known: dict[str, Any] = {"found": False, "cpu_s": limit_s}
    return Result(engine.name, target.name, rng_seed, limit_s, repaired, **(known | said))


def cells(engines: list[Engine], targets: list[Target], seeds: int) -> Iterator[tuple[Engine, Target, int]]:
    """Every cell; engines in the reverse order every second seed, so that a slow minute hits them alike."""
    for rng_seed in range(1, seeds + 1):
        for target in targets:
            yield from ((engine, target, rng_seed) for engine in (engines if rng_seed % 2 else reversed(engines)))


def search(engines: list[Engine], targets: list[Target], options: argparse.Namespace, path: Path) -> list[Result]:
    """Run every cell that is not in the file yet, and return the results of all."""
    known = {result.key: result for result in read(path)}
    results = []
    for engine, target, rng_seed in cells(engines, targets, options.seeds):
        key = (engine.name, target.name, rng_seed, options.seconds, options.repaired)
        if key not in known:
            known[key] = run_cell(engine, target, rng_seed, options.seconds, repaired=options.repaired)
            append(path, known[key])
        results.append(known[key])
        if sys.stderr.isatty():
            print(f"{target.name} {engine.name} {rng_seed}: {known[key].note or '-'}", file=sys.stderr)
    return results


def check(targets: list[Target]) -> int:
    """Print what ``reproduce()`` says against both releases; the number of targets that prove nothing."""
    rows, bad = [], 0
    for target in targets:
        fails, passes = reproduced(target, repaired=False), not reproduced(target, repaired=True)
        bad += not (fails and passes)
        releases = f"{target.package} {target.buggy}, {target.repaired}" if target.is_real else "planted"
        rows.append([target.name, releases, fails or "passes", "passes" if passes else "FAILS"])
    print(table(["target", "releases", "with the bug", "repaired"], rows))
    return bad


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"seeds 1 to N ({SEEDS})")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"processor time of a cell ({SECONDS:g})")
    parser.add_argument("--targets", nargs="+", default=[each.name for each in TARGETS], help="all")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES, help="all")
    parser.add_argument("--repaired", action="store_true", help="search the repaired libraries")
    parser.add_argument("--check", action="store_true", help="prove the targets, and search nothing")
    parser.add_argument("--results", type=Path, help="file of results to begin with and to add to")
    return parser.parse_args()


def main() -> None:
    """Search, and print the tables."""
    options = parsed()
    where = host()
    targets = [target_named(name) for name in options.targets]
    for target in targets:
        if target.is_real:
            for repaired in {options.repaired, options.repaired or options.check}:
                folder_of(target, repaired=repaired)
    if options.check:
        sys.exit(1 if check(targets) else 0)
    engines, missing = [], []
    for name in options.engines:
        try:
            engines.append(engine_named(name))
        except PeerError as error:
            missing.append(f"Not measured: {name} could not be installed ({error}).\n")
    with tempfile.TemporaryDirectory() as folder:
        results = search(engines, targets, options, options.results or Path(folder) / "results.jsonl")
    names = [engine.name for engine in engines]
    print(f"{where}\n`{command()}`: {'; '.join(engine.version() for engine in engines)}\n")
    print("".join(missing), end="")
    print("Found in n of m seeds · median CPU seconds to the finding (slowest one that was found)\n")
    print(found_table(results, names))
    print(f"\n{summary(results, names)}")
    if options.repaired and any(result.found for result in results):
        sys.exit(1)


if __name__ == "__main__":
    main()
