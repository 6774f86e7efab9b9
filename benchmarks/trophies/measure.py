"""Runs the reproduction of a trophy, or finds it by its machine, in a process that can import the library.

usage: python measure.py MODULE TROPHY [SEED SECONDS]; a search prints seconds and steps as JSON
       python measure.py MODULE --search SECONDS; prints the steps of each machine under CLEAN, and what they found
"""

import importlib
import json
import re
import sys
import time
import warnings
from typing import Any

from ordeal import Explorer
from ordeal.result import ProgressSnapshot
from trophies.trophy import Trophy


def trophy_of(module: str, name: str) -> tuple[Any, Trophy]:
    """The module of a machine, and a trophy of it."""
    loaded = importlib.import_module(f"trophies.machines.{module}")
    return loaded, next(each for each in loaded.TROPHIES if each.name == name)


def found(trophy: Trophy, modules: list[str], rng_seed: int, seconds: float) -> dict[str, Any]:
    """The processor seconds until a run first shows the bug, and the steps of its smallest program; None without."""
    start = time.process_time()
    machine, shown = trophy.machine, list[float]()

    class Watched(machine):  # type: ignore[misc, valid-type]
        def teardown(self) -> None:
            error = sys.exception()
            if not shown and error is not None and re.search(trophy.shows, str(error)):
                shown.append(time.process_time() - start)
            super().teardown()

    def stop(_now: ProgressSnapshot) -> None:
        if shown:
            raise KeyboardInterrupt  # What a user would do.

    Watched.__name__ = Watched.__qualname__ = trophy.machine.__name__
    options: dict[str, Any] = {"target_modules": modules, "seed": rng_seed, "workers": 1}
    Explorer(Watched, **options).run(max_time=seconds, progress=stop, shrink=False)
    if not shown:
        return {"seconds": None, "steps": None}
    # A search that is interrupted has no time to shrink, so another one finds the bug again.
    result = Explorer(trophy.machine, **options).run(max_time=4.0 + 4.0 * shown[0])
    steps = [
        sum(step.kind == "rule" for step in failure.trace.steps)
        for failure in result.failures
        if failure.trace is not None and re.search(trophy.shows, str(failure.error))
    ]
    return {"seconds": shown[0], "steps": min(steps, default=None)}


def searched(module: str, seconds: float) -> dict[str, Any]:
    """The steps that a search made with each machine that found nothing, and what one found after all."""
    loaded = importlib.import_module(f"trophies.machines.{module}")
    steps, found = dict[str, int](), list[str]()
    for machine in loaded.CLEAN:
        result = Explorer(machine, target_modules=loaded.MODULES, seed=1, workers=1).run(max_time=seconds)
        steps[machine.__name__] = result.total_steps
        found += [f"{machine.__name__}: {failure.error}" for failure in result.failures]
    return {"steps": steps, "found": found}


def main() -> None:
    """Do what the arguments say."""
    warnings.simplefilter("ignore")
    module, name, *search = sys.argv[1:]
    if name == "--search":
        print(json.dumps(searched(module, float(search[0]))))
        return
    loaded, trophy = trophy_of(module, name)
    if search:
        print(json.dumps(found(trophy, loaded.MODULES, int(search[0]), float(search[1]))))
    else:
        trophy.repro()


if __name__ == "__main__":
    main()
