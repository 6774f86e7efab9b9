"""How far `ordeal init` comes with packages that it has never seen.

usage: python benchmarks/init_packages.py [PACKAGE]... installs each package into a folder of its own, runs `ordeal init
PACKAGE` in an empty project, and prints what its machine did in ten seconds

The goal: of the twelve packages ten have a machine that makes 1,000 steps and runs 40 % of the lines of its class,
as it was written, and no run prints a traceback.
"""

from __future__ import annotations

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
SECONDS = 10
STEPS = 1000
SHARE = 0.4


@dataclass(frozen=True)
class Row:
    package: str
    cls: str
    steps: int
    covered: int
    total: int
    findings: int
    tracebacks: int
    said: str

    @property
    def holds(self) -> bool:
        return self.steps >= STEPS and self.covered >= SHARE * max(1, self.total) and not self.tracebacks


def measure(package: str) -> Row:
    with tempfile.TemporaryDirectory(prefix="init-") as folder:
        libraries, project = Path(folder, "libraries"), Path(folder, "project")
        project.mkdir()
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(libraries), package]
        subprocess.run(install, check=True, capture_output=True)
        command = [sys.executable, "-m", "ordeal", "init", package, "--seconds", str(SECONDS), "--json"]
        environment = {**os.environ, "PYTHONPATH": str(libraries)}
        done = subprocess.run(command, cwd=project, env=environment, check=False, capture_output=True, text=True)
    tracebacks = done.stderr.count("Traceback (most recent call last)")
    if done.returncode:
        return Row(package, "", 0, 0, 0, 0, tracebacks, done.stderr.partition("\n\n")[0].splitlines()[-1])
    outcome = json.loads(done.stdout)
    covered, total = outcome["lines"]
    result = outcome["result"]
    return Row(
        package, outcome["class"], result["total_steps"], covered, total, len(result["failures"]), tracebacks, ""
    )


def main(packages: list[str]) -> int:
    rows = []
    print("| package | class | steps | lines of the class | findings | tracebacks | |")
    print("|---|---|---|---|---|---|---|")
    for package in packages or PACKAGES:
        row = measure(package)
        rows.append(row)
        share = f"{100 * row.covered // row.total} % of {row.total}" if row.total else ""
        verdict = "yes" if row.holds else f"no: {row.said or 'too little'}"
        print(f"| {package} | {row.cls} | {row.steps:,} | {share} | {row.findings} | {row.tracebacks} | {verdict} |")
    held = sum(row.holds for row in rows)
    print(f"\n{held} of {len(rows)}")
    return 0 if held >= len(rows) - 2 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
