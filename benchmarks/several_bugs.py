"""How many searches report all bugs of a program that has several, and one failure for a bug that shows on many paths.

usage: python benchmarks/several_bugs.py [--seeds N ...] [--seconds S] [--libraries FOLDER] [--one-place]

First small machines with two bugs that show in one place, and with one bug on many paths, in searches of some hundred
runs; with --one-place only these. Then released libraries, ten seconds each. These are not the project's. Install them
first, into a folder of their own:
pip install --target FOLDER pyrsistent==0.20.0 tomlkit==0.15.2 ruamel.yaml==0.19.1
"""

import argparse
import sys
from typing import TYPE_CHECKING

from behind import one_place_machines as machines
from harness.report import command, host, table

from ordeal.explore import Explorer

if TYPE_CHECKING:
    from behind.libraries import Several

SEEDS = range(1, 11)
RUNS = 300
SECONDS = 10.0
SHRINK_S = 3.0


def reported(machine: type["Several"], rng_seed: int, seconds: float) -> tuple[set[str], int]:
    """The bugs that a search reports, and how many failures it reports them by."""
    explorer = Explorer(machine, target_modules=machine.modules, seed=rng_seed, workers=1)
    failures = explorer.run(max_time=seconds, max_shrink_time=SHRINK_S).failures
    return {machine.bug(failure) for failure in failures}, len(failures)


def one_place(seeds: list[int]) -> str:
    """The table of the machines whose bugs show in one place."""
    two, one = machines.TWO | machines.SHARED_TWO, (*machines.ONE, *machines.SHARED_ONE)

    rows = []
    for machine in [*two, *one]:
        counts = []
        right = 0
        for rng_seed in seeds:
            explorer = Explorer(machine, target_modules=machines.MODULES, seed=rng_seed, workers=1)
            failures = explorer.run(max_runs=RUNS, max_shrink_time=SHRINK_S).failures
            bugs = {two[machine](failure) for failure in failures} if machine in two else {""}
            counts.append(len(failures))
            right += len(failures) == len(bugs) == (2 if machine in two else 1)
        what = (machine.__doc__ or "").rstrip(".").lower()
        share = f"{right} of {len(seeds)}"
        rows.append([machine.__name__, what, "2" if machine in two else "1", share, f"{min(counts)} to {max(counts)}"])
    return table(["machine", "what differs", "bugs", "each reported once", "failures reported"], rows)


def main() -> None:
    """Search, and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), help="1 to 10")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="10")
    parser.add_argument("--libraries", default="build/libraries", help="where they are installed")
    parser.add_argument("--one-place", action="store_true", help="no libraries")
    asked = parser.parse_args()
    print(f"{host()}\n`{command()}`\n")
    print(one_place(asked.seeds))
    if not asked.one_place:
        print(f"\n{libraries(asked.libraries, asked.seeds, asked.seconds)}")


def libraries(folder: str, seeds: list[int], seconds: float) -> str:
    """The table of the libraries in a folder."""
    sys.path.insert(0, folder)
    try:
        from behind.libraries import MACHINES  # noqa: PLC0415 - it needs the libraries
    except ModuleNotFoundError as error:
        return (
            f"Not measured: {error.name} is not in {folder}; the head of this script says how to install the libraries."
        )

    rows = []
    for machine in MACHINES:
        searches = [reported(machine, rng_seed, seconds) for rng_seed in seeds]
        whole = sum(found >= machine.bugs for found, _ in searches)
        counts = [count for _, count in searches]
        library = machine.modules[0].partition("._" if "._" in machine.modules[0] else ".")[0]
        rows.append(
            [library, ", ".join(sorted(machine.bugs)), f"{whole} of {len(searches)}", f"{min(counts)} to {max(counts)}"]
        )
    return table(["library", "bugs", "all of them reported", "failures reported"], rows)


if __name__ == "__main__":
    main()
