"""Reports on a scaling benchmark: its progress, the analysis as text for people, and both for programs."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from ordeal._base.formatting import JSON_SCHEMA_VERSION, counted, one_line

if TYPE_CHECKING:
    from ordeal.scaling.law import Doubt, Law
    from ordeal.scaling.trials import ScalingResult, TrialPlan, WorkerTrial

_TITLE = "Scaling Analysis (Universal Scaling Law)"
# The limits below and above which an optimum is called low or high.
_OPTIMUM_LOW, _OPTIMUM_HIGH = 4, 16
# Above this, an optimum only means that none is in sight.
_OPTIMUM_SHOWN_MAX = 1_000_000


# Progress


def benchmark_header(test_class: str, cpus: int, plan: TrialPlan, *, tests: int) -> str:
    """Return what will be done, and how long that takes; ``tests`` is how many entries the settings file has."""
    counts = ", ".join(str(count) for count in plan.worker_counts)
    trials = len(plan.worker_counts) * plan.repeat
    lines = [
        f"Benchmarking {one_line(test_class)}",
        f"  CPUs: {cpus}, max workers: {plan.max_workers}",
        f"  Time per trial: {plan.seconds:.1f}s, metric: {plan.metric}",
        (
            f"  {counted(trials, 'trial')}: N = {counts}, {counted(plan.repeat, 'time')} each; with the warm-up about "
            f"{_duration(plan.total_s)}"
        ),
    ]
    if tests > 1:
        lines.insert(1, f"  The first of {tests} [[tests]]; the others are left out")
    return "\n".join(lines)


def _duration(seconds: float) -> str:
    if seconds < 600:
        return f"{seconds:.0f}s" if seconds >= 10 else f"{seconds:.1f}s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def trial_line(trial: WorkerTrial, plan: TrialPlan) -> str:
    """Return the line of a finished trial."""
    rate = _rate(trial.throughput(plan.metric), plan)
    return f"  N={trial.workers:>2} ... {trial.runs:>7} runs, {trial.steps:>8} steps, {trial.edges:>5} edges, {rate}"


def _rate(throughput: float, plan: TrialPlan) -> str:
    return f"{_number(throughput)} {plan.metric}/s"


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


# The analysis


def scaling_report(result: ScalingResult) -> str:
    """Return the analysis, or the raw measurements and what is missing for one."""
    analysis = result.analysis
    if analysis.law is None or analysis.fit is None:
        lines = [_TITLE, "  Regime: inconclusive", "Raw measurements:", *_measurement_lines(result)]
        missing = [_doubt_text(doubt, result) for doubt in result.analysis.doubts]
        if result.analysis.fit is not None:
            missing.append(
                "Measure longer or more often, on a machine that does nothing else: "
                f"`--time {3 * result.plan.seconds:g}`, `--repeat {min(100, 2 * result.plan.repeat)}`."
            )
        lines += ["Missing:", *_indented([*missing, *_circumstances(result)])]
        return "\n".join([*lines, ""])
    law, fit = analysis.law, analysis.fit
    best, peak = law.optimal_workers, "no limit" if math.isinf(law.peak) else f"{law.peak:.2f}x"
    if best > _OPTIMUM_SHOWN_MAX and not math.isinf(law.peak):
        peak += " (never reached)"
    worst = max(range(len(fit.residuals)), key=lambda at: abs(fit.residuals[at]))
    where = f"{_signed(fit.residuals[worst])} at N={analysis.measurements[worst].workers}"
    lines = [
        _TITLE,
        f"  sigma (contention): {law.sigma:.6f}",
        f"  kappa (coherence): {law.kappa:.6f}",
        f"  Regime: {law.regime}",
        f"  Optimal workers: {f'{best:.1f}' if best <= _OPTIMUM_SHOWN_MAX else 'no limit'}",
        f"  Peak throughput: {peak}",
        "Diagnosis:",
        f"  Contention (sigma): {100 * law.sigma:.1f}% serialized fraction.",
        f"  Coherence (kappa): {law.kappa:.6f} cross-worker sync cost.",
        *_indented([*_verdicts(result, law), *_circumstances(result)]),
        "Fit:",
        f"  R^2 {fit.r_squared:.4f}, RMSE {fit.rmse:.3f}x, largest residual {where}",
        "Measurements:",
        *_measurement_lines(result),
    ]
    return "\n".join([*lines, ""])


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _verdicts(result: ScalingResult, law: Law) -> list[str]:
    """Return what the optimum means, and how reliable it is."""
    best, measured = law.optimal_workers, result.analysis.measurements[-1].workers
    lines = []
    if best < _OPTIMUM_LOW:
        lines.append(f"Fewer than {_OPTIMUM_LOW} workers are best: contention is high.")
    elif best > _OPTIMUM_HIGH:
        lines.append(f"More than {_OPTIMUM_HIGH} workers pay: it scales well.")
    if best > measured:
        lines.append(
            f"The optimum and the peak lie beyond the {measured} workers measured: they are extrapolated from there."
        )
    if len(result.analysis.measurements) == result.analysis.counts_min:
        lines.append("3 worker counts for 3 unknowns leave nothing to check the law against: measure a fourth.")
    return lines


def _circumstances(result: ScalingResult) -> list[str]:
    lines = []
    most = result.analysis.measurements[-1].workers
    if most > result.cpus:
        lines.append(f"Up to {most} workers shared {counted(result.cpus, 'CPU')}, which looks like contention.")
    if result.interrupted:
        planned = len(result.plan.worker_counts) * result.plan.repeat
        lines.append(f"Interrupted: {len(result.trials)} of {planned} trials were measured.")
    return lines


def _signed(share: float) -> str:
    return f"{100 * share:+.1f}%"


def _measurement_lines(result: ScalingResult) -> list[str]:
    analysis, lines = result.analysis, []
    for number, measurement in enumerate(analysis.measurements):
        workers, capacity = measurement.workers, analysis.capacity(measurement)
        times = f"{capacity:.0f}x" if capacity >= 100 else f"{capacity:.2f}x" if capacity >= 0.01 else "<0.01x"
        trials, (low, high) = len(measurement.throughputs), measurement.spread
        spread = " in 1 trial" if trials == 1 else f" ({_number(low)} to {_number(high)} in {trials} trials)"
        line = (
            f"  N={workers:>2}: {times} ({100 * capacity / workers:.1f}% efficient), "
            f"{_rate(measurement.mean, result.plan)}{spread}"
        )
        if analysis.law is not None and analysis.fit is not None:
            expected = analysis.fit.single * analysis.law.capacity(workers)
            line += f", fit {_number(expected)} ({_signed(analysis.fit.residuals[number])})"
        lines.append(line)
    return lines


def _doubt_text(doubt: Doubt, result: ScalingResult) -> str:
    analysis, fit, measurements = result.analysis, result.analysis.fit, result.analysis.measurements
    if doubt.value == "few_worker_counts" or fit is None:
        wanted = "`--max-workers 4`" + ("" if result.cpus >= 4 else ", on a machine that has 4 CPUs")
        have = " and ".join(str(measurement.workers) for measurement in measurements)
        need = f"Need at least {analysis.counts_min} data points (1, 2, 4+ workers) to fit USL"
        return f"{need}; there is N = {have}: {wanted}."
    if doubt.value == "low_r_squared":
        least = f"{analysis.r_squared_min:.2f}"
        found = math.floor(fit.r_squared * 1e4) / 1e4
        return f"The law explains too little of the measurements: R^2 is {found:.4f}, below {least}."
    far = [
        f"N={measurement.workers} by {_signed(residual)}"
        for measurement, residual in zip(measurements, fit.residuals, strict=True)
        if abs(residual) > analysis.residual_max
    ]
    return f"Measurements are more than {100 * analysis.residual_max:.0f}% off the law: {', '.join(far)}."


# JSON


def scaling_json(result: ScalingResult) -> str:
    """Return everything as JSON, ending in a newline. Infinite and unknown values are ``null``."""
    plan, fit = result.plan, result.analysis.fit
    document = {
        "schema_version": JSON_SCHEMA_VERSION,
        "tool": "benchmark",
        "test_class": result.test_class,
        "rng_seed": result.rng_seed,
        "cpus": result.cpus,
        "metric": plan.metric,
        "seconds_per_trial": plan.seconds,
        "repeat": plan.repeat,
        "interrupted": result.interrupted,
        "trials": [
            {
                "round": trial.round,
                "workers": trial.workers,
                "runs": trial.runs,
                "steps": trial.steps,
                "edges": trial.edges,
                "seconds": trial.seconds,
                "throughput": trial.throughput(plan.metric),
            }
            for trial in result.trials
        ],
        "measurements": [
            {
                "workers": each.workers,
                "trials": len(each.throughputs),
                "throughput": each.mean,
                "throughput_min": each.spread.low,
                "throughput_max": each.spread.high,
                "capacity": (capacity := result.analysis.capacity(each)),
                "efficiency": capacity / each.workers,
            }
            for each in result.analysis.measurements
        ],
        "regime": result.analysis.regime,
        "doubts": [doubt.value for doubt in result.analysis.doubts],
        "law": _law_record(result),
        # How well the best law describes the measurements, whether or not that is enough.
        "fit": fit and {"r_squared": fit.r_squared, "rmse": fit.rmse, "residuals": list(fit.residuals)},
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _law_record(result: ScalingResult) -> dict[str, Any] | None:
    """Return the reliable numbers, ``None`` when the measurements are inconclusive."""
    law, fit = result.analysis.law, result.analysis.fit
    if law is None or fit is None:
        return None
    return {
        "sigma": law.sigma,
        "kappa": law.kappa,
        "throughput_of_one": fit.single,
        "optimal_workers": _finite(law.optimal_workers),
        "peak_capacity": _finite(law.peak),
        "optimum_is_extrapolated": law.optimal_workers > result.analysis.measurements[-1].workers,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
