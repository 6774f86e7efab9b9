"""The fit of the Universal Scaling Law: known laws are recovered, bounds hold, doubts are said."""

from __future__ import annotations

import math
import random
from itertools import product

import pytest

from ordeal.errors import ConfigError
from ordeal.scaling.law import Analysis, Doubt, Fit, Law, Measurement, analyse

POWERS = (1, 2, 4, 8, 16)


def measured(law: Law, counts: tuple[int, ...] = POWERS, *, of_one: float = 400.0) -> list[Measurement]:
    """One trial each, without noise."""
    return [Measurement(count, (of_one * law.capacity(count),)) for count in counts]


def fit_of(analysis: Analysis) -> Fit:
    assert analysis.fit is not None
    return analysis.fit


class TestLaw:
    def test_capacity_is_that_of_the_formula(self) -> None:
        assert Law(0.1, 0.01).capacity(8) == pytest.approx(8 / (1 + 0.1 * 7 + 0.01 * 8 * 7))
        assert Law(0.3, 0.2).capacity(1) == 1

    def test_no_other_number_of_workers_beats_the_optimum(self) -> None:
        law = Law(0.080755, 0.005578)
        assert law.optimal_workers == pytest.approx(math.sqrt((1 - 0.080755) / 0.005578))
        assert law.peak == law.capacity(law.optimal_workers)
        assert all(law.capacity(count) <= law.peak for count in range(1, 200))

    @pytest.mark.parametrize(
        ("sigma", "kappa", "best", "peak"),
        [
            (0.0, 0.0, math.inf, math.inf),
            (0.05, 0.0, math.inf, 20.0),  # neared, never reached
            (1.0, 0.0, 1.0, 1.0),
            (1.0, 0.5, 1.0, 1.0),
            (0.2, 5.0, 1.0, 1.0),  # the formula puts the optimum below one worker
        ],
    )
    def test_ends(self, sigma: float, kappa: float, best: float, peak: float) -> None:
        law = Law(sigma, kappa)
        assert law.optimal_workers == best
        assert law.peak == pytest.approx(peak)

    @pytest.mark.parametrize(
        ("sigma", "kappa", "regime"),
        [
            (0.0, 0.0, "linear"),
            (0.0099, 0.00009, "linear"),
            (0.01, 0.00009, "amdahl"),
            (0.5, 0.0, "amdahl"),
            (0.0, 0.0001, "usl"),
            (0.5, 0.1, "usl"),
        ],
    )
    def test_regime(self, sigma: float, kappa: float, regime: str) -> None:
        assert Law(sigma, kappa).regime == regime


class TestRecovery:
    @pytest.mark.parametrize(
        ("sigma", "kappa"), [*product([0.0, 0.01, 0.080755, 0.5, 1.0], [0.0, 1e-6, 0.005578, 0.3])]
    )
    def test_a_law_without_noise_comes_back(self, sigma: float, kappa: float) -> None:
        analysis = analyse(measured(Law(sigma, kappa)))
        fit = fit_of(analysis)
        assert fit.law.sigma == pytest.approx(sigma, abs=1e-12)
        assert fit.law.kappa == pytest.approx(kappa, abs=1e-12)
        assert fit.single == pytest.approx(400)
        assert fit.rmse < 1e-9
        assert analysis.law == fit.law

    def test_three_counts_are_enough(self) -> None:
        fit = fit_of(analyse(measured(Law(0.1, 0.02), (1, 2, 4))))
        assert fit.law.sigma == pytest.approx(0.1)
        assert fit.law.kappa == pytest.approx(0.02)

    def test_one_slow_trial_of_one_worker_does_not_scale_all_others(self) -> None:
        measurements = measured(Law(0.08, 0.005))
        measurements[0] = Measurement(1, (340.0,))
        fit = fit_of(analyse(measurements))
        assert 340 < fit.single < 400
        assert fit.residuals[0] < 0


class TestBounds:
    @pytest.mark.parametrize(
        ("throughputs", "sigma", "kappa"),
        [
            ((100, 220, 460, 950, 1950), 0.0, 0.0),  # more than twice as much by twice as many
            ((100, 70, 80, 80, 80), 1.0, None),  # the second worker is a loss
            ((100, 190, 380, 790, 1700), 0.0, 0.0),
            ((1000, 794, 712, 663, 618), 1.0, None),  # the more, the worse
        ],
    )
    def test_parameters_lie_on_them_exactly(
        self, throughputs: tuple[int, ...], sigma: float, kappa: float | None
    ) -> None:
        fit = fit_of(analyse([Measurement(n, (float(x),)) for n, x in zip(POWERS, throughputs, strict=True)]))
        assert fit.law.sigma == sigma
        assert kappa is None or fit.law.kappa == kappa

    def test_they_hold_for_any_measurements_and_nothing_within_them_is_better(self) -> None:
        rng = random.Random(11)
        for _ in range(60):
            throughputs = [rng.uniform(10, 400) for _ in range(4)]
            counts = (1, 2, 4, 8)
            fit = fit_of(analyse([Measurement(n, (x,)) for n, x in zip(counts, throughputs, strict=True)]))
            assert 0 <= fit.law.sigma <= 1
            assert fit.law.kappa >= 0

            def cost(
                single: float,
                law: Law,
                counts: tuple[int, ...] = counts,
                throughputs: list[float] = throughputs,
            ) -> float:
                pairs = zip(counts, throughputs, strict=True)
                return math.fsum((x / (single * law.capacity(n)) - 1) ** 2 for n, x in pairs)

            best = cost(fit.single, fit.law)
            for _ in range(30):
                sigma = min(1.0, max(0.0, fit.law.sigma + rng.gauss(0, 0.02)))
                kappa = max(0.0, fit.law.kappa + rng.gauss(0, 0.005))
                assert cost(fit.single * math.exp(rng.gauss(0, 0.02)), Law(sigma, kappa)) >= best - 1e-12


class TestDoubts:
    @pytest.mark.parametrize("counts", [(1,), (1, 2), (1, 64)])
    def test_fewer_than_three_counts_are_no_ground_for_a_law(self, counts: tuple[int, ...]) -> None:
        analysis = analyse(measured(Law(0.1, 0.01), counts))
        assert (analysis.fit, analysis.law, analysis.regime) == (None, None, "inconclusive")
        assert analysis.doubts == (Doubt.FEW_COUNTS,)
        assert analysis.capacity(analysis.measurements[-1]) == pytest.approx(Law(0.1, 0.01).capacity(counts[-1]))

    def test_a_measurement_far_off(self) -> None:
        measurements = measured(Law(0.05, 0.001))
        measurements[2] = Measurement(4, (0.5 * measurements[2].mean,))
        analysis = analyse(measurements)
        assert Doubt.LARGE_RESIDUAL in analysis.doubts
        assert (analysis.law, analysis.regime) == (None, "inconclusive")
        assert fit_of(analysis).largest_residual == pytest.approx(max(map(abs, fit_of(analysis).residuals)))

    def test_a_law_that_explains_little(self) -> None:
        analysis = analyse([Measurement(n, (x,)) for n, x in zip(POWERS, (100.0, 112, 95, 110, 96), strict=True)])
        assert fit_of(analysis).r_squared < 0.9
        assert analysis.doubts == (Doubt.LOW_R_SQUARED,)

    def test_a_throughput_that_hardly_changes_is_no_reason_to_doubt(self) -> None:
        # R^2 is low as there is no variance to explain, yet nothing could be clearer: more workers bring nothing.
        analysis = analyse([Measurement(n, (x,)) for n, x in zip(POWERS, (100.0, 101, 99.5, 100.4, 99.8), strict=True)])
        assert fit_of(analysis).r_squared < 0.9
        assert analysis.doubts == ()
        assert analysis.law is not None
        assert analysis.law.sigma > 0.98

    def test_constant_throughputs(self) -> None:
        analysis = analyse([Measurement(n, (100.0, 100.0)) for n in POWERS])
        assert analysis.law == Law(1.0, 0.0)


class TestRefusals:
    @pytest.mark.parametrize("counts", [(), (2, 4, 8), (1, 4, 2), (1, 2, 2)])
    def test_counts_that_do_not_rise_from_one(self, counts: tuple[int, ...]) -> None:
        with pytest.raises(ConfigError, match="the worker counts are"):
            analyse([Measurement(count, (1.0,)) for count in counts])

    @pytest.mark.parametrize("throughputs", [(), (0.0,), (1.0, -1.0), (math.nan,), (math.inf,)])
    def test_throughputs_that_are_none(self, throughputs: tuple[float, ...]) -> None:
        with pytest.raises(ConfigError, match="the throughputs of 2 workers are"):
            analyse([Measurement(1, (1.0,)), Measurement(2, throughputs)])
