"""How many searches of ten seconds report all bugs of a library that has several.

usage: python benchmarks/several_bugs.py [--seeds N ...] [--seconds S] [--libraries FOLDER]

The libraries are not the project's. Install them first, into a folder of their own:
pip install --target FOLDER pyrsistent==0.20.0 tomlkit==0.15.2 ruamel.yaml==0.19.1
"""

import argparse
import sys
from typing import TYPE_CHECKING

from harness.report import command, host, table

from ordeal.explore import Explorer

if TYPE_CHECKING:
    from behind.libraries import Several

SEEDS = range(1, 11)
SECONDS = 10.0
SHRINK_S = 3.0


def reported(machine: type["Several"], rng_seed: int, seconds: float) -> tuple[set[str], int]:
    """The bugs that a search reports, and how many failures it reports them by."""
    explorer = Explorer(machine, target_modules=machine.modules, seed=rng_seed, workers=1)
    failures = explorer.run(max_time=seconds, max_shrink_time=SHRINK_S).failures
    return {machine.bug(failure) for failure in failures}, len(failures)


def main() -> None:
    """Search, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), help="1 to 10")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="10")
    parser.add_argument("--libraries", default="build/libraries", help="where they are installed")
    asked = parser.parse_args()
    sys.path.insert(0, asked.libraries)
    from behind.libraries import MACHINES  # noqa: PLC0415 - it needs the libraries

    print(f"{host()}\n`{command()}`\n")
    rows = []
    for machine in MACHINES:
        searches = [reported(machine, rng_seed, asked.seconds) for rng_seed in asked.seeds]
        whole = sum(found >= machine.bugs for found, _ in searches)
        counts = [count for _, count in searches]
        library = machine.modules[0].partition("._" if "._" in machine.modules[0] else ".")[0]
        rows.append(
            [library, ", ".join(sorted(machine.bugs)), f"{whole} of {len(searches)}", f"{min(counts)} to {max(counts)}"]
        )
    print(table(["library", "bugs", "all of them reported", "failures reported"], rows))


if __name__ == "__main__":
    main()
