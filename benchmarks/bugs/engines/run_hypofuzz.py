"""HypoFuzz: its fuzz target, driven here without its dashboard and worker processes."""

import random

from hypofuzz import hypofuzz
from hypofuzz.database import HypofuzzDatabase
from hypothesis import HealthCheck, settings
from hypothesis.database import BackgroundWriteDatabase, InMemoryExampleDatabase
from hypothesis.internal.conjecture.data import ConjectureResult
from hypothesis.stateful import get_state_machine_test

from bugs.watch import LimitPassed, Watch, watched

STEPS_PER_RUN = 50


def search(watch: Watch, _modules: tuple[str, ...], rng_seed: int) -> None:
    """Fuzz until a finding or the limit."""
    if not hasattr(ConjectureResult, "slice_comments"):  # HypoFuzz 25.11 asks for it by its former name.
        setattr(ConjectureResult, "slice_comments", property(lambda self: self.span_comments))  # noqa: B010
    database = BackgroundWriteDatabase(InMemoryExampleDatabase())
    settings.register_profile("bugs", database=database, deadline=None, suppress_health_check=list(HealthCheck))
    settings.load_profile("bugs")
    machine = watched(watch, stop_at_limit=True)
    test = get_state_machine_test(machine, settings=settings(stateful_step_count=STEPS_PER_RUN))
    target = hypofuzz.FuzzTarget.from_hypothesis_test(test, database=HypofuzzDatabase(database))
    random.seed(rng_seed)
    target.random = random.Random(rng_seed)
    watch.start()
    try:
        target._enter_fixtures()
        while not watch.is_over():
            target.run_one()
    except LimitPassed:
        return
    except Exception:
        watch.settle()
        if watch.found is None:
            raise
    finally:
        watch.settle()
