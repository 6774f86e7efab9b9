"""ChaosTest under Hypothesis: the nemesis, the swarm, the end of a run, its rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from hypothesis.stateful import (
    rule,
)

from ordeal.chaos import ChaosTest, overrides
from ordeal.errors import FaultError, MachineError
from ordeal.faults import Fault, LambdaFault, PatchFault, timing

from .samples.machines import Forgetful, automatic_rules, run, switch, switches
from .samples.shop import shop_app

CHARGE = "shop_app.api.charge"


@pytest.fixture
def shop() -> Iterator[Any]:
    with shop_app() as modules:
        yield modules


# Faults and the nemesis


def test_the_nemesis_switches_every_fault_on_and_off() -> None:
    seen: set[tuple[str, ...]] = set()

    class Machine(ChaosTest):
        faults = switches("a", "b")

        @rule()
        def look(self) -> None:
            seen.add(tuple(fault.name for fault in self.active_faults))

    run(Machine)
    assert seen == {(), ("a",), ("b",), ("a", "b")}
    assert not any(fault.active for fault in Machine.faults)


def test_two_hundred_runs_with_two_faults_on_one_function_leave_it_alone(shop: Any) -> None:
    original = shop.api.charge

    class Machine(ChaosTest):
        faults: ClassVar[list[Fault]] = [timing.timeout(CHARGE), timing.slow(CHARGE), timing.intermittent_crash(CHARGE)]

        def __init__(self) -> None:
            super().__init__()
            assert shop.api.charge is original

        @rule()
        def pay(self) -> None:
            try:
                assert shop.api.charge() == 1
            except TimeoutError:
                assert self.faults[0].active
            except RuntimeError:
                assert self.faults[2].active

    run(Machine, max_examples=200)
    assert shop.api.charge is original


def test_a_failing_example_shows_the_switched_fault(capsys: pytest.CaptureFixture[str]) -> None:
    class Machine(ChaosTest):
        faults = switches("power")

        @rule()
        def look(self) -> None:
            assert not self.active_faults

    with pytest.raises(AssertionError) as caught:
        run(Machine)
    notes = "\n".join(getattr(caught.value, "__notes__", [])) + capsys.readouterr().out
    assert "switch fault" in notes
    assert "state.fault('power').activate()" in notes


# Automatic rules


def test_automatic_rules_are_there_only_when_they_are_needed() -> None:
    class Plain(ChaosTest):
        @rule()
        def nothing(self) -> None: ...

    class One(Plain):
        faults = switches("a")
        swarm = True

    class Two(Plain):
        faults = switches("a", "b")

    class Swarm(Two):
        swarm = True

    class NoSwarm(Swarm):
        swarm = False

    class None_(Swarm):
        faults: ClassVar[list[Fault]] = []

    assert [automatic_rules(cls) for cls in (Plain, One, Two, Swarm, NoSwarm, None_)] == [
        set(),
        {"_nemesis"},
        {"_nemesis"},
        {"_nemesis", "_swarm_init"},
        {"_nemesis"},
        set(),
    ]


def test_swarm_draws_the_faults_of_a_run() -> None:
    seen: set[tuple[str, ...]] = set()

    class Machine(ChaosTest):
        faults = switches("a", "b")
        swarm = True

        @rule()
        def look(self) -> None:
            seen.add(tuple(fault.name for fault in self._faults))
            assert set(self.active_faults) <= set(self._faults)

    run(Machine, max_examples=60)
    assert seen == {("a",), ("b",), ("a", "b")}


def test_a_run_whose_swarm_left_out_a_fault_still_takes_it_back() -> None:
    class Machine(ChaosTest):
        faults = switches("a", "b")
        swarm = True

        @rule()
        def switch_all(self) -> None:
            for fault in self.faults:
                fault.activate()

    run(Machine)
    assert not any(fault.active for fault in Machine.faults)


# Definitions that cannot work


@pytest.mark.parametrize(
    ("faults", "hint"),
    [
        (None, r"write for example `faults = \["),
        ("timeout", r"write for example `faults = \["),
        (switch("a"), r"write `faults = \[\.\.\.\]`"),
        ([timing.timeout], r'call it with its target: `timeout\("module.function"\)`'),
        ([switch("a"), None], r"write for example `faults = \["),
    ],
)
def test_faults_must_be_faults(faults: Any, hint: str) -> None:
    with pytest.raises(MachineError, match=rf"Machine.faults must be a list of faults, .*\nhint: {hint}"):
        type("Machine", (ChaosTest,), {"faults": faults})


def test_faults_set_later_are_refused() -> None:
    class Machine(ChaosTest):
        @rule()
        def nothing(self) -> None: ...

    Machine.faults = switches("a")
    with pytest.raises(MachineError, match=r"Machine.faults was set after the class was made.*\nhint: set `faults` in"):
        Machine()


# Teardown


def test_teardown_names_a_fault_that_cannot_be_taken_back() -> None:
    class Machine(ChaosTest):
        faults: ClassVar[list[Fault]] = [LambdaFault("stuck", int, lambda: 1 / 0), switch("other")]

        @rule()
        def nothing(self) -> None: ...

    machine = Machine()
    for fault in machine.faults:
        fault.activate()
    with pytest.raises(FaultError, match="fault 'stuck' could not be switched off"):
        machine.teardown()
    assert not any(fault.active for fault in machine.faults)


def test_teardown_names_a_fault_that_leaks(shop: Any) -> None:
    class Leaky(PatchFault):
        def _do_deactivate(self) -> None: ...

    class Machine(ChaosTest):
        faults: ClassVar[list[Fault]] = [Leaky(CHARGE, lambda f: f, name="leaky")]

        @rule()
        def nothing(self) -> None: ...

    machine = Machine()
    machine.faults[0].activate()
    with pytest.raises(FaultError, match="fault 'leaky' is still in effect"):
        machine.teardown()
    PatchFault._do_deactivate(machine.faults[0])  # type: ignore[arg-type]


def test_faults_are_taken_back_when_an_override_forgets_super() -> None:
    class Mixed(Forgetful, ChaosTest):
        faults = switches("a")

    class Own(ChaosTest):
        faults = switches("a")
        ended = 0

        @rule()
        def nothing(self) -> None: ...

        def teardown(self) -> None:
            self.ended += 1
            raise KeyError

    mixed, own = Mixed(), Own()
    mixed.faults[0].activate()
    mixed.teardown()
    own.faults[0].activate()
    with pytest.raises(KeyError):
        own.teardown()
    assert (mixed.ended, own.ended) == (1, 1)
    assert not mixed.faults[0].active
    assert not own.faults[0].active


# Hooks


def test_hooks_tell_whether_they_are_overridden() -> None:
    hooks = ["state_hash", "checkpoint_snapshot_filter", "clone_checkpoint_state", "restore_checkpoint_state"]
    hooks += ["snapshot_filter", "restore_snapshot"]

    class Machine(ChaosTest):
        def state_hash(self) -> int:
            return 7

        @rule()
        def nothing(self) -> None: ...

    assert [hook for hook in hooks if overrides(Machine, hook)] == ["state_hash"]
    assert overrides(Machine(), "state_hash")
    assert not any(overrides(Forgetful, hook) for hook in hooks)
