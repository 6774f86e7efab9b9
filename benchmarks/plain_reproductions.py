"""Finds each trophy and each bug of the suite, and counts how many have a plain reproduction that fails alike.

usage: python benchmarks/plain_reproductions.py [--only NAME...] [--seconds S] [--seed N] [--folder FOLDER]

Each library is in a folder of its own. A reproduction counts if it runs by itself, in a process that can import the
library and nothing of the machine, and ends with the error of the failure. Exit code 1 if fewer than 80 % do.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bugs.catalog import TARGETS
from bugs.libraries import folder_of
from harness.peers import PeerError, folder_with
from trophies.page import entries

ROOT = Path(__file__).parents[1]
WANTED = 0.8
#: What a search may take beyond its time, for shrinking and for the reproduction.
PATIENCE_S = 400.0
#: Old releases need names that Python has dropped, wherever they are imported.
CUSTOMIZED = "from bugs.libraries import restore_names\n\nrestore_names()\n"


@dataclass(frozen=True)
class Subject:
    """A bug: the class that shows it, where its library is, and what its failures say."""

    name: str
    class_path: str
    modules: str
    shows: str
    folder: str


def subjects(only: list[str]) -> Iterator[Subject]:
    """All trophies, and all bugs of the suite."""
    for entry in entries():
        if not only or entry.name in only:
            folder = str(folder_with(f"trophies/{entry.name}", *entry.requirements))
            class_path = f"trophies.machines.{entry.module}:{entry.machine}"
            yield Subject(entry.name, class_path, entry.modules, entry.shows, folder)
    for target in TARGETS:
        if not only or target.name in only:
            folder = str(folder_of(target, repaired=False)) if target.is_real else ""
            yield Subject(target.name, f"bugs.chaos:{target.name}", " ".join(target.modules), "", folder)


def run(command: list[str], path: list[str], seconds: float) -> subprocess.CompletedProcess[str]:
    """Run Python with a search path."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, path)), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, check=False, timeout=seconds
    )


def measure(subject: Subject, options: argparse.Namespace) -> dict[str, Any]:
    """What came of one bug; ``alike`` tells whether its reproduction runs by itself and fails in the same way."""
    file = Path(options.folder, f"{subject.name}.py")
    file.unlink(missing_ok=True)
    shim = Path(options.folder, "shim")
    shim.mkdir(parents=True, exist_ok=True)
    (shim / "sitecustomize.py").write_text(CUSTOMIZED, "utf-8")
    benchmarks = str(ROOT / "benchmarks")
    arguments = [subject.class_path, subject.modules, subject.shows, str(options.seed), str(options.seconds), str(file)]
    done = run(
        [f"{benchmarks}/plain/measure.py", *arguments],
        [str(shim), subject.folder, benchmarks],
        options.seconds + PATIENCE_S,
    )
    if done.returncode:
        return {"steps": None, "lines": None, "reason": done.stderr.strip().rpartition("\n")[2], "alike": False}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    text = file.read_text("utf-8") if file.exists() else ""
    alone = bool(text) and not any(word in text for word in ("ordeal", "hypothesis", "bugs.targets", "trophies"))
    found["alike"] = False
    if alone:
        ran = run([str(file)], [str(shim), subject.folder, benchmarks], 60.0)
        wanted = text.removeprefix('"""').partition(":")[0]
        raised = re.search(rf"^([\w.]+\.)?{re.escape(wanted)}(:|$)", ran.stderr, re.MULTILINE)
        found["alike"] = ran.returncode != 0 and raised is not None
    return found


def main() -> None:
    """Measure, and say how many."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="the bugs to try (default: all)")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each search (default: 10)")
    parser.add_argument("--seed", type=int, default=1, help="of the searches (default: 1)")
    parser.add_argument("--folder", default=str(ROOT / "build/plain"), help="for the programs (default: build/plain)")
    options = parser.parse_args()
    Path(options.folder).mkdir(parents=True, exist_ok=True)
    found = alike = 0
    for subject in subjects(options.only):
        try:
            one = measure(subject, options)
        except (PeerError, subprocess.TimeoutExpired, ValueError) as error:
            one = {"steps": None, "lines": None, "reason": str(error)[:200], "alike": False}
        found += one["steps"] is not None
        alike += one["alike"]
        print(f"{subject.name}: {json.dumps(one)}", flush=True)
    share = alike / found if found else 0.0
    print(f"{alike} of {found} failures have a plain reproduction that runs by itself and fails alike ({share:.0%})")
    sys.exit(share < WANTED)


if __name__ == "__main__":
    main()
