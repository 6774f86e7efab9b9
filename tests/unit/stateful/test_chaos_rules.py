"""The rules of a ChaosTest under Hypothesis: timed, awaited, inherited; and its test cases under pytest."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
)

from ordeal.chaos import ChaosTest, RuleTimeoutError, chaos_test

from ..samples.machines import Forgetful, automatic_rules, run, switch, switches

# Rules


def test_a_rule_that_hangs_is_a_failure() -> None:
    class Machine(ChaosTest):
        rule_timeout = 0.05

        @rule(n=st.integers())
        def hang(self, n: int) -> None:
            time.sleep(30)

    with pytest.raises(RuleTimeoutError, match=r"rule 'hang' timed out after 0.05s"):
        run(Machine, max_examples=2)


def test_an_initialize_rule_is_timed_and_zero_disables_it() -> None:
    class Machine(ChaosTest):
        rule_timeout = 0.05

        @initialize()
        def start(self) -> None:
            time.sleep(0.1)

        @rule()
        def nothing(self) -> None: ...

    class Patient(Machine):
        rule_timeout = 0

    with pytest.raises(RuleTimeoutError, match="rule 'start'"):
        run(Machine, max_examples=2)
    run(Patient, max_examples=2, steps=2)


def test_rules_of_a_plain_machine_are_timed_here_and_untouched_there() -> None:
    class Plain(RuleBasedStateMachine):
        @rule()
        def hang(self) -> None:
            time.sleep(0.1)

    class Machine(Plain, ChaosTest):
        rule_timeout = 0.05

    with pytest.raises(RuleTimeoutError, match="rule 'hang'"):
        run(Machine, max_examples=2)
    run(Plain, max_examples=1, steps=1)


def test_a_timed_rule_keeps_the_original_within_reach() -> None:
    class Machine(ChaosTest):
        @precondition(lambda self: True)
        @rule()
        def pay(self) -> None:
            """Pay."""

    class Child(Machine):
        pass

    (found,) = Child.setup_state().rules
    assert found.function.ordeal_timed
    assert not hasattr(found.function.__wrapped__, "ordeal_timed")
    assert (found.function.__name__, found.function.__doc__) == ("pay", "Pay.")
    assert len(found.preconditions) == 1


def test_coroutine_rules_share_the_loop_of_their_machine() -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    class Machine(ChaosTest):
        def __init__(self) -> None:
            super().__init__()
            self.loop: asyncio.AbstractEventLoop | None = None

        @rule(n=st.integers(0, 3))  # type: ignore[arg-type]
        async def pay(self, n: int) -> None:
            await asyncio.sleep(0)
            running = asyncio.get_running_loop()
            assert self.loop in (None, running)
            self.loop = running
            loops.append(running)

    run(Machine, max_examples=5)
    assert len(loops) > 10
    assert all(loop.is_closed() for loop in loops)


def test_a_failing_or_hanging_coroutine_rule_is_a_failure() -> None:
    class Failing(ChaosTest):
        @rule()  # type: ignore[arg-type]
        async def pay(self) -> None:
            await asyncio.sleep(0)
            raise KeyError("pay")

    class Hanging(ChaosTest):
        rule_timeout = 0.05

        @rule()  # type: ignore[arg-type]
        async def pay(self) -> None:
            await asyncio.sleep(30)

    with pytest.raises(KeyError):
        run(Failing)
    with pytest.raises(RuleTimeoutError):
        run(Hanging, max_examples=2)


def test_the_time_of_a_rule_does_not_count_the_making_of_its_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    make = asyncio.events.new_event_loop

    def make_slowly() -> asyncio.AbstractEventLoop:
        time.sleep(0.5)
        return make()

    class Quick(ChaosTest):
        rule_timeout = 0.4

        @rule()  # type: ignore[arg-type]
        async def pay(self) -> None:
            await asyncio.sleep(0)

    monkeypatch.setattr(asyncio.events, "new_event_loop", make_slowly)
    run(Quick, max_examples=1)


def test_the_machine_comes_first_or_second_among_the_bases() -> None:
    class Machine(Forgetful, ChaosTest):
        faults = switches("a")

        @rule()
        def look(self) -> None:
            assert self.ended == 0

    run(Machine)
    assert automatic_rules(Machine) == {"_nemesis"}


# Test cases


def test_chaos_test_gives_the_test_case() -> None:
    class Machine(ChaosTest):
        @rule()
        def nothing(self) -> None: ...

    assert chaos_test(Machine) is Machine.TestCase
    assert chaos_test()(Machine) is Machine.TestCase


def test_chaos_test_adds_faults() -> None:
    class Machine(ChaosTest):
        """Pays."""

        faults = switches("a")

        @rule()
        def nothing(self) -> None: ...

    case = chaos_test(faults=[switch("b")])(Machine)
    made = case.runTest._hypothesis_state_machine_class
    assert [fault.name for fault in made.faults] == ["a", "b"]
    assert [fault.name for fault in Machine.faults] == ["a"]
    assert (made.__name__, made.__module__, made.__qualname__) == ("Machine", __name__, Machine.__qualname__)


PROJECT = """
from hypothesis.stateful import rule
from ordeal.chaos import ChaosTest, chaos_test
from ordeal.faults import LambdaFault

class Shop(ChaosTest):
    faults = [LambdaFault("a", int, int)]

    @rule()
    def pay(self):
        pass

TestShop = Shop.TestCase

@chaos_test(faults=[LambdaFault("b", int, int)])
class Decorated(ChaosTest):
    @rule()
    def pay(self):
        assert not self.active_faults
"""


def test_pytest_collects_test_cases(tmp_path: Any) -> None:
    (tmp_path / "test_shop.py").write_text(PROJECT)
    counts = _CountingPlugin()
    arguments = [
        str(tmp_path),
        "-q",
        "-c",
        str(tmp_path / "none.ini"),
        "--rootdir",
        str(tmp_path),
        "-p",
        "no:cacheprovider",
    ]
    (tmp_path / "none.ini").write_text("[pytest]\n")
    pytest.main(arguments, plugins=[counts])
    assert counts.outcomes == {"TestShop": "passed", "Decorated": "failed"}


class _CountingPlugin:
    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.outcomes[report.nodeid.split("::")[1]] = report.outcome
