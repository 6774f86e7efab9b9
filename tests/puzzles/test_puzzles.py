"""Each capability of the Explorer against the smallest machine whose bug only that capability finds in the budget."""

from typing import Any

import pytest

from ordeal.chaos import ChaosTest
from ordeal.explore import Explorer

from .busy_desk import BusyDesk, EvenDesk, SharedDesk
from .dead_ends import DeadEnds
from .deep_chain import DeepChain
from .far_limit import FarLimit, ToldDistance
from .full_shelf import FullShelf
from .handed_out import Guessed, HandedOut
from .hidden_progress import HiddenProgress, ToldProgress
from .two_faults import TwoFaults

# Runs end these searches, the clock must not: the same seed then gives the same answer on any machine.
UNLIMITED_S = 3600.0

pytestmark = pytest.mark.slow


def solved(puzzle: type[ChaosTest], *, max_runs: int, seed: int = 42, **options: Any) -> bool:
    """Whether the Explorer finds the puzzle's bug within so many runs."""
    explorer = Explorer(puzzle, target_modules=[puzzle.__module__], seed=seed, **options)
    result = explorer.run(max_time=UNLIMITED_S, max_runs=max_runs, shrink=False)
    assert result.stopped_reason == "max_runs"
    return bool(result.failures)


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


def test_energy_leaves_dead_ends_alone() -> None:
    seeds = range(42, 48)

    def times_solved(strategy: str) -> int:
        return sum(solved(DeadEnds, max_runs=3000, seed=seed, checkpoint_strategy=strategy) for seed in seeds)

    # A schedule shifts the odds and no more, so it is judged by several seeds.
    assert times_solved("energy") >= 4
    assert times_solved("uniform") <= 2


def test_state_hash_shows_progress_that_no_branch_shows() -> None:
    assert solved(ToldProgress, max_runs=3000)
    assert not solved(HiddenProgress, max_runs=3000)


def test_distances_lead_where_no_run_could_go() -> None:
    assert solved(ToldDistance, max_runs=2500)
    assert not solved(FarLimit, max_runs=7500)


def test_bundles_hand_values_on() -> None:
    assert solved(HandedOut, max_runs=50)
    assert not solved(Guessed, max_runs=50)
