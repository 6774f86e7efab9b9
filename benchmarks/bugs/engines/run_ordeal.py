"""ordeal: this project's Explorer or the public one, with their defaults; both go on after a failure until stopped."""

import random

import hypothesis.core

from bugs.watch import Watch, faults_of, watched
from ordeal import ChaosTest
from ordeal.explore import Explorer
from ordeal.faults import LambdaFault

STEPS_PER_RUN = 50
# The limit is on processor time, which the engine does not know; this ends a search only when something is stuck.
WALL_TIMES = 10


class Stop(int):
    """A number of runs that counts as reached once a search is over, as the public ordeal knows no other way to end."""

    watch: Watch
    reported: list[int]

    def __le__(self, other: int) -> bool:
        return self._is_over() or int(self) <= other

    def __lt__(self, other: int) -> bool:
        return self._is_over() or int(self) < other

    def _is_over(self) -> bool:
        over = self.watch.is_over()
        return over and (self.watch.found is None or bool(self.reported[0]))


def search(watch: Watch, modules: tuple[str, ...], rng_seed: int) -> None:
    """Explore until a finding that the engine reports, or the limit."""
    random.seed(rng_seed)  # The public one draws arguments from Hypothesis' generators, not from its own seed.
    hypothesis.core.threadlocal._hypothesis_global_random = random.Random(rng_seed)
    faults = [LambdaFault(name, on_activate=on, on_deactivate=off) for name, on, off in faults_of(watch.module)]
    machine = watched(watch, base=ChaosTest, faults=faults, stop_at_limit=False)
    stop = Stop(2**31 - 1)
    stop.watch, stop.reported = watch, [0]

    def told(progress: object) -> None:
        stop.reported[0] = getattr(progress, "failures", 0)
        if stop._is_over():
            raise KeyboardInterrupt

    explorer = Explorer(machine, target_modules=list(modules), seed=rng_seed, workers=1)
    watch.start()
    try:
        explorer.run(
            max_time=watch.limit_s * WALL_TIMES,
            max_runs=stop,
            steps_per_run=STEPS_PER_RUN,
            shrink=False,
            progress=told,
        )
    except KeyboardInterrupt:
        return
    finally:
        watch.settle()
