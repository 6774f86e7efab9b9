"""Writes down what ordeal finds on five machines with ten seeds each, to be compared with what another version finds.

usage: python tools/record_runs.py FOLDER, once with each version, then: diff -r FOLDER OTHER

Each machine is explored by two workers from the command line, and alone from Python with the traces of all runs that
reached new code. Times are left out of the reports; all else must be equal, byte for byte, as long as a change is meant
to leave the search as it is.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXAMPLES = ("shop", "bounded_queue", "mail_queue", "radio_link")
SEEDS = range(1, 11)
MAX_RUNS = 300

#: Ends its process in two ways, fails and passes: what needs processes of its own to be looked at.
HOSTILE = """
import os
import signal

from hypothesis import strategies as st

from ordeal import ChaosTest, invariant, rule


class HostileChaos(ChaosTest):
    def __init__(self):
        super().__init__()
        self.total = 0
        self.names = []

    @rule(amount=st.integers(0, 1000), name=st.text(max_size=3))
    def add(self, amount, name):
        self.total += amount
        self.names.append(name)

    @rule()
    def leave(self):
        if self.total > 2000:
            os._exit(3)

    @rule()
    def stop(self):
        if len(self.names) == 4 and self.total < 100:
            os.kill(os.getpid(), signal.SIGABRT)

    @invariant()
    def names_differ(self):
        assert len(self.names) < 6 or len(set(self.names)) > 3, "too many names alike"
"""

#: Explores in the process that runs this text: argument 1 is a class path, 2 a seed, 3 a module or nothing, 4 a folder.
ALONE = f"""
import importlib
import sys
from pathlib import Path

from ordeal.explore import Explorer

path, seed, module, folder = sys.argv[1:]
sys.path.insert(0, "")
where, _, name = path.partition(":")
machine = getattr(importlib.import_module(where), name)
explorer = Explorer(machine, target_modules=[module] if module else [], seed=int(seed), record_traces=True, workers=1)
result = explorer.run(max_runs={MAX_RUNS}, max_time=600)
for number, trace in enumerate(result.traces):
    trace.save(Path(folder) / f"{{number}}.json")
summary = result.summary().splitlines()
Path(folder, "summary.txt").write_text("\\n".join([summary[0].rpartition(",")[0], *summary[1:]]))
"""


def main() -> int:
    """Write everything into the folder that is named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.resolve()
    folder.mkdir(parents=True)
    for name in (*EXAMPLES, "hostile"):
        for seed in SEEDS:
            _record(name, seed, folder)
        print(name, file=sys.stderr)
    return 0


def _record(name: str, seed: int, folder: Path) -> None:
    kept = folder / f"{name}-{seed}"
    kept.mkdir()
    with tempfile.TemporaryDirectory() as made:
        where = Path(made)
        _prepare(name, where)
        arguments = ["explore", "--seed", str(seed), "--max-runs", str(MAX_RUNS), "--max-time", "600", "-w", "2"]
        report = _run(["-m", "ordeal", *arguments, "--json"], where)
        (kept / "report.json").write_text(json.dumps(_without_times(json.loads(report)), indent=1))
        shutil.copytree(where / ".ordeal", kept / "saved", dirs_exist_ok=True)
        path, module = _class_of(where)
        if name != "hostile":  # it would end the process that explores it
            (kept / "alone").mkdir()
            _run(["-c", ALONE, path, str(seed), module, str(kept / "alone")], where)


def _prepare(name: str, where: Path) -> None:
    if name != "hostile":
        shutil.copytree(ROOT / "examples" / name, where, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
        return
    (where / "hostile.py").write_text(HOSTILE)
    settings = '[explorer]\ntarget_modules = ["hostile"]\n\n[[tests]]\nclass = "hostile:HostileChaos"\n'
    (where / "ordeal.toml").write_text(settings)


def _class_of(where: Path) -> tuple[str, str]:
    """The class that the settings file names first, and the first target module."""
    lines = (where / "ordeal.toml").read_text().splitlines()
    path = next(line for line in lines if line.startswith("class")).split('"')[1]
    modules = [line for line in lines if line.startswith("target_modules")]
    return path, modules[0].split('"')[1] if modules else ""


def _run(arguments: list[str], where: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(where), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [sys.executable, *arguments], check=False, cwd=where, env=environment, capture_output=True, text=True
    )
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def _without_times(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_times(each) for key, each in value.items() if "second" not in key}
    return [_without_times(each) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    sys.exit(main())
