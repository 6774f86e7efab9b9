"""Weak points of the public project, turned round: machines mean what they say, and faults leave nothing behind."""

from __future__ import annotations

import builtins
import os
from itertools import permutations
from typing import Any

import pytest

from ordeal.config.options import Tuning
from ordeal.faults import Fault
from ordeal.faults.io import disk_full, permission_denied
from ordeal.faults.timing import slow, timeout
from ordeal.trace import replay

from ..projects import Project, explore, kinds


def test_finding_12_initialize_precondition_assume_and_bundles_are_honoured(project: Project) -> None:
    project.write(
        {
            "bank.py": """
                class Bank:
                    def __init__(self):
                        self.accounts = {}

                    def open(self, owner):
                        self.accounts[owner] = 0

                    def pay_in(self, owner, amount):
                        self.accounts[owner] += amount

                    def close(self, owner):
                        if self.accounts[owner]:
                            raise RuntimeError("not empty")
                        del self.accounts[owner]
            """,
            "chaos.py": """
                from collections import Counter

                from hypothesis import assume, strategies as st
                from ordeal import Bundle, ChaosTest, initialize, precondition, rule
                from hypothesis.stateful import consumes

                from bank import Bank

                CALLS = Counter()

                class BankChaos(ChaosTest):
                    owners = Bundle("owners")

                    @initialize()
                    def start(self):
                        self.bank = Bank()

                    @rule(target=owners)
                    def open(self):
                        CALLS["open"] += 1
                        owner = f"owner {len(self.bank.accounts)} {CALLS['open']}"
                        self.bank.open(owner)
                        return owner

                    @precondition(lambda self: len(self.bank.accounts) > 1)
                    @rule(owner=owners, amount=st.integers(-5, 5))
                    def pay_in(self, owner, amount):
                        assert len(self.bank.accounts) > 1
                        assume(amount > 0)
                        CALLS["pay_in"] += 1
                        self.bank.pay_in(owner, amount)

                    @rule(owner=consumes(owners))
                    def close(self, owner):
                        CALLS["close"] += 1
                        assume(self.bank.accounts[owner] == 0)
                        self.bank.close(owner)
            """,
        }
    )
    result = explore(project.load("chaos:BankChaos"), runs=200, target_modules=["bank"])
    assert result.failures == []
    assert result.unconfirmed == 0
    assert result.rejected_runs > 0
    calls = project.load("chaos:CALLS")
    assert all(calls[name] > 0 for name in ("open", "pay_in", "close"))


FAULTY = {
    "plant.py": """
        def work(number):
            if number > 5:
                return "much"
            return "little"
    """,
    "chaos.py": """
        import json
        from pathlib import Path

        from hypothesis import strategies as st
        from ordeal import ChaosTest, rule
        from ordeal.faults import LambdaFault

        import plant

        def nothing():
            pass

        class PlainChaos(ChaosTest):
            faults = [LambdaFault(name, nothing, nothing) for name in ("north", "south", "east")]
            runs = []

            def __init__(self):
                super().__init__()
                self.steps = 0
                self.seen = set()

            @rule(number=st.integers(0, 9))
            def work(self, number):
                plant.work(number)
                self.steps += 1
                self.seen |= {fault.name for fault in type(self).faults if fault.active}

            def teardown(self):
                super().teardown()
                if self.steps >= 30:
                    type(self).runs.append(len(self.seen))

        class SwarmChaos(PlainChaos):
            swarm = True
            runs = []
    """,
}


def test_finding_12_swarm_on_the_class_leaves_out_faults_in_each_run(project: Project) -> None:
    project.write(FAULTY)
    fixed: dict[str, Any] = {"checkpoint_prob": 0.0, "tuning": Tuning(swarm_policy="classic")}
    share = {}
    for name in ("PlainChaos", "SwarmChaos"):
        machine = project.load(f"chaos:{name}")
        assert explore(machine, runs=300, steps=100, target_modules=["plant"], **fixed).failures == []
        assert len(machine.runs) > 50
        share[name] = sum(seen < 3 for seen in machine.runs) / len(machine.runs)
    assert share["PlainChaos"] < 0.25
    assert share["SwarmChaos"] > 0.6, "one subset in seven has all three faults"


def test_finding_12_an_async_rule_is_awaited(project: Project) -> None:
    project.write(
        {
            "feed.py": """
                import asyncio

                async def read(number):
                    await asyncio.sleep(0)
                    if number > 2:
                        raise LookupError("past the end")
            """,
            "chaos.py": """
                from hypothesis.stateful import RuleBasedStateMachine, rule

                import feed

                class FeedMachine(RuleBasedStateMachine):
                    number = 0

                    @rule()
                    async def read(self):
                        self.number += 1
                        await feed.read(self.number)
            """,
        }
    )
    machine = project.load("chaos:FeedMachine")
    result = explore(machine, runs=30, target_modules=["feed"])
    assert kinds(result) == ["LookupError"]
    assert result.failures[0].trace is not None
    assert isinstance(replay(result.failures[0].trace, machine), LookupError)


def test_finding_13_two_names_of_one_object_stay_so_in_a_restored_machine(project: Project) -> None:
    project.write(
        {
            "service.py": """
                class Service:
                    def __init__(self, log):
                        self.log = log

                    def write(self, text):
                        size = len(self.log)
                        if size == 1:
                            text += "!"
                        elif size == 3:
                            text += "?"
                        elif size == 5:
                            text += "."
                        self.log.append(text)
            """,
            "chaos.py": """
                from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

                from service import Service

                class ServiceMachine(RuleBasedStateMachine):
                    made = 0

                    def __init__(self):
                        super().__init__()
                        type(self).made += 1
                        self.log = []
                        self.service = Service(self.log)
                        self.hooks = {"write": self.service.write}
                        self.writes = 0

                    @rule()
                    def write(self):
                        self.writes += 1
                        self.hooks["write"]("text")

                    @invariant()
                    def nothing_is_lost(self):
                        assert len(self.log) == self.writes, "the log lost a write"
                        assert self.service.log is self.log
                        assert self.hooks["write"].__self__ is self.service
            """,
        }
    )
    machine = project.load("chaos:ServiceMachine")
    result = explore(machine, runs=300, steps=10, target_modules=["service"], checkpoint_prob=0.9)
    assert result.failures == []
    assert result.unconfirmed == 0
    assert result.snapshot_kind == "copy"
    assert machine.made < 150, "most machines were restored"


GLOBAL_STATE = {
    "registry.py": """
        NAMES = {}

        def add(name):
            size = len(NAMES)
            if name in NAMES:
                raise KeyError(name)
            if size == 1:
                NAMES[name] = "second"
            elif size == 2:
                NAMES[name] = "third"
            elif size == 3:
                NAMES[name] = "fourth"
            elif size == 4:
                raise RuntimeError("the registry is full")
            else:
                NAMES[name] = "first"
    """,
    "chaos.py": """
        from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

        import registry

        class RegistryMachine(RuleBasedStateMachine):
            limit = 3

            def __init__(self):
                super().__init__()
                registry.NAMES.clear()
                self.added = 0

            @rule()
            def add(self):
                if self.added < self.limit:
                    registry.add(f"name {self.added}")
                    self.added += 1

            @invariant()
            def every_name_is_there(self):
                assert len(registry.NAMES) == self.added, "the registry lost a name"

        class OverflowMachine(RegistryMachine):
            limit = 9
    """,
}


def test_finding_13_state_that_a_copy_cannot_hold_makes_no_false_failure(project: Project) -> None:
    project.write(GLOBAL_STATE)
    machine = project.load("chaos:RegistryMachine")
    result = explore(machine, runs=300, steps=10, target_modules=["registry"], checkpoint_prob=0.9)
    assert result.failures == []
    assert result.snapshot_kind == "replay"
    assert any("RegistryMachine" in note or "snapshot" in note or "cop" in note for note in result.notes), result.notes


def test_finding_13_a_true_failure_is_found_all_the_same(project: Project) -> None:
    project.write(GLOBAL_STATE)
    machine = project.load("chaos:OverflowMachine")
    result = explore(machine, runs=300, steps=10, target_modules=["registry"], checkpoint_prob=0.9)
    assert kinds(result) == ["RuntimeError"]
    assert not result.failures[0].flaky
    assert result.failures[0].trace is not None
    assert [step.name for step in result.failures[0].trace.steps] == ["add"] * 5
    assert str(replay(result.failures[0].trace, machine)) == "the registry is full"


def test_finding_13_what_happens_once_because_state_leaked_between_runs_is_not_reported_as_sure(
    project: Project,
) -> None:
    project.write(
        {
            "counter.py": """
                CALLS = [0]

                def call():
                    CALLS[0] += 1
                    if CALLS[0] == 300:
                        raise RuntimeError("the three hundredth call of this process")
            """,
            "chaos.py": """
                from hypothesis.stateful import RuleBasedStateMachine, rule

                import counter

                class CounterMachine(RuleBasedStateMachine):
                    @rule()
                    def call(self):
                        counter.call()
            """,
        }
    )
    result = explore(project.load("chaos:CounterMachine"), runs=100, target_modules=["counter"])
    assert all(failure.flaky for failure in result.failures)
    assert result.unconfirmed + len(result.failures) == 1, "it must not be passed over in silence either"


REMOTE = {
    "remote.py": """
        def call():
            return 42
    """,
    "chaos.py": """
        import errno
        from pathlib import Path

        from ordeal import ChaosTest, rule
        from ordeal.faults.io import disk_full, permission_denied
        from ordeal.faults.timing import slow, timeout

        import remote

        STALLED, SLOWED = timeout("remote.call"), slow("remote.call")
        FULL, DENIED = disk_full(), permission_denied()
        SCRATCH = Path(__file__).with_name("scratch.txt")

        class RemoteChaos(ChaosTest):
            faults = [STALLED, SLOWED]

            @rule()
            def call(self):
                try:
                    value = remote.call()
                except TimeoutError:
                    assert STALLED.active
                else:
                    assert not STALLED.active
                    assert value == 42

        class DiskChaos(ChaosTest):
            faults = [FULL, DENIED]

            @rule()
            def save(self):
                try:
                    with open(SCRATCH, "w") as file:
                        file.write("text")
                except OSError as error:
                    wanted = {errno.ENOSPC: FULL, errno.EACCES: DENIED}
                    assert wanted[error.errno].active
                else:
                    assert not FULL.active
                    assert not DENIED.active
    """,
}


def test_finding_20_two_faults_on_one_function_make_no_false_failure_and_leave_the_function_alone(
    project: Project,
) -> None:
    project.write(REMOTE)
    remote = project.load("remote:__dict__")
    original = remote["call"]
    # Not shrunk: switching a fault is seldom needed to reach new code.
    machine = project.load("chaos:RemoteChaos")
    result = explore(machine, runs=300, steps=30, target_modules=["remote"], shrink=False)
    assert result.failures == []
    toggled = {step.name for trace in result.traces for step in trace.steps if step.kind == "fault_toggle"}
    assert len(toggled) == 4, "each fault is switched on and off"
    assert remote["call"] is original


def test_finding_20_two_faults_on_the_disk_leave_open_as_it_was(project: Project) -> None:
    project.write(REMOTE)
    originals = (builtins.open, os.write)
    result = explore(project.load("chaos:DiskChaos"), runs=200, steps=30, target_modules=["remote"])
    assert result.failures == []
    assert (builtins.open, os.write) == originals
    (project.root / "after.txt").write_text("fine")


def nested_orders() -> list[Any]:
    """Every order in which two faults can be switched on and off again."""
    switches = [(0, True), (0, False), (1, True), (1, False)]
    orders = [
        order
        for order in permutations(switches)
        if order.index((0, True)) < order.index((0, False)) and order.index((1, True)) < order.index((1, False))
    ]
    return [pytest.param(order, id="".join("aA"[on] if i == 0 else "bB"[on] for i, on in order)) for order in orders]


def switch(faults: tuple[Fault, Fault], order: Any) -> None:
    """Switch the faults on and off in that order."""
    for index, on in order:
        if on:
            faults[index].activate()
        else:
            faults[index].deactivate()


@pytest.mark.parametrize("order", nested_orders())
def test_finding_20_nested_faults_unwind_in_any_order(project: Project, order: Any) -> None:
    project.write(REMOTE)
    namespace = project.load("remote:__dict__")
    original, original_open, original_write = namespace["call"], builtins.open, os.write
    switch((timeout("remote.call"), slow("remote.call")), order)
    assert namespace["call"] is original
    switch((disk_full(), permission_denied()), order)
    assert (builtins.open, os.write) == (original_open, original_write)
