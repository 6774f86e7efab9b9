"""Whether two versions of ordeal find the same for the same seed: their traces and reports, byte for byte.

usage: python benchmarks/same_bytes.py --against PYTHON [--examples DIR] [--seeds N] [--runs N]

PYTHON is an interpreter that has the ordeal of another commit. Both explore a copy of each example for N runs with one
worker, in turns and in the same folder. DIR has the examples of the older commit, as what a file of theirs imports has
to exist in both. The traces are compared as they are, the reports without what a clock decides. It exits 1 where
something differs.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
EXAMPLES = ("bounded_queue", "drop_four", "interval_set", "mail_queue", "order_retry", "radio_link", "shop")
#: A run ends by its number of runs, so that the clock decides nothing.
SECONDS = 300
#: Fields of a report that a clock or the version decides, by a part of their names.
CLOCKED = ("second", "time", "per_", "cost", "version")


def without_clock(value: object) -> object:
    """Return what a report says, without the fields that differ from one time to the next."""
    if isinstance(value, dict):
        return {key: without_clock(of) for key, of in value.items() if not any(part in key for part in CLOCKED)}
    if isinstance(value, list):
        return [without_clock(of) for of in value]
    return value


def explored(python: str, example: Path, folder: Path, seed: int, runs: int) -> dict[str, object]:
    """Return what an exploration of a copy of an example wrote, by the name of the trace or `report`."""
    shutil.copytree(example, folder, ignore=shutil.ignore_patterns(".ordeal*", ".hypothesis", "__pycache__"))
    limits = ["--seed", str(seed), "--max-runs", str(runs), "--max-time", str(SECONDS), "--workers", "1", "--json"]
    command = [python, "-m", "ordeal", "explore", *limits]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"error: {python} did not explore {example.name}\n\n{done.stderr[-2000:]}")
    found: dict[str, object] = {"report": without_clock(json.loads(done.stdout))}
    for path in sorted((folder / ".ordeal").rglob("*.json")):
        if "runs" not in path.parts:  # which say when a search ran
            found[str(path.relative_to(folder))] = path.read_bytes()
    shutil.rmtree(folder)
    return found


def main() -> int:
    """Explore with both, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="PYTHON", required=True)
    parser.add_argument("--examples", metavar="DIR", type=Path, default=HERE.parent / "examples")
    parser.add_argument("--seeds", type=int, default=10, metavar="N")
    parser.add_argument("--runs", type=int, default=300, metavar="N")
    options = parser.parse_args()
    differing = 0
    with tempfile.TemporaryDirectory() as parent:
        for name in EXAMPLES:
            traces = 0
            for seed in range(options.seeds):
                here, other = (
                    explored(python, options.examples / name, Path(parent) / name, seed, options.runs)
                    for python in (sys.executable, options.against)
                )
                differ = sorted(file for file in here.keys() | other.keys() if here.get(file) != other.get(file))
                traces += len(here) - 1
                differing += bool(differ)
                if differ:
                    print(f"{name}, seed {seed}: {', '.join(differ)} differ", flush=True)
            print(f"{name}: {options.seeds} seeds, {traces} traces", flush=True)
    print(f"{differing} of {options.seeds * len(EXAMPLES)} explorations differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
