"""Cells of one engine on one target, one for each seed: how many rule calls until the finding.

usage: python -m bugs.steps --engine ENGINE --target NAME --seeds N --steps S [--first SEED] [--blind]

Run with the interpreter of the engine's environment, and the benchmarks folder on PYTHONPATH. It prints a line of JSON
with the calls by seed, S where nothing was found in so many.
"""

import argparse
import contextlib
import gc
import importlib
import json
import os
import signal
import sys
import warnings
from dataclasses import dataclass

from bugs.catalog import target_named
from bugs.libraries import load, silence
from bugs.watch import Watch

# Of processor time: ends a search in which a rule hangs, and no other.
SECONDS = 60.0


@dataclass(slots=True)
class CountedWatch(Watch):
    """Ends a search by its rule calls: a busy machine changes nothing."""

    calls_max: int = 0

    def called(self) -> None:
        """A rule is called, which is where a search that is over ends."""
        self.settle()
        if self.found is not None or self.calls >= self.calls_max:
            signal.raise_signal(signal.SIGINT)  # What a user would do: an engine may take an error for a failure.
        Watch.called(self)

    def steps(self) -> int:
        """The calls until the finding."""
        return self.calls_max if self.found is None else min(self.found.calls, self.calls_max)


def main() -> None:
    """Search with each seed, and print the calls."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--seeds", required=True, type=int)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--steps", required=True, type=int)
    parser.add_argument("--blind", action="store_true", help="name no module of the target to the engine")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 3_000))
    output = os.dup(sys.stdout.fileno())
    engine = importlib.import_module(f"bugs.engines.run_{options.engine}")
    target = target_named(options.target)
    module = load(target, repaired=False)
    silence()
    calls = []
    for rng_seed in range(options.first, options.first + options.seeds):
        watch = CountedWatch(module, SECONDS, calls_max=options.steps)
        with contextlib.suppress(KeyboardInterrupt):
            engine.search(watch, () if options.blind else target.modules, rng_seed)
        calls.append(watch.steps())
        gc.collect()
    os.write(output, f"{json.dumps({'calls': calls})}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    main()
