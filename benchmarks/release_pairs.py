"""Releases of libraries whose changelogs name a change of behaviour: whether ``ordeal compare`` names it, too.

usage: python benchmarks/release_pairs.py [--seconds S] [--only NAME ...] [--same]

Each library has one machine in benchmarks/releases for all its pairs; it asserts nothing. The change counts as named
if a difference is found in one of the steps that the changelog speaks of. With --same, the newer release of each pair
is compared with itself, and nothing may differ.
"""

import argparse
import json
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.report import command, host, table

MACHINES = Path(__file__).parent / "releases"
SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Pair:
    """Two releases, the words of the changelog of the newer one, and the steps that show the change."""

    package: str
    old: str
    new: str
    change: str
    steps: tuple[str, ...]


PAIRS = (
    Pair("cachetools", "4.2.4", "5.0.0", "items expire at their time, not after it", ("read", "list_keys", "write")),
    Pair("cachetools", "5.4.0", "5.5.0", "`expire()` returns what has expired", ("expire",)),
    Pair("boltons", "23.0.0", "23.1.0", "fix cache eviction for `LRU`", ("write", "read", "list_items")),
    Pair("boltons", "25.0.0", "26.0.0", "`split` with `maxsplit=0` wrapped the source object", ("split",)),
    Pair("boltons", "26.0.0", "26.1.0", "fix `IndexedSet` slicing after removals", ("cut",)),
    Pair("cacheout", "0.16.0", "0.17.0", "respect a zero timestamp in `expired()`", ("is_expired",)),
    Pair("portion", "2.2.0", "2.3.0", "the empty interval has no parts", ("parts",)),
    Pair("portion", "2.6.2", "2.6.3", "of overlapping intervals, the last one wins", ("store",)),
    Pair(
        "tomlkit",
        "0.13.2",
        "0.13.3",
        "whitespace after the removal of an item of an array",
        ("delete_in_array", "write"),
    ),
    Pair("tomlkit", "0.15.0", "0.15.1", "a key removed from an inline table", ("delete_in_line", "write")),
    Pair("more-itertools", "9.1.0", "10.0.0", "`batched` and `matmul` yield tuples", ("batch", "multiply")),
    Pair("more-itertools", "10.8.0", "11.0.0", "`windowed` refuses 0, `unique_everseen` lists", ("window", "unique")),
    Pair("packaging", "21.3", "22.0", "remove `LegacyVersion`", ("read", "order", "is_allowed", "choose")),
    Pair("packaging", "25.0", "26.0", "pre-releases in `contains`", ("is_allowed",)),
    Pair("transitions", "0.8.1", "0.8.2", "child states are exited by a move of the parent", ("send",)),
    Pair("transitions", "0.9.2", "0.9.3", "`dispatch` goes on after a model returns False", ("dispatch",)),
    Pair("croniter", "1.0.15", "1.1.0", "refuse month 0", ("choose",)),
    Pair("croniter", "6.2.0", "6.2.1", "`get_prev` skipped the 29th of February", ("go_back",)),
    Pair("tinydb", "3.1.0", "3.1.1", "the query cache was invalid", ("search",)),
    Pair("tinydb", "3.2.2", "3.2.3", "editing the result of a search edited the cache", ("search", "edit")),
)


def compared(pair: Pair, old: str, seconds: float) -> tuple[dict[str, Any] | str, float]:
    """Return the answer of the command, or why there is none, and the processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    name = f"on_{pair.package.replace('-', '_')}:Machine"
    words = ["compare", f"{pair.package}=={old}", f"{pair.package}=={pair.new}", name, "--max-time", str(seconds)]
    done = subprocess.run(
        [sys.executable, "-m", "ordeal", *words, "--json"], cwd=MACHINES, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout) if done.stdout else done.stderr.partition("error: ")[2].split("\n")[0], took


def shown(value: str) -> str:
    """Return a text for a cell."""
    return f"`{value[:60]}`".replace("|", "\\|").replace("\n", " ")


def main() -> None:
    """Compare, and print the table; exit with 1 if a change is not named, or a release differs from itself."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"time of a search ({SECONDS:g})")
    parser.add_argument("--only", nargs="+", default=[], help="packages, or releases such as boltons==26.0.0")
    parser.add_argument("--same", action="store_true", help="compare releases with themselves")
    options = parser.parse_args()
    where, rows, named = host(), [], 0
    only = {*options.only}
    pairs = [each for each in PAIRS if not only or only & {each.package, f"{each.package}=={each.new}"}]
    for pair in pairs:
        answer, took = compared(pair, pair.new if options.same else pair.old, options.seconds)
        found = answer["differences"] if isinstance(answer, dict) else []
        fitting = [each for each in found if each["name"] in pair.steps]
        good = isinstance(answer, dict) and bool(fitting) is not options.same and not (options.same and found)
        named += good
        missing = {"name": answer if isinstance(answer, str) else "", "calls": (), "old": "", "new": ""}
        first = [*fitting, missing][0]
        runs = sum(each["runs"] for each in answer["classes"].values()) if isinstance(answer, dict) else 0
        releases = pair.new if options.same else f"{pair.old} → {pair.new}"
        row = [
            f"{pair.package} {releases}",
            pair.change,
            "yes" if good else "NO",
            first["name"],
            str(len(first["calls"])),
        ]
        others = str(len(found) - len(fitting))
        rows.append([*row, shown(first["old"]), shown(first["new"]), others, str(runs), f"{took:.0f}"])
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    columns = ["releases", "changelog", "named", "step", "calls", "old", "new", "other differences", "runs", "CPU s"]
    print(f"{where}\n`{command()}`\n\n{named} of {len(pairs)} {'do not differ' if options.same else 'named'}\n")
    print(table(columns, rows))
    sys.exit(named < len(pairs))


if __name__ == "__main__":
    main()
