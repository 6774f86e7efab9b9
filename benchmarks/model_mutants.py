"""How many operations pairs take to find the bugs planted in a dictionary, a deque, a heap and a cache.

usage: python benchmarks/model_mutants.py [--seeds N ...] [--alarm [N]]

The systems, their pairs and the bugs are those of tests/puzzles/model_pairs. An operation is what is done to both. With
--alarm, the pairs of the systems without bugs do so many operations, a million if none are given: none may fail.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
from harness.report import command, host, table
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import HypothesisException
from hypothesis.stateful import run_state_machine_as_test

from ordeal.explore import Explorer
from ordeal.model import Pair
from ordeal.result import ProgressSnapshot

if TYPE_CHECKING:
    from tests.puzzles.model_pairs.mutants import Mutant

ROOT = Path(__file__).parents[1]
SEEDS = (42, *range(1, 10))
OPERATIONS_MAX = 20_000
ALARM_OPERATIONS = 1_000_000
UNLIMITED_S = 3600.0


@dataclass(slots=True)
class Tally:
    """The operations so far, and how many they were when a machine failed for the first time."""

    operations: int = 0
    until_failure: int | None = None

    def ended(self, error: BaseException | None) -> None:
        """A run has ended, by ``error`` or well."""
        failed = isinstance(error, Exception) and not isinstance(error, HypothesisException)
        if failed and self.until_failure is None:
            self.until_failure = self.operations


def counted(pair: type[Pair], tally: Tally) -> type[Pair]:
    """The pair, counting into ``tally``."""

    class Counted(pair):  # type: ignore[misc, valid-type]
        def both(self, operation: Any, /, *args: Any, **kwargs: Any) -> Any:
            tally.operations += 1
            return super().both(operation, *args, **kwargs)

        def teardown(self) -> None:
            tally.ended(sys.exception())
            super().teardown()

    Counted.__name__ = Counted.__qualname__ = pair.__name__
    return Counted


def explore(pair: type[Pair], rng_seed: int, operations_max: int) -> Tally:
    """Explore until a machine fails, or so many operations are done."""
    tally = Tally()

    def stop(_now: ProgressSnapshot) -> None:
        if tally.until_failure is not None or tally.operations >= operations_max:
            raise KeyboardInterrupt  # What a user would do.

    explorer = Explorer(counted(pair, tally), target_modules=[pair.impl.__module__], seed=rng_seed, workers=1)
    explorer.run(max_time=UNLIMITED_S, shrink=False, progress=stop)
    return tally


def generate(pair: type[Pair], rng_seed: int, operations_max: int) -> Tally:
    """The same under Hypothesis alone, as pytest runs it, with runs of up to 50 steps."""
    tally = Tally()
    generate_only = settings(
        max_examples=operations_max // 50,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(hypothesis.seed(rng_seed)(counted(pair, tally)), settings=generate_only)
    except Exception:
        if tally.until_failure is None:
            raise
    return tally


Engine = Callable[[type[Pair], int, int], Tally]
ENGINES: dict[str, Engine] = {"Explorer": explore, "Hypothesis": generate}


def cells(searches: list[Tally]) -> list[str]:
    """Found how often, and after how many operations: the least, the median, the most."""
    found = [search.until_failure for search in searches if search.until_failure is not None]
    # One that was not found counts as the limit.
    counts = [OPERATIONS_MAX if search.until_failure is None else search.until_failure for search in searches]
    return [
        f"{len(found)} of {len(searches)}",
        f"{min(counts):,} / {statistics.median(counts):,.0f} / {max(counts):,}",
    ]


def row(mutant: "Mutant", pair: type[Pair], seeds: list[int]) -> list[str]:
    """The table row of a bug."""
    searches = [cells([engine(pair, rng_seed, OPERATIONS_MAX) for rng_seed in seeds]) for engine in ENGINES.values()]
    return [f"{mutant.pair.impl.__name__}: {mutant.name}", *(cell for search in searches for cell in search)]


def find_mutants(seeds: list[int]) -> None:
    """Search for each bug, and print the table."""
    from tests.puzzles.model_pairs.mutants import MUTANTS  # noqa: PLC0415 - main() makes it importable

    print(f"operations until the bug is found, {OPERATIONS_MAX:,} at most: min / median / max\n")
    header = ["system: bug", *(cell for name in ENGINES for cell in (f"{name}: found", "operations"))]
    with tempfile.TemporaryDirectory() as folder:
        print(table(header, [row(mutant, mutant.planted(Path(folder)), seeds) for mutant in MUTANTS]))


def without_bugs(pair: type[Pair], engine: Engine, operations: int) -> list[str]:
    """How many operations were done in how much time, and where one of them failed, as cells of a table."""
    done, rng_seed = 0, 0
    started = time.process_time()
    while done < operations:
        rng_seed += 1
        # In parts, each with a seed of its own: Hypothesis remembers all that it has tried.
        tally = engine(pair, rng_seed, min(OPERATIONS_MAX, operations))
        done += tally.operations
        if tally.until_failure is not None:
            return [f"{done:,}", f"with seed {rng_seed}", ""]
    return [f"{done:,}", "none", f"{time.process_time() - started:.0f}"]


def raise_no_alarm(operations: int) -> None:
    """Run the pairs whose systems have no bug, and print the table."""
    from tests.puzzles.model_pairs import pairs  # noqa: PLC0415 - main() makes it importable

    rows = [
        [pair.impl.__name__, name, *without_bugs(pair, engine, operations)]
        for pair in (pairs.DictPair, pairs.DequePair, pairs.QueuePair, pairs.CachePair)
        for name, engine in ENGINES.items()
    ]
    print(table(["system", "engine", "operations", "alarm", "CPU s"], rows))


def main() -> None:
    """Search, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), help="42 and 1 to 9")
    parser.add_argument("--alarm", type=int, nargs="?", const=ALARM_OPERATIONS, help="the systems without bugs")
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT))  # The tests are a package of the checkout, which nothing installs.
    print(f"{host()}, Hypothesis {hypothesis.__version__}\n`{command()}`")
    if arguments.alarm is None:
        find_mutants(arguments.seeds)
    else:
        raise_no_alarm(arguments.alarm)


if __name__ == "__main__":
    main()
