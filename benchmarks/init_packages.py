"""How far `ordeal init` comes with packages that it has never seen.

usage: python benchmarks/init_packages.py [--seconds S] [--classes | --mistakes | PACKAGE...]

It installs each package into a folder of its own, runs `ordeal init PACKAGE` in an empty project, and prints what its
machine did in ten seconds. A class is named as `package=module:Class`. With --classes it takes 43 classes of 31
libraries, with --mistakes the ten classes of `containers`, which have a mistake each.

The goal: of the twelve packages ten have a machine that makes 1,000 steps and runs 40 % of the lines of its class,
as it was written, and no run prints a traceback. Whether a finding is one of the library is for a reader to say.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

PACKAGES = (
    *("cachetools", "sortedcontainers", "tinydb", "bidict", "boltons", "schedule"),
    *("blinker", "pluggy", "iniconfig", "toolz", "humanize", "semver"),
)
CLASSES = {
    "addict": ["addict:Dict"],
    "bidict": ["bidict:OrderedBidict"],
    "bitstring": ["bitstring:BitArray"],
    "blinker": ["blinker:Signal"],
    "boltons": [
        *("boltons.cacheutils:LRU", "boltons.cacheutils:LRI", "boltons.dictutils:OneToOne"),
        *("boltons.dictutils:OrderedMultiDict", "boltons.setutils:IndexedSet", "boltons.listutils:BarrelList"),
        "boltons.queueutils:HeapPriorityQueue",
    ],
    "cachetools": ["cachetools:LFUCache", "cachetools:TTLCache"],
    "expiringdict": ["expiringdict:ExpiringDict"],
    "frozendict": ["frozendict:frozendict"],
    "furl": ["furl:furl"],
    "heapdict": ["heapdict:heapdict"],
    "intervaltree": ["intervaltree:IntervalTree"],
    "more-itertools": ["more_itertools:peekable", "more_itertools:seekable"],
    "multidict": ["multidict:MultiDict"],
    "munch": ["munch:Munch"],
    "networkx": ["networkx:Graph"],
    "ordered-set": ["ordered_set:OrderedSet"],
    "packaging": ["packaging.specifiers:SpecifierSet"],
    "portion": ["portion:IntervalDict"],
    "pqdict": ["pqdict:pqdict"],
    "pygtrie": ["pygtrie:CharTrie", "pygtrie:StringTrie"],
    "pyrsistent": ["pyrsistent:PSet"],
    "python-box": ["box:Box", "box:BoxList"],
    "schedule": ["schedule:Scheduler"],
    "semver": ["semver:Version"],
    "simpy": ["simpy.core:Environment"],
    "sortedcollections": ["sortedcollections:ValueSortedDict", "sortedcollections:NearestDict"],
    "sortedcontainers": ["sortedcontainers:SortedDict", "sortedcontainers:SortedSet"],
    "tinydb": ["tinydb.utils:LRUCache"],
    "toolz": ["toolz.functoolz:Compose"],
    "treelib": ["treelib:Tree"],
    "zict": ["zict:LRU"],
}
MISTAKES = ("LRU", "Ring", "Pool", "Counter", "Tasks", "Trie", "Text", "Session", "Ledger", "Schedule")
HERE = Path(__file__).parent
STEPS = 1000
SHARE = 0.4


@dataclass(frozen=True)
class Row:
    package: str
    cls: str
    steps: int
    covered: int
    total: int
    findings: list[str]
    tracebacks: int
    said: str

    @property
    def holds(self) -> bool:
        return self.steps >= STEPS and self.covered >= SHARE * max(1, self.total) and not self.tracebacks


def measure(name: str, seconds: float) -> Row:
    distribution, _, wanted = name.partition("=")
    with tempfile.TemporaryDirectory(prefix="init-") as folder:
        libraries, project = Path(folder, "libraries"), Path(folder, "project")
        project.mkdir()
        if distribution:
            install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(libraries), distribution]
            subprocess.run(install, check=True, capture_output=True)
        command = [sys.executable, "-m", "ordeal", "init", wanted or distribution, "--seconds", str(seconds), "--json"]
        environment = {**os.environ, "PYTHONPATH": str(libraries if distribution else HERE)}
        done = subprocess.run(command, cwd=project, env=environment, check=False, capture_output=True, text=True)
    tracebacks = done.stderr.count("Traceback (most recent call last)")
    if done.returncode:
        return Row(name, "", 0, 0, 0, [], tracebacks, done.stderr.partition("\n\n")[0].splitlines()[-1])
    outcome = json.loads(done.stdout)
    covered, total = outcome["lines"]
    result = outcome["result"]
    findings = [f"{each['error_type']}: {each['error_message'][:60]}" for each in result["failures"]]
    return Row(name, outcome["class"], result["total_steps"], covered, total, findings, tracebacks, "")


def main() -> int:
    parser = argparse.ArgumentParser(description="How far `ordeal init` comes.")
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    parser.add_argument("--classes", action="store_true")
    parser.add_argument("--mistakes", action="store_true")
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    names = list(options.packages)
    names += [f"{package}={each}" for package, some in CLASSES.items() for each in some] * options.classes
    names += [f"=containers:{each}" for each in MISTAKES] * options.mistakes
    rows = []
    print("| package | class | steps | lines of the class | findings | tracebacks | |")
    print("|---|---|---|---|---|---|---|")
    for name in names or PACKAGES:
        row = measure(name, options.seconds)
        rows.append(row)
        share = f"{100 * row.covered // row.total} % of {row.total}" if row.total else ""
        verdict = "yes" if row.holds else f"no: {row.said or 'too little'}"
        found = f"{len(row.findings)} ({row.findings[0]})" if row.findings else "0"
        package = name.partition("=")[0]
        print(
            f"| {package} | {row.cls} | {row.steps:,} | {share} | {found} | {row.tracebacks} | {verdict} |", flush=True
        )
    held = sum(row.holds for row in rows)
    print(f"\n{held} of {len(rows)}; with a finding: {sum(bool(row.findings) for row in rows)}")
    return 0 if held >= len(rows) - 2 else 1


if __name__ == "__main__":
    sys.exit(main())
