"""``ordeal benchmark``: measures how exploring scales with the number of workers, and fits a law to it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from typing import Any

import ordeal._native as _native
from ordeal._base.formatting import one_line
from ordeal._base.interpreter import usable_cpus
from ordeal._base.limits import SEED_MAX
from ordeal._report.exploration import session_header
from ordeal._report.scaling import benchmark_header, scaling_json, scaling_report, trial_line
from ordeal.cli import terminal
from ordeal.cli.explore import exploration_options, make_explorer
from ordeal.config.flags import BenchmarkConfig
from ordeal.config.options import ExplorerConfig, options_of_entry
from ordeal.config.settings_file import OrdealConfig, load_config
from ordeal.config.table import values_of
from ordeal.errors import INTERRUPTED, ConfigError
from ordeal.result import ExplorationResult
from ordeal.scaling.law import analyse
from ordeal.scaling.trials import ScalingResult, TrialPlan, WorkerTrial, measurements_of

# Settings that the trials replace: each explores for its time, with its number of workers.
_REPLACED = ("seed", "max_time", "max_runs", "patience", "workers")


def run(given: Mapping[str, Any]) -> int:
    """Measure with the options of the command line, by name; ``None`` means not given."""
    options = BenchmarkConfig().with_flags(given)
    config = load_config(options.config)
    config = config.replaced(explorer=config.explorer.with_flags(given))
    if options.metric == "edges" and not config.explorer.target_modules:
        raise ConfigError(  # now, and not after all measurements
            f"`--metric edges` counts edges of the target modules, and {options.config} names none",
            hint="name them in `target_modules` of [explorer], or write `--metric runs`",
        )
    cpus = usable_cpus()
    plan = TrialPlan(
        max_workers=cpus if options.max_workers is None else options.max_workers,
        seconds=options.time,
        metric=options.metric,
        repeat=options.repeat,
    )
    terminal.say(session_header(_native.__version__, config.explorer.seed, _shown(options, plan, config)))
    test = config.tests[0]
    terminal.say(benchmark_header(test.class_path, cpus, plan, tests=len(config.tests)))
    trials = _Trials(config, plan)
    with terminal.termination_interrupts():
        trials.run_all()
    if not trials.done:
        terminal.say("interrupted: nothing was measured yet")
        return INTERRUPTED
    if trials.interrupted:
        terminal.say("interrupted: the report shows what was measured so far")
    result = ScalingResult(
        test_class=test.class_path,
        rng_seed=config.explorer.seed,
        cpus=cpus,
        plan=plan,
        trials=tuple(trials.done),
        analysis=analyse(measurements_of(trials.done, plan.metric)),
        interrupted=trials.interrupted,
    )
    terminal.write(scaling_json(result) if options.json else scaling_report(result))
    return INTERRUPTED if trials.interrupted else 0


def _shown(options: BenchmarkConfig, plan: TrialPlan, config: OrdealConfig) -> dict[str, object]:
    """Return every option of the benchmark, whether given or by default, and the settings that the trials use."""
    settings = [name for name in ExplorerConfig.options if name not in _REPLACED]
    return {
        **{name: value for name, value in values_of(options).items() if name != "json"},
        "max_workers": plan.max_workers,
        **{name: getattr(config.explorer, name) for name in settings},
    }


class _Trials:
    """Runs the trials of a plan one after the other, and keeps the measurements."""

    def __init__(self, config: OrdealConfig, plan: TrialPlan) -> None:
        self._config = config
        self._plan = plan
        self._told: set[str] = set()
        self._failing = 0
        self.done: list[WorkerTrial] = []
        self.interrupted = False

    def run_all(self) -> None:
        """Warm up, then run the trials. An interrupt ends them and discards the trial under way."""
        if self._explore(1, 1, self._plan.warm_up_s) is None:
            return
        for number, workers in self._plan.trials():
            result = self._explore(number, workers, self._plan.seconds)
            if result is None:
                break
            self._keep(number, workers, result)
        if self._failing:
            terminal.say(f"{self._failing} trials met failures; `ordeal explore` reports and saves them")

    def _explore(self, number: int, workers: int, seconds: float) -> ExplorationResult | None:
        """Explore with a seed of the round: trials of a round do the same work, and rounds differ."""
        seed = (self._config.explorer.seed + number - 1) % (SEED_MAX + 1)
        test = self._config.tests[0]
        options = exploration_options(
            self._config,
            workers=workers,
            seed=seed,
            max_time=seconds,
            shrink=False,
            # This machine is measured, even if the settings name others.
            on=None,
            store=None,
            max_runs=None,
            patience=0,
        )
        options = options_of_entry(options, test)
        # Garbage of earlier trials is collected outside the measured time.
        gc.collect()
        try:
            # Output of the program under test belongs on stderr; on stdout it would end up inside the result.
            with redirect_stdout(sys.stderr):
                result = make_explorer(test, options).explore()
        except KeyboardInterrupt:
            self.interrupted = True
            return None
        self.interrupted = result.stopped_reason == "interrupted"
        return None if self.interrupted else result

    def _keep(self, number: int, workers: int, result: ExplorationResult) -> None:
        trial = WorkerTrial(
            round=number,
            workers=workers,
            runs=result.total_runs,
            steps=result.total_steps,
            edges=result.unique_edges,
            seconds=result.duration_seconds,
        )
        if not trial.throughput(self._plan.metric):
            raise ConfigError(
                f"a trial of {self._plan.seconds:g}s with {workers} worker(s) counted no {self._plan.metric}",
                hint=f"give each trial more time, for example `--time {max(30.0, 10 * self._plan.seconds):g}`",
            )
        self.done.append(trial)
        terminal.say(trial_line(trial, self._plan))
        self._failing += bool(result.failures)
        for note in result.notes:
            if note not in self._told:
                terminal.say(f"  note: {one_line(note)}")
                self._told.add(note)
