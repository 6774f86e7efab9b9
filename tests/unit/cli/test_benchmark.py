"""``ordeal benchmark``: what it measures and says, as text and JSON, for good and wrong input."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from ordeal import __version__
from ordeal.config.options import ExplorationOptions
from ordeal.result import ExplorationResult, Failure
from ordeal.scaling.law import Law

from .conftest import Run, ScriptedExplorer, wrong_value
from .test_explore import ACCOUNT, MACHINES

TARGETS = '[explorer]\ntarget_modules = ["machines"]\n'
LAW = Law(0.080755, 0.005578)

Outcome = Callable[[dict[str, Any]], ExplorationResult]


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("machines.py").write_text(dedent(MACHINES))
    Path("ordeal.toml").write_text(ACCOUNT)
    monkeypatch.setattr("ordeal.cli.benchmark.usable_cpus", lambda: 8)


def explored(workers: int, throughput: float, **changes: Any) -> ExplorationResult:
    """An exploration of ten seconds; runs have 25 steps, and each second shows an edge for a hundred runs."""
    values: dict[str, Any] = {
        "test_class": "machines:Account",
        "rng_seed": 42,
        "total_runs": round(10 * throughput),
        "total_steps": round(250 * throughput),
        "unique_edges": round(throughput / 10),
        "checkpoints_saved": workers,
        "duration_seconds": 10.0,
    }
    return ExplorationResult(**{**values, **changes})


class ScalingExplorer(ScriptedExplorer):
    """Explores with the throughput that ``speed`` says for a number of workers, and for the number of the trial."""

    def __init__(self) -> None:
        super().__init__()
        self.speed: Callable[[int, int], float] = lambda workers, trial: 400 * LAW.capacity(workers)
        self.changes: dict[str, Any] = {}

    def explore(self, progress: Any = None, shrink_progress: Any = None) -> Any:
        workers = self.given[-1].workers
        return explored(workers, self.speed(workers, len(self.given) - 1), **self.changes)

    def workers(self) -> list[int]:
        """With how many workers each trial was, without the warm-up."""
        return [options.workers for options in self.given[1:]]


@pytest.fixture
def explorer(monkeypatch: pytest.MonkeyPatch) -> ScalingExplorer:
    scripted = ScalingExplorer()
    monkeypatch.setattr("ordeal.cli.explore.Explorer", scripted)
    # Collecting before each trial takes longer than all that is scripted.
    monkeypatch.setattr("gc.collect", lambda: 0)
    return scripted


def noise(workers: int, trial: int) -> float:
    """Throughputs of the law with three percent of noise, the same in each test."""
    return 400 * LAW.capacity(workers) * math.exp(random.Random(1000 * trial + workers).gauss(0, 0.03))


class TestAnalysis:
    def test_begins_with_the_lines_of_a_fitted_law(self, run: Run, explorer: ScalingExplorer) -> None:
        # Runs are counted, so it takes many of them for all digits of the law.
        explorer.speed = lambda workers, trial: 4_000_000 * LAW.capacity(workers)
        code, out, _ = run("benchmark")
        assert code == 0
        assert out.startswith(
            "Scaling Analysis (Universal Scaling Law)\n"
            "  sigma (contention): 0.080755\n"
            "  kappa (coherence): 0.005578\n"
            "  Regime: usl\n"
            "  Optimal workers: 12.8\n"
            "  Peak throughput: 4.58x\n"
            "Diagnosis:\n"
            "  Contention (sigma): 8.1% serialized fraction.\n"
            "  Coherence (kappa): 0.005578 cross-worker sync cost.\n"
        )
        assert (
            "  The optimum and the peak lie beyond the 8 workers measured: they are extrapolated from there.\n" in out
        )

    @pytest.mark.parametrize(
        ("law", "optimum", "peak", "regime"),
        [
            (Law(0.0, 0.0), "no limit", "no limit", "linear"),
            (Law(0.2, 0.0), "no limit", "5.00x (never reached)", "amdahl"),
            (Law(1.0, 0.0), "1.0", "1.00x", "amdahl"),
            (Law(0.1, 0.1), "3.0", "1.67x", "usl"),
        ],
    )
    def test_ends_of_the_law(
        self, run: Run, explorer: ScalingExplorer, law: Law, optimum: str, peak: str, regime: str
    ) -> None:
        explorer.speed = lambda workers, trial: 84_000_000 * law.capacity(workers)
        _, out, _ = run("benchmark")
        assert f"  Regime: {regime}\n  Optimal workers: {optimum}\n  Peak throughput: {peak}\n" in out
        assert ("Fewer than 4 workers are best" in out) is (optimum in ("1.0", "3.0"))
        assert ("it scales well" in out) is (optimum == "no limit")

    def test_says_that_three_counts_check_nothing(self, run: Run, explorer: ScalingExplorer) -> None:
        _, out, _ = run("benchmark", "--max-workers", "4", "--repeat", "1")
        assert "leave nothing to check the law against" in out

    @pytest.mark.parametrize(("metric", "rate"), [("runs", "400"), ("steps", "10000"), ("edges", "4")])
    def test_metric(self, run: Run, explorer: ScalingExplorer, metric: str, rate: str) -> None:
        Path("ordeal.toml").write_text(TARGETS + ACCOUNT)
        _, out, err = run("benchmark", "--metric", metric)
        assert f"  N= 1: 1.00x (100.0% efficient), {rate} {metric}/s" in out
        assert f"  N= 1 ...    4000 runs,   100000 steps,    40 edges, {rate} {metric}/s\n" in err


class TestInconclusive:
    def test_two_counts(self, run: Run, explorer: ScalingExplorer) -> None:
        explorer.speed = lambda workers, trial: {1: 400, 2: 732}[workers]
        assert run("benchmark", "--max-workers", "2")[:2] == (
            0,
            (
                "Scaling Analysis (Universal Scaling Law)\n"
                "  Regime: inconclusive\n"
                "Raw measurements:\n"
                "  N= 1: 1.00x (100.0% efficient), 400 runs/s (400 to 400 in 3 trials)\n"
                "  N= 2: 1.83x (91.5% efficient), 732 runs/s (732 to 732 in 3 trials)\n"
                "Missing:\n"
                "  Need at least 3 data points (1, 2, 4+ workers) to fit USL; there is N = 1 and 2: "
                "`--max-workers 4`.\n"
            ),
        )

    def test_measurements_off_the_law(self, run: Run, explorer: ScalingExplorer) -> None:
        explorer.speed = lambda workers, trial: {1: 100, 2: 190, 4: 150, 8: 500}[workers]
        code, out, _ = run("benchmark")
        assert code == 0
        assert "sigma" not in out
        assert "  N= 4: 1.50x (37.5% efficient), 150 runs/s" in out
        missing = out.split("Missing:\n")[1]
        assert "  The law explains too little of the measurements: R^2 is 0." in missing
        assert "  Measurements are more than 20% off the law: " in missing
        assert "N=4 by -" in missing
        assert "`--time 30`, `--repeat 6`" in missing


class TestTrials:
    def test_talk(self, run: Run, explorer: ScalingExplorer) -> None:
        Path("ordeal.toml").write_text(ACCOUNT + ACCOUNT)
        explorer.speed = lambda workers, trial: {1: 400, 2: 732}[workers]
        _, _, err = run("benchmark", "--max-workers", "2", "--repeat", "1", "--time", "2")
        header, talk = err.split("Benchmarking")
        options = "options: config=ordeal.toml max_workers=2 time=2.0 "
        assert header.startswith(f"ordeal {__version__}\nrng seed: 42\n{options}")
        assert " max_runs=" not in header
        assert talk == (
            " machines:Account\n"
            "  The first of 2 [[tests]]; the others are left out\n"
            "  CPUs: 8, max workers: 2\n"
            "  Time per trial: 2.0s, metric: runs\n"
            "  2 trials: N = 1, 2, 1 time each; with the warm-up about 5.0s\n"
            "  N= 1 ...    4000 runs,   100000 steps,    40 edges, 400 runs/s\n"
            "  N= 2 ...    7320 runs,   183000 steps,    73 edges, 732 runs/s\n"
        )

    @pytest.mark.parametrize(
        ("most", "counts"),
        [("1", [1]), ("2", [1, 2]), ("6", [1, 2, 4, 6]), ("8", [1, 2, 4, 8]), ("9", [1, 2, 4, 8, 9])],
    )
    def test_powers_of_two_and_the_most(
        self, run: Run, explorer: ScalingExplorer, most: str, counts: list[int]
    ) -> None:
        run("benchmark", "--max-workers", most, "--repeat", "1")
        assert explorer.workers() == counts

    def test_rounds_go_up_and_down_with_a_seed_each(self, run: Run, explorer: ScalingExplorer) -> None:
        run("benchmark", "--max-workers", "4", "--seed", str(2**64 - 1))
        assert explorer.workers() == [1, 2, 4, 4, 2, 1, 1, 2, 4]
        seeds = [options.seed for options in explorer.given[1:]]
        assert seeds == [2**64 - 1] * 3 + [0] * 3 + [1] * 3

    def test_settings_of_the_file_hold_but_for_what_a_trial_replaces(self, run: Run, explorer: ScalingExplorer) -> None:
        limits = "max_time = 99\nmax_runs = 5\npatience = 3\nworkers = 7\nfault_toggle_prob = 0.7\n"
        Path("ordeal.toml").write_text(f"[explorer]\n{limits}{ACCOUNT}steps_per_run = 9\n")
        run("benchmark", "--max-workers", "1", "--repeat", "1", "--time", "4")
        for options, seconds in zip(explorer.given, [1.0, 4.0], strict=True):
            assert options == ExplorationOptions(
                max_time=seconds, steps_per_run=9, fault_toggle_prob=0.7, workers=1, shrink=False, isolate=True
            )

    def test_nothing_that_is_found_is_saved(self, run: Run, explorer: ScalingExplorer) -> None:
        failure = Failure(error=ValueError("bad"), step=1, run_id=1, active_faults=[], rule_log=[])
        explorer.changes = {"failures": [failure], "notes": ("Something to know.",)}
        code, _, err = run("benchmark", "--max-workers", "2", "--repeat", "2")
        assert code == 0
        assert err.count("  note: Something to know.\n") == 1
        assert "4 trials met failures; `ordeal explore` reports and saves them\n" in err
        assert all(options.corpus_dir is None for options in explorer.given)
        assert not Path(".ordeal").exists()

    def test_a_trial_without_a_run(self, run: Run, explorer: ScalingExplorer) -> None:
        explorer.speed = lambda workers, trial: 0.0
        code, out, err = run("benchmark")
        assert (code, out) == (2, "")
        assert err.endswith(
            "error: a trial of 10s with 1 worker(s) counted no runs\n\n"
            "hint: give each trial more time, for example `--time 100`\n"
        )


class TestInterrupt:
    def test_before_the_first_trial(self, run: Run, explorer: ScalingExplorer) -> None:
        explorer.changes = {"stopped_reason": "interrupted"}
        code, out, err = run("benchmark")
        assert (code, out) == (130, "")
        assert err.endswith("interrupted: nothing was measured yet\n")

    def test_what_was_measured_until_then_is_told(self, run: Run, explorer: ScalingExplorer) -> None:
        def speed(workers: int, trial: int) -> float:
            if trial == 6:
                raise KeyboardInterrupt
            return 400 * LAW.capacity(workers)

        explorer.speed = speed
        code, out, err = run("benchmark")
        assert code == 130
        assert err.endswith("interrupted: the report shows what was measured so far\n")
        assert "  Interrupted: 5 of 12 trials were measured.\n" in out
        assert "  Regime: usl\n" in out


class TestJson:
    def test_all_of_it(self, run: Run, explorer: ScalingExplorer) -> None:
        explorer.speed = noise
        code, out, _ = run("benchmark", "--json", "--seed", "7")
        document = json.loads(out)
        assert code == 0
        assert list(document) == [
            "schema_version",
            "tool",
            "test_class",
            "rng_seed",
            "cpus",
            "metric",
            "seconds_per_trial",
            "repeat",
            "interrupted",
            "trials",
            "measurements",
            "regime",
            "doubts",
            "law",
            "fit",
        ]
        assert (document["schema_version"], document["tool"], document["rng_seed"]) == (1, "benchmark", 7)
        assert [trial["workers"] for trial in document["trials"]] == [1, 2, 4, 8, 8, 4, 2, 1, 1, 2, 4, 8]
        assert [row["workers"] for row in document["measurements"]] == [1, 2, 4, 8]
        assert document["measurements"][0]["capacity"] == 1
        assert 0 <= document["law"]["sigma"] <= 1
        assert document["law"]["optimum_is_extrapolated"] is True
        assert set(document["fit"]) == {"r_squared", "rmse", "residuals"}

    def test_what_is_infinite_is_null(self, run: Run, explorer: ScalingExplorer) -> None:
        explorer.speed = lambda workers, trial: 1000.0 * workers
        law = json.loads(run("benchmark", "--json")[1])["law"]
        assert (law["optimal_workers"], law["peak_capacity"]) == (None, None)


class TestWrongUse:
    @pytest.mark.parametrize(
        ("option", "value", "shown", "kind", "example"),
        [
            ("--max-workers", "0", "0", "a whole number from 1 to 4096", "4"),
            ("--time", "0", "0", "a number of seconds above 0", "60"),
            ("--time", "soon", '"soon"', "a number of seconds above 0", "60"),
            ("--metric", "bugs", '"bugs"', "one of runs, steps, edges", "runs"),
            ("--repeat", "101", "101", "a whole number from 1 to 100", "3"),
            ("--seed", "-1", "-1", "a whole number from 0 to 2**64 - 1", "42"),
        ],
    )
    def test_a_wrong_value(
        self, run: Run, explorer: ScalingExplorer, option: str, value: str, shown: str, kind: str, example: str
    ) -> None:
        assert run("benchmark", option, value) == (2, "", wrong_value(option, shown, kind, example))
        assert not explorer.given

    @pytest.mark.parametrize(
        ("arguments", "message", "hint"),
        [
            (
                ["--metric", "edges"],
                "`--metric edges` counts edges of the target modules, and ordeal.toml names none",
                "name them in `target_modules` of [explorer], or write `--metric runs`",
            ),
            (
                ["-c", "missing.toml"],
                "config file not found: missing.toml",
                "run `ordeal init` to create one, or name a file with `--config PATH`",
            ),
            (["--worker", "3"], "no option named `--worker`", "did you mean `--max-workers`?"),
        ],
    )
    def test_is_said_before_anything_is_measured(
        self, run: Run, explorer: ScalingExplorer, arguments: list[str], message: str, hint: str
    ) -> None:
        assert run("benchmark", *arguments) == (2, "", f"error: {message}\n\nhint: {hint}\n")
        assert not explorer.given


def test_with_the_engine_behind_it(run: Run) -> None:
    Path("ordeal.toml").write_text(TARGETS + ACCOUNT)
    code, out, err = run("benchmark", "--time", "1", "--max-workers", "2", "--repeat", "1", "--json")
    assert code == 0, err
    document = json.loads(out)
    assert [trial["workers"] for trial in document["trials"]] == [1, 2]
    assert all(trial["runs"] > 0 and trial["throughput"] > 0 for trial in document["trials"])
    assert err.count(" runs/s\n") == 2
