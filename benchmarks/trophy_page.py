"""Runs the reproduction of each trophy, and writes docs/trophies.md.

usage: python benchmarks/trophy_page.py [--only NAME...] [--measure [--seconds S]] [--search [MODULE...]]

Each library is installed, as the release that is pinned, into a folder of its own. With --measure the Explorer searches
for each bug with the seeds 1, 2 and 3; what it took is kept in benchmarks/trophies/measured.json. --search runs the
machines that found nothing instead, and keeps in searched.json how many steps they made. Exit code 1 if a reproduction
no longer shows its bug, or if a search found something.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from harness.peers import folder_with
from trophies.page import Entry, Search, entries, page, searches

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "trophies.md"
MEASURED = ROOT / "benchmarks" / "trophies" / "measured.json"
SEARCHED = ROOT / "benchmarks" / "trophies" / "searched.json"
SEEDS = (1, 2, 3)
#: What a reproduction may take, in seconds; a search gets that much more than it is told, for shrinking.
PATIENCE_S = 600.0


def run(of: Entry | Search, name: str, *arguments: str, seconds: float = 0.0) -> subprocess.CompletedProcess[str]:
    """Run measure.py for a trophy or a search, where its library can be imported."""
    folder = folder_with(f"trophies/{of.module}", *of.requirements)
    return subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/trophies/measure.py"), of.module, name, *arguments],
        env=os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT / 'benchmarks'}", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S + seconds,
    )


def verdict(entry: Entry) -> str:
    """What became of a reproduction; empty if it shows the bug."""
    done = run(entry, entry.name)
    # What an error says can go on in lines that are indented.
    last = next((line for line in reversed(done.stderr.splitlines()) if line[:1].strip()), "")
    if entry.ends:
        return "" if entry.ends in last else f"ends with {last or 'nothing'}, not with {entry.ends}"
    return "" if done.returncode == 0 else last


def measure(entry: Entry, seconds: float) -> list[dict[str, Any]]:
    """What a search took with each seed."""
    found = []
    for seed in SEEDS:
        done = run(entry, entry.name, str(seed), str(seconds), seconds=seconds)
        if done.returncode:
            raise SystemExit(f"{entry.name}: {done.stderr}")
        found.append(json.loads(done.stdout.splitlines()[-1]))
        print(f"{entry.name}, seed {seed}: {found[-1]}", flush=True)
    return found


def search(modules: list[str], seconds: float) -> bool:
    """Run the machines that found nothing, and keep their steps. Whether one found something."""
    kept = _kept(SEARCHED, {"seconds": seconds, "machines": {}})
    found = False
    for each in searches():
        if modules and each.module not in modules:
            continue
        done = run(each, "--search", str(seconds), seconds=seconds * len(each.machines))
        if done.returncode:
            raise SystemExit(f"{each.module}: {done.stderr}")
        told = json.loads(done.stdout.splitlines()[-1])
        found = found or bool(told["found"])
        kept["seconds"], kept["machines"][each.module] = seconds, told["steps"]
        SEARCHED.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
        print(f"{each.module}: {told}", flush=True)
    return found


def _kept(path: Path, otherwise: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else otherwise
    return kept


def main() -> None:
    """Run what was asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="the trophies to run (default: all)")
    parser.add_argument("--measure", action="store_true", help="search for them, too")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each search (default: 20)")
    parser.add_argument("--search", nargs="*", metavar="MODULE", help="run the machines that found nothing instead")
    options = parser.parse_args()
    known = _kept(MEASURED, {"seconds": options.seconds, "runs": {}})
    if options.search is not None:
        found = search(options.search, options.seconds)
        PAGE.write_text(page(known, _kept(SEARCHED, {"seconds": 0.0, "machines": {}})), "utf-8")
        sys.exit(found)
    chosen = [entry for entry in entries() if not options.only or entry.name in options.only]
    gone = 0
    for entry in chosen:
        problem = verdict(entry)
        gone += bool(problem)
        print(f"{entry.name}: {problem or 'still there'}", flush=True)
        if options.measure:
            known["seconds"] = options.seconds
            known["runs"][entry.name] = measure(entry, options.seconds)
            MEASURED.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")
    PAGE.write_text(page(known, _kept(SEARCHED, {"seconds": 0.0, "machines": {}})), "utf-8")
    sys.exit(bool(gone))


if __name__ == "__main__":
    main()
