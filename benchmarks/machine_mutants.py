"""How fast machines judge mutants, and whether a search from scratch says the same of them.

usage: python benchmarks/machine_mutants.py [--rounds N] [--truth N] [--of NAME ...] [--runs N] [--seed N]

Judged are copies of the shop of examples/shop, its three known bugs repaired; of the shelf of benchmarks/five_rules;
and of the four systems of tests/puzzles/model_pairs with their pairs; each by one worker. A rate counts the mutants
with a verdict, and the seconds of CPU of the judge and its processes, from when the traces are drawn and measured until
the last verdict. With --truth, N mutants drawn by --seed are written to the copy, and explored from scratch there, with
three seeds of --runs runs each, until something fails.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.report import command, host, spread, table

from ordeal._tools.mutation.mutants import Mutant, mutants_of
from ordeal._tools.mutation.operators import PRESETS
from ordeal._tools.mutation.source import Source

ROOT = Path(__file__).parents[1]
OPTIONS = ("--with", "machines", "--workers", "1", "--json")
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
MACHINE = """
from five_rules.rules import FiveRules
from hypothesis.stateful import RuleBasedStateMachine

class Five(FiveRules, RuleBasedStateMachine):
    pass
"""
#: Explores machines of the current folder, and prints what fails first.
EXPLORE = """
import sys
sys.path.insert(0, "")
from ordeal._engine.execution.class_path import load_class
from ordeal.explore import Explorer

def stop(progress):
    if progress.failures:
        raise KeyboardInterrupt

runs, target, *machines = sys.argv[1:]
for machine in machines:
    for seed in (11, 12, 13):
        explorer = Explorer(load_class(machine), target_modules=[target], seed=seed, workers=1, rule_timeout=2.0)
        result = explorer.run(max_runs=int(runs), max_time=300, shrink=False, progress=stop)
        if result.failures:
            sys.exit(f"failed: {type(result.failures[0].error).__name__}: {result.failures[0].error}"[:100])
"""


@dataclass(frozen=True)
class Project:
    """A folder with a program and its machines: what to mutate, which package to cover, and the machines by file."""

    folder: Path
    paths: tuple[str, ...]
    package: str
    machines: dict[str, str]

    def configured(self) -> "Project":
        """Write the configuration that names the machines."""
        tests = "".join(f'[[tests]]\nclass = "{each}"\n' for each in dict.fromkeys(self.machines.values()))
        text = f'[explorer]\ntarget_modules = ["{self.package}"]\n\n{tests}'
        (self.folder / "ordeal.toml").write_text(text, "utf-8")
        return self


def shop(place: Path) -> Project:
    """Copy the shop, and repair its bugs."""
    folder = place / "shop"
    shutil.copytree(ROOT / "examples" / "shop", folder, ignore=shutil.ignore_patterns("__pycache__", ".ordeal"))
    for name, (before, after) in REPAIRS.items():
        path = folder / "shop" / name
        text = path.read_text("utf-8")
        assert text.count(before) == 1, name
        path.write_text(text.replace(before, after), "utf-8")
    files = sorted((folder / "shop").glob("*.py"))
    machines = {f"shop/{each.name}": "tests.test_shop_chaos:ShopChaos" for each in files}
    return Project(folder, ("shop",), "shop", machines).configured()


def five_rules(place: Path) -> Project:
    """Copy the shelf, with its machine."""
    folder = place / "five"
    (folder / "five_rules").mkdir(parents=True)
    for name in ("__init__.py", "shelf.py", "rules.py"):
        shutil.copy(ROOT / "benchmarks" / "five_rules" / name, folder / "five_rules" / name)
    (folder / "machine.py").write_text(MACHINE, "utf-8")
    machines = {"five_rules/shelf.py": "machine:Five"}
    return Project(folder, tuple(machines), "five_rules.shelf", machines).configured()


def pairs(place: Path) -> Project:
    """Copy the systems and their pairs."""
    folder = place / "pairs"
    shutil.copytree(ROOT / "tests" / "puzzles" / "model_pairs", folder / "systems")
    names = {"hash_dict": "DictPair", "ring_deque": "DequePair", "binary_heap": "QueuePair", "lru_cache": "CachePair"}
    machines = {f"systems/{name}.py": f"systems.pairs:{pair}" for name, pair in names.items()}
    return Project(folder, tuple(machines), "systems", machines).configured()


PROJECTS = {"shop": shop, "five": five_rules, "pairs": pairs}


def judged(project: Project, *words: str) -> dict[str, Any]:
    """Return what the machine says of the mutants, as JSON."""
    line = [sys.executable, "-m", "ordeal", "mutate", *project.paths, *OPTIONS, *words]
    done = subprocess.run(line, cwd=project.folder, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def explored(project: Project, source: Source, mutant: Mutant, runs: int) -> str:
    """Return what fails first when the mutant is in its file; empty where nothing does."""
    path = source.path
    path.write_bytes(mutant.applied(source.text))
    try:
        line = [sys.executable, "-B", "-c", EXPLORE, str(runs), project.package, project.machines[source.shown]]
        done = subprocess.run(line, cwd=project.folder, capture_output=True, text=True, check=False)
    finally:
        path.write_bytes(source.text)
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def truth(project: Project, count: int, runs: int, seed: int) -> str:
    """Print the verdicts that a search from scratch does not agree with; return how many there are of each kind."""
    found = {each["id"]: each for each in judged(project, "--sample", str(count), "--seed", str(seed))["mutants"]}
    sources = [Source.of(project.folder / shown, shown) for shown in project.machines]
    mutants = [(source, mutant) for source in sources for mutant in mutants_of(source, PRESETS["standard"])]
    compared, false_kills, missed = 0, 0, 0
    for source, mutant in mutants:
        verdict = found.get(mutant.id, {"verdict": "not run"})["verdict"]
        if verdict == "not run":
            continue
        compared += 1
        failure = explored(project, source, mutant, runs)
        was_noticed = verdict not in ("survived", "uncovered")
        false_kills += was_noticed and not failure
        missed += bool(failure) and not was_noticed
        if was_noticed != bool(failure):
            print(f"- {mutant.shown}:{mutant.line} {mutant.id} {verdict}, from scratch: {failure or 'nothing fails'}")
    return f"{compared} compared, {false_kills} killed that survive, {missed} survivors that fail"


def main() -> None:
    """Print the rates, and the truth where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--truth", type=int, default=0)
    parser.add_argument("--of", nargs="+", choices=PROJECTS, default=list(PROJECTS))
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(f"{host()}\n\n`{command()}`\n")
    with tempfile.TemporaryDirectory() as place:
        projects = {name: PROJECTS[name](Path(place)) for name in given.of}
        rows = []
        for name, project in projects.items() if given.rounds else ():
            reports = [judged(project) for _ in range(given.rounds)]
            rows.append([name, str(verdicts(reports[0])), spread([rate(each) for each in reports], ".0f")])
        print(table(["mutants of", "verdicts", "a second of CPU: min / median / max"], rows))
        for name, project in projects.items() if given.truth else ():
            print(f"{name}: {truth(project, given.truth, given.runs, given.seed)}")


def verdicts(report: dict[str, Any]) -> int:
    """Return how many mutants have a verdict."""
    return sum(each["verdict"] != "not run" for each in report["mutants"])


def rate(report: dict[str, Any]) -> float:
    """Return how many mutants were judged in a second of CPU."""
    seconds: float = report["judging_cpu_seconds"]
    return verdicts(report) / seconds


if __name__ == "__main__":
    main()
