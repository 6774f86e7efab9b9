"""Faults are switched by the step loop as they are by their methods, and leave the program as they found it."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st

from ordeal import ChaosTest, Explorer, invariant, precondition, rule
from ordeal._engine.execution.driver import Driver
from ordeal.faults import PatchFault, timing
from ordeal.result import ExplorationResult

from ..samples.shop import add_module, adding, adding_text, constant, shop_app


@pytest.fixture
def shop() -> Iterator[Any]:
    with shop_app() as modules:
        yield modules


def explored(cls: type[ChaosTest], runs: int = 150, **options: Any) -> ExplorationResult:
    explorer = Explorer(cls, seed=3, workers=1, fault_toggle_prob=0.5, **options)
    result = explorer.run(max_runs=runs, shrink=False)
    assert not result.failures, result.failures[0]
    return result


TARGETS: dict[str, Callable[[Any], tuple[Any, str, Callable[[], Any]]]] = {
    "shop_app.api.charge": lambda shop: (shop.api, "charge", lambda: shop.orders.bill(1)),
    "shop_app.orders.charge": lambda shop: (shop.orders, "charge", lambda: shop.orders.charge(1)),
    "shop_app.api.Client.send": lambda shop: (shop.api.Client, "send", lambda: shop.api.client.send("x")),
    "shop_app.api.Mobile.send": lambda shop: (shop.api.Mobile, "send", lambda: shop.api.Mobile().send("x")),
    "shop_app.api.Client.ping": lambda shop: (shop.api.Client, "ping", lambda: [shop.api.Client.ping()]),
    "shop_app.api.Client.make": lambda shop: (shop.api.Client, "make", lambda: [shop.api.Client.make()]),
    "shop_app.api.client.send": lambda shop: (shop.api.client, "send", lambda: shop.api.client.send("x")),
    "shop_app.api.cached": lambda shop: (shop.api, "cached", lambda: [shop.api.cached()]),
    "shop_app.orders.sleep": lambda shop: (shop.orders, "sleep", lambda: shop.orders.sleep(0)),
    "shop_app.api.charge_later": lambda shop: (shop.api, "charge_later", lambda: asyncio.run(shop.api.charge_later())),
}


@pytest.mark.parametrize("target", TARGETS)
def test_in_runs_the_original_is_there_whenever_its_faults_are_off(shop: Any, target: str) -> None:
    owner, name, call = TARGETS[target](shop)
    original = vars(owner).get(name)
    seen = set()

    class Machine(ChaosTest):
        faults: ClassVar = [timing.timeout(target), timing.slow(target)]

        @rule()
        def look(self) -> None:
            on = tuple(fault.active for fault in self.faults)
            seen.add(on)
            assert (vars(owner).get(name) is original) == (not any(on))
            if on[0]:
                with pytest.raises(TimeoutError):
                    call()
            else:
                call()

    result = explored(Machine)
    assert len(seen) == 4
    assert all(use.hits for use in result.faults[:1])
    assert vars(owner).get(name) is original


def test_in_runs_the_layer_put_on_last_is_called_first(shop: Any) -> None:
    names = "abcd"

    def adding_name(name: str) -> PatchFault:
        return PatchFault("shop_app.api.Client.send", adding_text(name), name=name)

    class Machine(ChaosTest):
        faults: ClassVar = [adding_name(name) for name in names]
        swarm = False

        def __init__(self) -> None:
            super().__init__()
            self.order = ""

        @rule()
        def send(self) -> None:
            assert shop.api.Client().send("x") == f"sent x{self.order}"

        @invariant()
        def follow(self) -> None:
            on = [fault.name for fault in self.active_faults]
            self.order = "".join(name for name in self.order if name in on)
            self.order += "".join(name for name in on if name not in self.order)

    explored(Machine)


def test_in_runs_a_wrapper_is_called_once_a_run(shop: Any) -> None:
    made = []

    def counting(original: Any) -> Any:
        made.append(calls := [0])

        def call(self: Any, text: str) -> Any:
            calls[0] += 1
            return original(self, text) + str(calls[0])

        return call

    class Machine(ChaosTest):
        faults: ClassVar = [PatchFault("shop_app.api.Client.send", counting)]

        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        @rule()
        def send(self) -> None:
            self.calls += bool(self.active_faults)
            assert shop.api.client.send("x") == "sent x" + (str(self.calls) if self.active_faults else "")

    explored(Machine, runs=100, checkpoint_prob=0.0)
    assert 50 < len(made) <= 101


@pytest.mark.parametrize("holds", [False, True])
def test_a_wrapper_whose_replacement_holds_no_state_is_called_once(shop: Any, holds: bool) -> None:
    made = []

    def wrap(original: Any) -> Any:
        made.append(original)
        suffix: Any = ["!"] if holds else "!"
        return lambda self, text: original(self, text) + suffix[0]

    class Machine(ChaosTest):
        faults: ClassVar = [PatchFault("shop_app.api.Client.send", wrap)]

        @rule()
        def send(self) -> None:
            assert shop.api.client.send("x") == ("sent x!" if self.active_faults else "sent x")

    explored(Machine, runs=20)
    assert (len(made) > 1) == holds


def test_in_runs_a_module_imported_late_meets_the_fault_and_gets_the_original_back(shop: Any) -> None:
    original = shop.api.charge
    late: list[Any] = []

    class Machine(ChaosTest):
        faults: ClassVar = [PatchFault("shop_app.api.charge", constant(-1))]

        @rule()
        def import_one(self) -> None:
            if len(late) < 5:
                late.append(add_module(f"late{len(late)}", "from shop_app.api import charge"))

        @rule()
        def charge(self) -> None:
            expected = -1 if self.active_faults else 1
            assert [module.charge() for module in late[:5]] == [expected] * len(late)

    explored(Machine)
    assert [module.charge for module in late] == [original] * 5


def test_in_runs_the_program_may_replace_a_target_while_its_faults_are_off(shop: Any) -> None:
    original, client = shop.api.charge, shop.api.Client

    class Machine(ChaosTest):
        faults: ClassVar = [
            PatchFault("shop_app.api.charge", adding(10)),
            PatchFault("shop_app.api.Client.send", adding_text("!")),
        ]

        def __init__(self) -> None:
            super().__init__()
            shop.api.charge, shop.api.Client = original, client
            self.amount = 1

        @precondition(lambda self: not self.active_faults)
        @rule(amount=st.integers(2, 3))
        def replace(self, amount: int) -> None:
            shop.api.charge, self.amount = (lambda: amount), amount
            shop.api.Client = type("Client", (client,), {"send": lambda self, text: f"sent {text}"})

        @rule()
        def charge(self) -> None:
            on = [fault.active for fault in self.faults]
            assert shop.api.charge() == self.amount + 10 * on[0]
            assert shop.api.Client().send("x") == "sent x" + "!" * on[1]

        def teardown(self) -> None:
            super().teardown()
            shop.api.charge, shop.api.Client = original, client

    explored(Machine, checkpoint_prob=0.0)


def test_the_step_loop_switches_as_the_driver_in_python_does(shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Machine(ChaosTest):
        faults: ClassVar = [
            timing.intermittent_crash("shop_app.api.charge", every_n=2),
            timing.jitter("shop_app.api.charge", 0.5),
            PatchFault("shop_app.orders.sleep", constant("slept")),
        ]

        @rule()
        def charge(self) -> None:
            try:
                log.append((shop.orders.bill(2), shop.orders.sleep(0)))
            except RuntimeError as error:
                log.append(str(error))

    logs = []
    for in_cpp in (True, False):
        monkeypatch.setattr(Driver, "in_cpp", in_cpp)
        log: list[Any] = []
        result = explored(Machine, runs=60)
        logs.append((log, [(use.name, use.runs, use.calls, use.hits) for use in result.faults]))
    assert logs[0] == logs[1]
    assert len(logs[0][0]) > 100


def test_two_machines_take_turns_on_one_target(shop: Any) -> None:
    original = shop.api.charge

    def machine(amount: int) -> type[ChaosTest]:
        class Machine(ChaosTest):
            faults: ClassVar = [PatchFault("shop_app.api.charge", adding(amount))]

            @rule()
            def charge(self) -> None:
                assert shop.api.charge() == 1 + (amount if self.active_faults else 0)

        return Machine

    machines = [machine(1), machine(2)]
    for _ in range(2):
        for cls in machines:
            explored(cls, runs=20)
    assert shop.api.charge is original


def test_a_forked_process_has_a_fault_of_its_own(shop: Any) -> None:
    original, fault = shop.api.charge, timing.timeout("shop_app.api.charge")
    for _ in range(2):
        fault.activate()
        child = os.fork()
        if child == 0:
            fault.deactivate()
            os._exit(0 if shop.api.charge is original else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert fault.active
        assert shop.api.charge is not original
        fault.deactivate()


def test_a_replacement_looks_like_the_function_and_leaves_no_frame_of_its_own(shop: Any) -> None:
    def program_fails(amount: int = 1) -> int:
        """Doc."""
        raise KeyError(amount)

    program_fails.__module__ = "shop_app.api"
    shop.api.fails = program_fails
    with timing.slow("shop_app.api.fails"), PatchFault("shop_app.api.fails", adding(1)):
        assert inspect.isfunction(shop.api.fails)
        assert str(inspect.signature(shop.api.fails)) == str(inspect.signature(program_fails))
        assert (shop.api.fails.__name__, shop.api.fails.__doc__) == ("program_fails", "Doc.")
        with pytest.raises(KeyError) as caught:
            shop.api.fails(amount=3)
    files = {Path(entry.path).name for entry in caught.traceback}
    assert files == {"test_fault_switch.py", "shop.py"}, "the wrapper of the user, and what it calls"


def test_a_fault_that_was_switched_is_collected(shop: Any) -> None:
    fault = timing.timeout("shop_app.api.charge")
    own = PatchFault("shop_app.api.charge", adding(1))
    for each in (fault, own, fault, own):
        with each:
            pass
    gone: list[weakref.ref[Any]] = [weakref.ref(fault), weakref.ref(own)]
    del fault, own, each
    gc.collect()
    assert not any(ref() for ref in gone)
