"""Prove the targets: each bug must show with the buggy release and must not with the repaired one.

usage: python benchmarks/bugs_suite.py --check [--targets NAME ...]
"""

import argparse
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

from bugs.catalog import Target, target_named
from bugs.libraries import load, silence


def reproduced(target: Target, *, repaired: bool) -> str:
    """What ``reproduce()`` raises in a process of its own, empty when it passes."""
    arguments = [sys.executable, "-m", "bugs.check", target.name, *(["--repaired"] if repaired else [])]
    paths = os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return str(json.loads(done.stdout))


def main() -> None:
    """Run one ``reproduce()`` and print what came of it, as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--repaired", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    output = os.dup(sys.stdout.fileno())
    module = load(target_named(options.target), repaired=options.repaired)
    silence()
    said = ""
    try:
        module.reproduce()
    except Exception as error:  # noqa: BLE001  Whatever the library raises is the answer.
        said = f"{type(error).__name__}: {str(error)[:100]}".splitlines()[0]
    os.write(output, json.dumps(said).encode())


if __name__ == "__main__":
    main()
