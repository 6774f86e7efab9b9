"""How fast the machine of the shop judges mutants, and whether a search from scratch says the same of them.

usage: python benchmarks/machine_mutants.py [--rounds N] [--truth N] [--runs N] [--seed N]

The shop of examples/shop is judged in a copy, its three known bugs repaired, with one worker. A rate counts the mutants
with a verdict; its time begins when the traces are drawn and measured. With --truth, N mutants drawn by --seed are
written to the copy, and explored from scratch there, with three seeds of --runs runs each, until something fails.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from harness.report import command, host, spread, table

from ordeal._engine.mutation.mutants import Mutant, mutants_of
from ordeal._engine.mutation.operators import PRESETS
from ordeal._engine.mutation.source import Source

ROOT = Path(__file__).parents[1]
SEEDS = ("11", "12", "13")
#: The repairs of the README, in the text of the modules: those of repairs.py would hide what is mutated.
REPAIRS = {
    "orders.py": (
        """        self._stock.release(order.sku, order.units)
        self._stock.reserve(order.sku, units)
""",
        "        self._stock.reserve(order.sku, units - order.units)\n",
    ),
    "payments.py": (
        """        try:
            return self._gateway.look_up(f"refund:{order_id}")
        except TimeoutError:
            return None
""",
        '        return self._gateway.look_up(f"refund:{order_id}")\n',
    ),
    "cache.py": ("        self._finished.popitem(last=False)\n", ""),
}
#: Explores the machine in the current folder, and prints what fails first.
EXPLORE = """
import sys
sys.path.insert(0, "")
from ordeal.explore import Explorer
from tests.test_shop_chaos import ShopChaos

def stop(progress):
    if progress.failures:
        raise KeyboardInterrupt

for seed in map(int, sys.argv[2:]):
    explorer = Explorer(ShopChaos, target_modules=["shop"], seed=seed, workers=1, rule_timeout=2.0)
    result = explorer.run(max_runs=int(sys.argv[1]), max_time=300, shrink=False, progress=stop)
    if result.failures:
        sys.exit(f"failed: {type(result.failures[0].error).__name__}: {result.failures[0].error}"[:100])
"""


def copied(place: Path) -> Path:
    """Copy the shop, and repair its bugs."""
    folder = place / "shop"
    shutil.copytree(ROOT / "examples" / "shop", folder, ignore=shutil.ignore_patterns("__pycache__", ".ordeal"))
    for name, (before, after) in REPAIRS.items():
        path = folder / "shop" / name
        text = path.read_text("utf-8")
        assert text.count(before) == 1, name
        path.write_text(text.replace(before, after), "utf-8")
    return folder


def judged(folder: Path, *words: str) -> dict[str, Any]:
    """Return what the machine says of the mutants, as JSON."""
    line = [sys.executable, "-m", "ordeal", "mutate", "shop", "--with", "machines", "--workers", "1", "--json", *words]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def explored(folder: Path, source: Source, mutant: Mutant, runs: int) -> str:
    """Return what fails first when the mutant is in its file; empty where nothing does."""
    path = source.path
    path.write_bytes(mutant.applied(source.text))
    try:
        line = [sys.executable, "-B", "-c", EXPLORE, str(runs), *SEEDS]
        done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    finally:
        path.write_bytes(source.text)
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def truth(folder: Path, count: int, runs: int, seed: int) -> None:
    """Print which verdicts a search from scratch does not agree with."""
    found = {each["id"]: each for each in judged(folder, "--sample", str(count), "--seed", str(seed))["mutants"]}
    sources = [Source.of(path, f"shop/{path.name}") for path in sorted((folder / "shop").glob("*.py"))]
    pairs = [(source, mutant) for source in sources for mutant in mutants_of(source, PRESETS["standard"])]
    compared, false_kills, missed = 0, 0, 0
    for source, mutant in pairs:
        verdict = found.get(mutant.id, {"verdict": "not run"})["verdict"]
        if verdict == "not run":
            continue
        compared += 1
        failure = explored(folder, source, mutant, runs)
        was_noticed = verdict not in ("survived", "uncovered")
        false_kills += was_noticed and not failure
        missed += bool(failure) and not was_noticed
        if was_noticed != bool(failure):
            print(f"- {mutant.shown}:{mutant.line} {mutant.id} {verdict}, from scratch: {failure or 'nothing fails'}")
    print(f"{compared} compared, {false_kills} killed that survive, {missed} survivors that fail")


def main() -> None:
    """Print the rates, and the truth where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--truth", type=int, default=0)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(f"{host()}\n\n`{command()}`\n")
    with tempfile.TemporaryDirectory() as place:
        folder = copied(Path(place))
        rows = []
        reports = [judged(folder) for _ in range(given.rounds)]
        for words in ("all", "without timeouts") if reports else ():
            rates = [rate(report, with_timeouts=words == "all") for report in reports]
            rows.append([words, str(len(reports[0]["mutants"])), spread(rates, ".0f")])
        print(table(["mutants of the shop", "number", "a second, one core: min / median / max"], rows))
        if given.truth:
            truth(folder, given.truth, given.runs, given.seed)


def rate(report: dict[str, Any], *, with_timeouts: bool) -> float:
    """Return how many mutants were judged in a second. A timeout takes 1.2 seconds of waiting."""
    words = [each["verdict"] for each in report["mutants"] if each["verdict"] != "not run"]
    seconds: float = report["judging_seconds"]
    late = words.count("timeout")
    return len(words) / seconds if with_timeouts else (len(words) - late) / (seconds - 1.2 * late)


if __name__ == "__main__":
    main()
