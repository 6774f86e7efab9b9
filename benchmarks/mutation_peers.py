"""What mutmut takes for the released packages that `ordeal mutate` is tried on, beside what ordeal takes.

usage: python benchmarks/mutation_peers.py [PACKAGE[:FILE]]... [--workers N] [--seconds S]

Each package, or one file of it, is judged by ordeal (preset standard), then by mutmut in an environment of its own, on
a copy with a section `[tool.mutmut]`, by the same tests and as many processes. Both make mutants of their own, so the
figures to compare are those for one. After S seconds mutmut is ended, and what it has judged until then counts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.peers import PeerError, interpreter_with
from harness.report import command, host, table
from harness.suites import SUITES, Suite, suite_named
from mutation import Run

from ordeal._tools.mutation.sandbox import NoVerdictError

_MEMORY_BYTES = 3 << 30
_KINDS = ("killed", "survived", "no_tests", "timeout", "suspicious", "segfault", "skipped")


def of_ordeal(suite: Suite, file: str, workers: int) -> list[str]:
    run = Run.of(suite, "standard")
    run.sources = [each for each in run.sources if file in ("", each.shown)]
    found = run.judge([each for each in run.mutants if file in ("", each.shown)], workers=workers)
    count = len(found.verdicts)
    return [str(count), f"{found.seconds:.1f} s", f"{found.cpu_seconds:.1f} s", _each(found.cpu_seconds, count)]


def of_mutmut(suite: Suite, file: str, workers: int, seconds: float) -> list[str]:
    python = interpreter_with("mutmut", "pytest")
    with tempfile.TemporaryDirectory(prefix="ordeal-mutmut-") as place:
        folder = Path(place, suite.folder().name)
        shutil.copytree(suite.folder(), folder, ignore=shutil.ignore_patterns("__pycache__"))
        _configure(folder, suite, file)
        libraries = [each for each in suite.path() if not each.startswith(str(suite.folder()))]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(libraries)}
        cpu, began = _children_cpu(), time.monotonic()
        line = [str(python), "-m", "mutmut", "run", "--max-children", str(workers)]
        said = Path(place, "said")
        with said.open("wb") as output:
            process = subprocess.Popen(
                line, cwd=folder, env=environment, stdout=output, stderr=output, start_new_session=True
            )
            resource.prlimit(process.pid, resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                # It writes what it has judged as it is interrupted, and its children are waited for.
                os.killpg(process.pid, signal.SIGINT)
                code = process.wait()
        wall, used = time.monotonic() - began, _children_cpu() - cpu
        subprocess.run(
            [str(python), "-m", "mutmut", "export-cicd-stats"],
            cwd=folder,
            env=environment,
            check=False,
            capture_output=True,
        )
        stats = folder / "mutants" / "mutmut-cicd-stats.json"
        counts = json.loads(stats.read_text("utf-8")) if stats.exists() else {}
        judged = sum(counts.get(kind, 0) for kind in _KINDS)
        if not judged:
            lines = [
                each for each in said.read_text("utf-8", "replace").replace("\r", "\n").split("\n") if each.strip()
            ]
            return [f"does not run: {lines[-1].strip()[:70] if lines else code}", "", "", ""]
        return [str(judged), f"{wall:.1f} s", f"{used:.1f} s", _each(used, judged)]


def _configure(folder: Path, suite: Suite, file: str) -> None:
    path = folder / "pyproject.toml"
    code = Path(suite.code)
    tests = [str(each) for each in suite.tests]
    others = [each.name for each in folder.iterdir() if each.name != code.parts[0] and not each.name.startswith(".")]
    section = {
        "source_paths": [code.as_posix()],
        "also_copy": sorted(others),
        "pytest_add_cli_args_test_selection": tests,
        "pytest_add_cli_args": list(suite.options),
        "only_mutate": [file] if file else [],
    }
    text = path.read_text("utf-8") if path.exists() else ""
    rows = "".join(f"{key} = {json.dumps(value)}\n" for key, value in section.items())
    path.write_text(f"{text}\n[tool.mutmut]\n{rows}", "utf-8")


def _children_cpu() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _each(cpu: float, count: int) -> str:
    return f"{1000 * cpu / count:.1f} ms"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("packages", nargs="*")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=600.0)
    given = parser.parse_args()
    print(f"{host()}\n`{command()}`\n")
    rows = []
    for name in given.packages or [each.name for each in SUITES]:
        package, _, file = name.partition(":")
        suite = suite_named(package)
        try:
            ours = of_ordeal(suite, file, given.workers)
            theirs = of_mutmut(suite, file, given.workers, given.seconds)
        except (NoVerdictError, PeerError) as error:
            print(f"{suite.name}: {error}", file=sys.stderr)
            continue
        rows.append([f"{suite.name} {suite.version}", *ours, *theirs])
        print(rows[-1], file=sys.stderr, flush=True)
    header = ["package", "ordeal: mutants", "wall", "CPU", "CPU each", "mutmut: mutants", "wall", "CPU", "CPU each"]
    print(table(header, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
