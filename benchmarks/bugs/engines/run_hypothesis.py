"""Hypothesis: runs of at most fifty steps without end, in the one phase that generates."""

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis.stateful import run_state_machine_as_test

from bugs.watch import LimitPassed, Watch, watched

STEPS_PER_RUN = 50


def search(watch: Watch, _modules: tuple[str, ...], rng_seed: int) -> None:
    """Generate until a finding or the limit."""
    machine = watched(watch, stop_at_limit=True)
    hypothesis.seed(rng_seed)(machine)
    generate = settings(
        max_examples=10**9,
        stateful_step_count=STEPS_PER_RUN,
        deadline=None,
        database=None,
        print_blob=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    watch.start()
    try:
        run_state_machine_as_test(machine, settings=generate)
    except LimitPassed:
        return
    except Exception:  # noqa: BLE001  The failure, which the watch has seen and judges for itself.
        return
    finally:
        watch.settle()
