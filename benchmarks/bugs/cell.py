"""One cell: one engine on one target with one seed. It prints a line of JSON and ends.

usage: python -m bugs.cell --engine ENGINE --target NAME --seconds S --seed N [--repaired]

Run with the interpreter of the engine's environment, and the benchmarks folder on PYTHONPATH.
"""

import argparse
import importlib
import json
import os
import sys
import warnings
from functools import partial
from typing import NoReturn

from bugs.catalog import target_named
from bugs.libraries import load, silence
from bugs.watch import Watch

ENGINES = ("ordeal", "hypothesis", "hegel", "hypofuzz", "atheris")


def outcome(watch: Watch) -> dict[str, object]:
    """What the watch saw, as the fields of a result."""
    fields: dict[str, object] = {
        "found": watch.found is not None,
        "cpu_s": watch.cpu_s(),
        "wall_s": watch.wall_s(),
        "machines": watch.machines,
        "calls": watch.calls,
        "false_failures": watch.false_failures,
        "note": watch.false_example,
    }
    if watch.found is not None:
        finding = watch.found
        fields |= {
            "cpu_s": finding.cpu_s,
            "wall_s": finding.wall_s,
            "machines": finding.machines,
            "calls": finding.calls,
            "length": len(finding.sequence),
            "note": f"{type(finding.error).__name__}: {str(finding.error)[:160]}",
        }
    return fields


def tell(watch: Watch, output: int) -> None:
    """Write the outcome to what was the standard output before it was silenced."""
    os.write(output, f"{json.dumps(outcome(watch))}\n".encode())


def tell_and_end(watch: Watch, output: int) -> NoReturn:
    """The same for an engine that does not come back."""
    tell(watch, output)
    os._exit(0)


def main() -> None:
    """Search, and print what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", required=True, choices=ENGINES)
    parser.add_argument("--target", required=True)
    parser.add_argument("--seconds", required=True, type=float)
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--repaired", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 3_000))
    output = os.dup(sys.stdout.fileno())
    engine = importlib.import_module(f"bugs.engines.run_{options.engine}")
    target = target_named(options.target)
    instrument = None
    if options.engine == "atheris":
        instrument = importlib.import_module("atheris").instrument_imports(include=list(target.modules))
    watch = Watch(load(target, repaired=options.repaired, instrument=instrument), options.seconds)
    silence()
    if options.engine == "atheris":
        engine.search(watch, target.modules, options.seed, partial(tell_and_end, watch, output))
    else:
        engine.search(watch, target.modules, options.seed)
    tell_and_end(watch, output)  # No threads or exit functions of a library are waited for.


if __name__ == "__main__":
    main()
