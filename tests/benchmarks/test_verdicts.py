"""The verdict on what a small machine does, for each kind of behaviour and for some random machines."""

import pytest
import verdicts

ALL = [(name, kind.ends_process) for name, kind in verdicts.BEHAVIOURS.items()]


@pytest.mark.parametrize(
    ("name", "is_chaos"),
    [
        pytest.param(name, is_chaos, id=f"{name}, {'ChaosTest' if is_chaos else 'plain'}")
        for name, ends_process in ALL
        for is_chaos in (False, True)
        if not ends_process
    ],
)
def test_each_behaviour_has_its_verdict(name: str, is_chaos: bool) -> None:
    assert verdicts.differences([("pass", 1), (name, 2)], is_chaos=is_chaos) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, ends_process in ALL if ends_process])
def test_so_has_what_ends_or_hangs_its_process(name: str) -> None:
    assert verdicts.differences([("pass", 1), (name, 2)], is_chaos=True) == []


@pytest.mark.parametrize("seed", range(12))
def test_random_machines_come_to_what_was_planted(seed: int) -> None:
    planted, is_chaos = verdicts.random_machine(seed, processes=False)
    assert verdicts.differences(planted, is_chaos=is_chaos, seed=seed) == [], planted


@pytest.mark.nightly
def test_so_do_many() -> None:
    for seed in range(100_000):
        planted, is_chaos = verdicts.random_machine(seed, processes=False)
        assert verdicts.differences(planted, is_chaos=is_chaos, seed=seed) == [], (seed, planted)
