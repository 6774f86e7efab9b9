"""Each capability of the Explorer against the smallest machine whose bug only that capability finds in the budget."""

import functools
from typing import Any

import pytest

import ordeal._native as _native
from ordeal.chaos import ChaosTest
from ordeal.config.options import ExplorationOptions
from ordeal.explore import Explorer

from .brim import Brim
from .busy_desk import BusyDesk, EvenDesk, SharedDesk
from .dead_ends import DeadEnds
from .deep_chain import DeepChain
from .far_limit import AimedHigh, FarLimit, ToldDistance
from .full_shelf import FullShelf
from .handed_out import Guessed, HandedOut
from .hidden_progress import HiddenProgress, SpokenProgress, ToldProgress
from .magic_header import MagicHeader
from .met_again import MetAgain
from .relay_race import RelayRace
from .secret_key import SecretKey
from .secret_number import SecretNumber
from .shifted_code import ShiftedCode
from .two_faults import TwoFaults
from .two_keys import TwoKeys
from .which_key import WhichKey
from .worn_mill import WornMill
from .written_word import WrittenWord

# Runs end these searches, the clock must not: the same seed then gives the same answer on any machine.
UNLIMITED_S = 3600.0

pytestmark = pytest.mark.slow


def times(many: int) -> pytest.MarkDecorator:
    """Gives the search without the capability as many runs as the one with it; so many times that, each night."""
    return pytest.mark.parametrize("times", [1, pytest.param(many, marks=pytest.mark.nightly)])


def solved(puzzle: type[ChaosTest], *, max_runs: int, seed: int = 42, **options: Any) -> bool:
    """Whether the Explorer finds the puzzle's bug within so many runs, in fixed shares unless the options say other."""
    given: dict[str, Any] = {"swarm_policy": "classic", "target_modules": [puzzle.__module__]} | options
    explorer = Explorer.of(puzzle, ExplorationOptions().with_arguments(seed=seed, **given))
    result = explorer.run(max_time=UNLIMITED_S, max_runs=max_runs, shrink=False)
    assert result.stopped_reason == "max_runs"
    return bool(result.failures)


SESSION = _native.Session


@pytest.fixture(autouse=True)
def without(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Switches kinds of features off; from the start that of numbers, which lead to most of the bugs here alone."""

    def switch_off(*kinds: str) -> None:
        monkeypatch.setattr(_native, "Session", functools.partial(SESSION, features_off=("magnitude", *kinds)))

    switch_off()
    return switch_off


@pytest.mark.nightly
def test_checkpoints_climb_a_deep_chain() -> None:
    assert solved(DeepChain, max_runs=6000)
    assert not solved(DeepChain, max_runs=6000, checkpoint_prob=0.0)


def test_fault_toggles_bring_two_faults_together() -> None:
    assert solved(TwoFaults, max_runs=50)
    assert not solved(TwoFaults, max_runs=50, fault_toggle_prob=0.0)


def test_swarm_leaves_out_the_rules_that_undo() -> None:
    assert solved(FullShelf, max_runs=1500, rule_swarm=True)
    assert not solved(FullShelf, max_runs=1500, rule_swarm=False)


def test_weights_let_one_rule_dominate_where_none_may_be_left_out() -> None:
    # Without checkpoints, from which a run that leaves out the others could go on where they have been.
    assert solved(BusyDesk, max_runs=1000, seed=45, checkpoint_prob=0.0)
    assert not solved(EvenDesk, max_runs=1000, seed=45, checkpoint_prob=0.0)
    assert not solved(EvenDesk, max_runs=1000, seed=45, checkpoint_prob=0.0, rule_swarm=True)
    assert not solved(SharedDesk, max_runs=1000, seed=45, checkpoint_prob=0.0)


def test_energy_leaves_a_dead_end_alone() -> None:
    # What is compared may lead a run there that begins afresh, whichever checkpoints are chosen.
    options: dict[str, Any] = {"max_runs": 3000, "seed": 49, "comparison_tracing": "off"}
    assert solved(DeadEnds, checkpoint_strategy="energy", **options)
    assert not solved(DeadEnds, checkpoint_strategy="uniform", **options)


@pytest.mark.nightly
def test_energy_leaves_dead_ends_alone() -> None:
    seeds = range(42, 48)

    def times_solved(strategy: str) -> int:
        options: dict[str, Any] = {"max_runs": 3000, "checkpoint_strategy": strategy, "comparison_tracing": "off"}
        return sum(solved(DeadEnds, seed=seed, **options) for seed in seeds)

    # A schedule shifts the odds and no more, so it is judged by several seeds.
    assert times_solved("energy") >= 4
    assert times_solved("uniform") <= 2


def test_state_hash_shows_progress_that_no_branch_shows() -> None:
    assert solved(ToldProgress, max_runs=3000)
    assert not solved(HiddenProgress, max_runs=3000)


@pytest.mark.parametrize(("puzzle", "seed"), [(HiddenProgress, 42), (WhichKey, 44), (SpokenProgress, 42)])
def test_numbers_of_the_state_show_it_too(puzzle: type[ChaosTest], seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "Session", functools.partial(SESSION, features_off=("edge of rule", "event")))
    assert solved(puzzle, max_runs=12_500, seed=seed)


@pytest.mark.nightly
def test_the_order_of_tasks_shows_progress_that_nothing_else_shows(without: Any) -> None:
    options: dict[str, Any] = {"target_modules": [], "swarm_policy": "adaptive", "max_runs": 150, "seed": 40}
    assert solved(RelayRace, **options)
    without("task step", "task order", "decision")
    assert not solved(RelayRace, **options)


@times(3)
def test_distances_lead_where_no_run_could_go(times: int) -> None:
    assert solved(ToldDistance, max_runs=2500)
    assert not solved(FarLimit, max_runs=2500 * times)


def test_bundles_hand_values_on() -> None:
    assert solved(HandedOut, max_runs=50)
    assert not solved(Guessed, max_runs=50)


@times(20)
@pytest.mark.parametrize("puzzle", [SecretNumber, SecretKey, MagicHeader, ShiftedCode])
def test_comparison_tracing_finds_what_is_compared(puzzle: type[ChaosTest], times: int) -> None:
    assert solved(puzzle, max_runs=300)
    assert not solved(puzzle, max_runs=300 * times, comparison_tracing="off")


@times(20)
def test_values_come_back_in_a_run(times: int) -> None:
    assert solved(MetAgain, max_runs=50, comparison_tracing="off")
    assert not solved(MetAgain, max_runs=50 * times, comparison_tracing="off", value_reuse_prob=0.0)


@times(20)
def test_constants_of_the_targets_are_drawn(times: int) -> None:
    assert solved(WrittenWord, max_runs=200)
    assert not solved(WrittenWord, max_runs=200 * times, value_reuse_prob=0.0)


@times(20)
def test_sizes_of_bundles_show_how_full_it_is(without: Any, times: int) -> None:
    assert solved(Brim, max_runs=3000, seed=41)
    without("bundle size", "bundle pair")
    assert not solved(Brim, max_runs=3000 * times, seed=41)


@times(20)
def test_edges_by_rule_tell_the_keys_apart(without: Any, times: int) -> None:
    assert solved(WhichKey, max_runs=10_000, seed=44)
    without("edge of rule")
    assert not solved(WhichKey, max_runs=10_000 + 2_500 * times, seed=44)


@times(20)
def test_events_show_progress_that_no_branch_shows(without: Any, times: int) -> None:
    assert solved(SpokenProgress, max_runs=1500)
    without("event")
    assert not solved(SpokenProgress, max_runs=1500 * times)


@times(20)
def test_targets_lead_where_no_run_could_go(without: Any, times: int) -> None:
    assert solved(AimedHigh, max_runs=1500)
    without("target")
    assert not solved(AimedHigh, max_runs=1500 * times)


@pytest.mark.nightly
def test_repeated_parts_wear_a_mill_out() -> None:
    assert solved(WornMill, max_runs=10_000, swarm_policy="adaptive")
    assert not solved(WornMill, max_runs=10_000, swarm_policy="classic")


@pytest.mark.nightly
def test_joined_parts_open_a_lock_with_two_codes() -> None:
    assert solved(TwoKeys, max_runs=5000, swarm_policy="adaptive")
    assert not solved(TwoKeys, max_runs=5000, swarm_policy="classic")


def test_the_adaptive_policy_finds_out_that_rules_are_to_be_left_out() -> None:
    assert solved(FullShelf, max_runs=1500, swarm_policy="adaptive")
    assert not solved(FullShelf, max_runs=1500, swarm_policy="classic")
