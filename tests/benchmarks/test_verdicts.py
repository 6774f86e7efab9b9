"""The verdict on what a small machine does, for each kind of behaviour and for some random machines."""

import pytest
import verdicts
from verdicts import Plan

ENDING = [name for name, kind in verdicts.BEHAVIOURS.items() if kind.ends_process]


@pytest.mark.parametrize("is_chaos", [False, True], ids=["plain", "ChaosTest"])
@pytest.mark.parametrize("name", [name for name in verdicts.BEHAVIOURS if name not in ENDING])
def test_each_behaviour_has_its_verdict(name: str, is_chaos: bool) -> None:
    assert verdicts.differences(Plan([("pass", 1, "rule"), (name, 2, "rule")], is_chaos)) == []


@pytest.mark.slow
@pytest.mark.supervised
@pytest.mark.parametrize("name", ENDING)
def test_so_has_what_ends_or_hangs_its_process(name: str) -> None:
    assert verdicts.differences(Plan([("pass", 1, "rule"), (name, 2, "rule")], is_chaos=True, shrink=False)) == []


@pytest.mark.parametrize("kind", ["copy", "replay", pytest.param("fork", marks=pytest.mark.slow)])
@pytest.mark.parametrize("state", verdicts.STATES)
def test_no_state_is_a_failure_by_itself(state: str, kind: str) -> None:
    assert verdicts.differences(Plan([("pass", 1, "rule")], is_chaos=False, state=state, kind=kind, prob=0.5)) == []


@pytest.mark.parametrize("seed", range(12))
def test_random_machines_come_to_what_was_planted(seed: int) -> None:
    plan = verdicts.random_plan(seed, processes=False, twins=False)
    assert verdicts.differences(plan, seed) == [], plan


@pytest.mark.nightly
@pytest.mark.parametrize("twins", [False, True])
def test_so_do_many(twins: bool) -> None:
    for seed in range(50_000):
        plan = verdicts.random_plan(seed, processes=False, twins=twins)
        assert verdicts.differences(plan, seed) == [], (seed, plan)
