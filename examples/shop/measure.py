"""How long plain Hypothesis needs for each bug of the shop, and how long the Explorer.

usage: python measure.py [SECONDS [SEEDS]]
"""

import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Iterable
from multiprocessing.connection import Connection

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from repairs import REPAIRS, repaired
from tests.test_shop_chaos import ShopChaos

from ordeal.explore import Explorer
from ordeal.result import ProgressSnapshot

ENDLESS = settings(
    max_examples=10**9,
    phases=[Phase.generate],
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
BUG_OF_MESSAGE = {
    "promised units and open orders disagree": "a",
    "a customer got more back than was collected": "b",
    "the stock counts units that do not exist": "c",
}

# Seconds until each bug was found, by letter, and the runs in all.
Search = tuple[dict[str, float], int]


def hypothesis_search(pipe: Connection, bug: str, rng_seed: int, seconds: float) -> None:
    """Send what Hypothesis found of one bug, the others being repaired, and end the process."""
    started = time.perf_counter()
    runs = 0

    class Timed(ShopChaos):
        def __init__(self) -> None:
            nonlocal runs
            runs += 1
            if time.perf_counter() - started > seconds:
                pipe.send(({}, runs))
                os._exit(0)  # Hypothesis takes no time limit, and treats an exception here as a failure.
            super().__init__()

    with repaired(REPAIRS.keys() - {bug}):
        try:
            run_state_machine_as_test(seed(rng_seed)(Timed), settings=ENDLESS)
        except AssertionError:
            pipe.send(({bug: time.perf_counter() - started}, runs))
            os._exit(0)


def explorer_search(rng_seed: int, seconds: float) -> Search:
    """Return what the Explorer found of all bugs, none being repaired."""
    elapsed: dict[int, float] = {}

    def note(progress: ProgressSnapshot) -> None:
        elapsed[progress.total_runs] = progress.elapsed
        if progress.failures == len(REPAIRS):
            raise KeyboardInterrupt  # The Explorer ends as it does on Ctrl-C.

    explorer = Explorer(ShopChaos, target_modules=["shop"], seed=rng_seed, workers=1)
    result = explorer.run(max_time=seconds, shrink=False, progress=note)
    found = {BUG_OF_MESSAGE[str(failure.error)]: elapsed[failure.run_id] for failure in result.failures}
    return found, result.total_runs


def in_child(bug: str, rng_seed: int, seconds: float) -> Search:
    """Run a search of Hypothesis in a process that it may end."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.Process(target=hypothesis_search, args=(sender, bug, rng_seed, seconds))
    child.start()
    sender.close()
    answer: Search = receiver.recv()
    child.join()
    return answer


def row(name: str, bug: str, searches: Iterable[Search]) -> str:
    """Return one row of the table."""
    searches = list(searches)
    times = [found[bug] for found, _ in searches if bug in found]
    when = f"{min(times):.2f} / {statistics.median(times):.2f} / {max(times):.2f} s" if times else "-"
    runs = sum(runs for _, runs in searches)
    return f"| {name} | ({bug}) | {len(times)} of {len(searches)} | {when} | {runs} |"


def main() -> None:
    """Print the table of the README."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    seeds = range(1, 1 + (int(sys.argv[2]) if len(sys.argv) > 2 else 10))
    print(f"| | bug | found in {seconds:g} s | min / median / max | runs in all |\n|---|---|---|---|---|")
    for bug in REPAIRS:
        print(row("Hypothesis", bug, [in_child(bug, rng_seed, seconds) for rng_seed in seeds]), flush=True)
    explored = [explorer_search(rng_seed, seconds) for rng_seed in seeds]
    for bug in REPAIRS:
        print(row("Explorer", bug, explored), flush=True)


if __name__ == "__main__":
    main()
