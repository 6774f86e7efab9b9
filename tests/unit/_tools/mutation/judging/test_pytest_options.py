"""What pytest is given where it collects tests to judge by."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, core, given, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase
from hypothesis.internal import entropy
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._tools.mutation.judging.pytest_options import quieten, switched_off


def test_plugins_that_are_switched_off_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--cov-fail-under=90")
    assert switched_off(["-n", "2"])[:2] == ["pytest-xdist", "pytest-cov"]
    monkeypatch.delenv("PYTEST_ADDOPTS")
    assert "pytest-cov" not in switched_off(["tests"])


@settings(max_examples=7, deadline=1, database=InMemoryExampleDatabase(), phases=list(Phase))
@given(st.integers())
def _property(_: int) -> None: ...


class _Machine(RuleBasedStateMachine):
    @rule()
    def step(self) -> None: ...


class _Item:
    def __init__(self, function: object, cls: type | None = None) -> None:
        self.function, self.cls = function, cls


def test_settings_of_functions_and_machines(request: pytest.FixtureRequest) -> None:
    before = settings.get_current_profile_name()
    request.addfinalizer(lambda: settings.load_profile(before))
    machine = _Machine.TestCase
    machine.settings = settings(stateful_step_count=3)
    quieten([_Item(_property), _Item(machine.runTest, machine), _Item(len)])
    found: settings = _property._hypothesis_internal_use_settings  # type: ignore[attr-defined]
    for each in (found, machine.settings, settings.default):
        assert each is not None
        assert (each.derandomize, each.deadline, each.database) == (True, None, None)
        assert Phase.shrink not in each.phases
        assert set(each.suppress_health_check) == set(HealthCheck)
    assert found.max_examples == 7
    assert machine.settings.stateful_step_count == 3


def test_no_fork_registers_a_generator(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would look for who refers to it through all objects, and warn where they are frozen, as they are for forks."""

    def register(_: object) -> None:
        pytest.fail("it is registered in the test")

    before = settings.get_current_profile_name()
    request.addfinalizer(lambda: settings.load_profile(before))
    known = core.threadlocal._hypothesis_global_random
    request.addfinalizer(lambda: setattr(core.threadlocal, "_hypothesis_global_random", known))
    core.threadlocal._hypothesis_global_random = None
    monkeypatch.setattr(entropy, "register_random", register)
    quieten([_Item(_property)])
    _property()
