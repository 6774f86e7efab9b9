"""Atheris: libFuzzer over the bytes from which Hypothesis makes a run, the library's modules instrumented."""

import sys
from collections.abc import Callable
from typing import Any, NoReturn

import atheris
from hypothesis import HealthCheck, settings
from hypothesis.stateful import get_state_machine_test

from bugs.watch import LimitPassed, Watch, watched

STEPS_PER_RUN = 50
BYTES_MAX = 8_192


def search(watch: Watch, _modules: tuple[str, ...], rng_seed: int, done: Callable[[], NoReturn]) -> None:
    """Fuzz until a finding or the limit. libFuzzer ends the process, so ``done`` tells the outcome before."""
    machine = watched(watch, stop_at_limit=True)
    quick = settings(
        stateful_step_count=STEPS_PER_RUN, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    test: Any = get_state_machine_test(machine, settings=quick)
    fuzz_one_input = test.hypothesis.fuzz_one_input

    def once(data: bytes) -> None:
        try:
            fuzz_one_input(data)
        except (LimitPassed, Exception):  # noqa: BLE001  The watch has seen a failure and judges for itself.
            watch.settle()
        if watch.is_over():
            done()

    watch.start()
    atheris.Setup([sys.argv[0], f"-seed={rng_seed + 1}", f"-max_len={BYTES_MAX}", "-verbosity=0"], once)
    atheris.Fuzz()
