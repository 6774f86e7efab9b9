"""Faults are switched, counted, reset and released."""

from __future__ import annotations

import asyncio
import copy
import pickle
import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from ordeal.errors import FaultError
from ordeal.faults import (
    CallFault,
    Fault,
    LambdaFault,
    MultiPatchFault,
    PatchFault,
    catalog,
    concurrency,
    database,
    io,
    memory,
    network,
    numerical,
    randomness,
    release,
    timing,
)

from ..samples.shop import shop_app


class Recording(Fault):
    """Writes down how it is switched."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.log: list[str] = []

    def _do_activate(self) -> None:
        self.log.append("on")

    def _do_deactivate(self) -> None:
        self.log.append("off")


def test_switching_is_idempotent() -> None:
    fault = Recording("power")
    assert (fault.active, repr(fault)) == (False, "power(OFF)")
    fault.deactivate()
    fault.activate()
    fault.activate()
    assert (fault.active, repr(fault)) == (True, "power(ON)")
    fault.deactivate()
    fault.deactivate()
    assert fault.log == ["on", "off"]


def test_the_default_name_is_that_of_the_class() -> None:
    assert Recording().name == "Recording"


def test_a_context_switches_off_after_an_error() -> None:
    fault = Recording()
    with pytest.raises(KeyError), fault:
        raise KeyError
    assert fault.log == ["on", "off"]


def test_reset_switches_off_and_forgets_the_calls() -> None:
    fault = Recording()
    fault.activate()
    assert [fault.observe(), fault.observe(), fault.observation_hits] == [1, 2, 2]
    fault.reset()
    assert (fault.active, fault.observation_hits) == (False, 0)


def test_a_copied_fault_is_the_same_fault() -> None:
    fault = Recording()
    assert copy.copy(fault) is fault
    assert copy.deepcopy({"faults": [fault]})["faults"][0] is fault


# PatchFault


def test_a_patch_counts_calls_and_has_a_default_name(shop: Any) -> None:
    fault = PatchFault("shop_app.api.charge", lambda original: lambda: original(2))
    assert fault.name == "patch(shop_app.api.charge)"
    shop.api.charge()
    with fault:
        assert [shop.api.charge(), shop.api.charge()] == [2, 2]
    assert fault.observation_hits == 2
    assert PatchFault("shop_app.api.charge", lambda f: f, name="mine").name == "mine"


def test_a_target_is_looked_up_when_the_fault_is_first_switched_on() -> None:
    fault = timing.timeout("shop_app.api.charge")
    with shop_app() as shop, fault, pytest.raises(TimeoutError):
        shop.api.charge()
    with shop_app() as shop, fault, pytest.raises(TimeoutError):
        shop.api.charge()


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("no_such_shop.charge", "write the module and the attribute as they are imported"),
        ("shop_ap.api.charge", "did you mean `shop_app.api.charge`?"),
        ("shop_app.api.chrge", "did you mean `shop_app.api.charge`?"),
        ("shop_app.api.Clent.send", "did you mean `shop_app.api.Client.send`?"),
    ],
)
def test_a_target_that_names_nothing_is_an_error(shop: Any, target: str, hint: str) -> None:
    fault = timing.timeout(target)
    for use in (fault.check_targets, fault.activate):
        with pytest.raises(FaultError, match="cannot resolve target") as caught:
            use()
        assert hint in (caught.value.hint or "")
    assert not fault.active


def test_a_target_in_an_object_that_is_not_there_yet_warns_once_and_stays_off(shop: Any) -> None:
    shop.api.connection = None
    fault = timing.timeout("shop_app.api.connection.send")
    fault.check_targets()
    text = r"Skipping fault 'timeout\(shop_app.api.connection.send, 30.0s\)': cannot resolve target"
    with pytest.warns(UserWarning, match=text) as caught:
        fault.activate()
    assert caught[0].filename == __file__
    assert not fault.active
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fault.activate()
    assert not fault.active


def test_several_targets_are_patched_all_or_none(shop: Any) -> None:
    original = shop.api.charge
    fault = MultiPatchFault("both", [("shop_app.api.charge", lambda f: lambda: 0), ("shop_app.api.none", lambda f: f)])
    with pytest.raises(FaultError, match=r"fault 'both' cannot resolve target 'shop_app\.api\.none'"):
        fault.activate()
    assert not fault.active
    assert shop.api.charge is original


# CallFault


def test_the_steps_of_a_call_come_in_order(shop: Any) -> None:
    log: list[object] = []

    def log_and_replace(result: object) -> int:
        log.append(result)
        return -1

    fault = CallFault("shop_app.api.charge", "logged", before=log.append, after=log_and_replace)
    with fault:
        assert [shop.api.charge(5), shop.api.charge(6)] == [-1, -1]
    assert log == [1, 5, 2, 6]


def test_an_answer_takes_the_place_of_the_call(shop: Any) -> None:
    with CallFault("shop_app.api.charge", "answered", answer=lambda: 7, after=lambda result: result + 1):
        assert shop.api.charge(100) == 8
    with CallFault("shop_app.api.charge_later", "answered", answer=lambda: 7):
        assert asyncio.run(shop.api.charge_later(100)) == 7


def test_the_making_of_objects_can_fail(shop: Any) -> None:
    with timing.timeout("shop_app.api.Client.__init__"), pytest.raises(TimeoutError):
        shop.api.Client()
    assert "__init__" not in vars(shop.api.Client)
    assert shop.api.Client().size == 10


# LambdaFault


@pytest.mark.parametrize(("target", "kind"), [("Client", "a class\nhint: aim at .*Client.__init__"), ("LIMIT", "5")])
def test_calls_are_of_functions(shop: Any, target: str, kind: str) -> None:
    fault = timing.timeout(f"shop_app.api.{target}")
    with pytest.raises(FaultError, match=f"acts on functions, and `shop_app.api.{target}` is {kind}"):
        fault.activate()
    assert not fault.active
    assert fault.is_unwound


def test_a_lambda_fault_calls_its_functions() -> None:
    log: list[str] = []
    with LambdaFault("log", lambda: log.append("on"), lambda: log.append("off")):
        assert log == ["on"]
    assert log == ["on", "off"]


def test_an_error_while_switching_on_leaves_it_off() -> None:
    fault = LambdaFault("weak", lambda: 1 / 0, int)
    with pytest.raises(FaultError, match="fault 'weak' could not be switched on: ZeroDivisionError: division by zero"):
        fault.activate()
    assert not fault.active


def test_an_error_while_switching_off_leaves_it_off() -> None:
    fault = LambdaFault("stuck", int, lambda: 1 / 0)
    fault.activate()
    with pytest.raises(FaultError, match="fault 'stuck' could not be switched off: ZeroDivisionError") as caught:
        fault.deactivate()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert not fault.active
    fault.activate()
    assert fault.active


# release


def test_release_resets_all_even_if_one_fails() -> None:
    first, stuck, last = Recording(), LambdaFault("stuck", int, lambda: 1 / 0), Recording()
    for fault in (first, stuck, last):
        fault.activate()
    with pytest.raises(FaultError, match="'stuck'"):
        release([first, stuck, last])
    assert not any(fault.active for fault in (first, stuck, last))


def test_release_names_a_fault_that_leaks(shop: Any) -> None:
    class Leaky(PatchFault):
        def _do_deactivate(self) -> None:
            """Forgets to take the patch off."""

    fault = Leaky("shop_app.api.charge", lambda f: lambda: f(2), name="leaky")
    fault.activate()
    with pytest.raises(FaultError, match=r"fault 'leaky' is still in effect after reset\(\)\nhint: .* of Leaky must"):
        release([fault])
    PatchFault._do_deactivate(fault)


# catalog


def test_the_catalog_lists_every_fault_of_the_families() -> None:
    entries = {entry["name"]: entry for entry in catalog()}
    types = {"FaultResponse", "HTTPFaultError"}
    families = (timing, io, numerical, network, concurrency, database, memory)
    assert set(entries) == {name for family in families for name in family.__all__} - types
    assert entries["timeout"]["qualname"] == "ordeal.faults.timing.timeout"
    assert entries["timeout"]["module"] == "ordeal.faults.timing"
    assert "delay: 'float' = 30.0" in entries["timeout"]["signature"]
    assert "fill: 'Any' = <drop>" in entries["missing_feature"]["signature"]
    assert all(entry["doc"].endswith((".", ":")) for entry in entries.values())


class Blackout(Fault):
    def __init__(self, place: str) -> None:
        super().__init__(f"blackout({place})")
        self.place = place

    def _do_activate(self) -> None: ...

    def _do_deactivate(self) -> None: ...


def no_change(original: Any) -> Any:
    return lambda: original()  # noqa: PLW0108 - limits are of functions in Python


@pytest.mark.parametrize(
    "fault", [Blackout("north"), LambdaFault("off", int, int), PatchFault("os.getpid", no_change).limited(calls=(1, 2))]
)
def test_own_faults_can_be_sent_to_another_process(fault: Fault) -> None:
    with fault:
        fault.observe()
        there = pickle.loads(pickle.dumps(fault))
    assert (type(there), there.name, there.active, there.observation_hits) == (type(fault), fault.name, False, 0)
    with there:
        assert there.active
    assert there.is_unwound
    assert fault.observation_hits == 1


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: LambdaFault("", int, int), "a fault got the name ''\nhint: write a text that is not empty"),
        (lambda: LambdaFault(5, int, int), "a fault got the name 5\nhint: write a text that is not empty"),  # type: ignore[arg-type]
        (lambda: LambdaFault("off", None, int), "fault 'off' got the on_activate None\nhint: write a function"),  # type: ignore[arg-type]
        (lambda: LambdaFault("off", int, None), "fault 'off' got the on_deactivate None\nhint: write a function"),  # type: ignore[arg-type]
        (lambda: PatchFault("a.b", 5), "fault 'patch(a.b)' got the wrapper_fn 5\nhint: write a function"),  # type: ignore[arg-type]
    ],
)
def test_arguments_that_are_refused(make: Callable[[], object], text: str) -> None:
    with pytest.raises(FaultError) as refused:
        make()
    assert str(refused.value) == text


CHARGE = "shop_app.api.charge"


def acted(api: Any, fault: MultiPatchFault, calls: int) -> list[int]:
    """The numbers of those calls, from 1, that were answered with None."""
    with fault:
        return [number for number in range(1, calls + 1) if api.charge(number) is None]


@pytest.mark.parametrize(
    ("calls", "numbers"),
    [((1, 1), [1]), ((2, 3), [2, 3]), ((4, None), [4, 5, 6]), ((7, 9), []), (None, [*range(1, 7)])],
)
def test_a_window_of_calls(api: Any, calls: Any, numbers: list[int]) -> None:
    fault = io.return_empty(CHARGE).limited(calls=calls)
    assert acted(api, fault, 6) == numbers
    assert fault.observation_hits == 6
    fault.reset()
    assert acted(api, fault, 6) == numbers


def test_a_window_goes_on_over_switching_and_resuming(api: Any) -> None:
    fault = io.return_empty(CHARGE).limited(calls=(3, 4))
    assert acted(api, fault, 2) == []
    assert acted(api, fault, 2) == [1, 2]
    fault.resume(3)
    assert acted(api, fault, 2) == [1]


def test_a_probability_is_met_about_as_often_and_the_same_in_every_run(api: Any) -> None:
    fault = io.return_empty(CHARGE).limited(probability=0.25)
    fault.reset()
    first = acted(api, fault, 400)
    assert 60 < len(first) < 140
    fault.reset()
    assert acted(api, fault, 400) == first


def test_chance_is_asked_inside_the_window_only(api: Any) -> None:
    source = random.Random(5)
    before = randomness.set_random(source)
    try:
        acted(api, io.return_empty(CHARGE).limited(probability=0.5, calls=(3, 4)), 20)
    finally:
        randomness.set_random(before)
    expected = random.Random(5)
    assert [expected.random(), expected.random(), expected.random()][2] == source.random()


@pytest.mark.parametrize(("probability", "count"), [(0, 0), (0.0, 0), (1, 5), (1.0, 5), (None, 5)])
def test_never_and_always(api: Any, probability: Any, count: int) -> None:
    assert len(acted(api, io.return_empty(CHARGE).limited(probability=probability), 5)) == count


@pytest.mark.parametrize(
    ("limits", "suffix"),
    [
        ({}, ""),
        ({"probability": 0.1}, "[p=0.1]"),
        ({"calls": (2, 5)}, "[calls 2..5]"),
        ({"calls": (2, None)}, "[calls 2..]"),
        ({"calls": (1, None)}, ""),
        ({"probability": 0.5, "calls": (1, 3)}, "[p=0.5, calls 1..3]"),
    ],
)
def test_the_name_tells_the_limits(limits: Any, suffix: str) -> None:
    fault = timing.timeout(CHARGE).limited(calls=(9, 9)).limited(**limits)
    assert fault.name == f"timeout({CHARGE}, 30.0s){suffix}"


@pytest.mark.parametrize("probability", [-0.1, 1.5, float("nan"), "often", True])
def test_a_probability_that_is_none(probability: Any) -> None:
    text = f"fault 'timeout({CHARGE}, 30.0s)' got the probability {probability!r}\nhint: write a number from 0 to 1"
    with pytest.raises(FaultError) as caught:
        timing.timeout(CHARGE).limited(probability=probability)
    assert str(caught.value) == text


@pytest.mark.parametrize("calls", [(0, 3), (3, 2), 4, (1,), (1, 2, 3), (None, 2), ("1", 2), (True, 2)])
def test_a_window_that_is_none(calls: Any) -> None:
    with pytest.raises(FaultError, match=r"got the calls .*\nhint: write the first and the last call"):
        timing.timeout(CHARGE).limited(calls=calls)


def test_limits_are_set_while_it_is_off(api: Any) -> None:
    fault = timing.timeout(CHARGE)
    with fault, pytest.raises(FaultError, match=r"is on\nhint: set its limits before"):
        fault.limited(probability=0.5)
    assert fault.name == f"timeout({CHARGE}, 30.0s)"


def test_a_patch_lets_the_original_be_called(api: Any) -> None:
    fault = PatchFault(CHARGE, lambda original: lambda amount: original(amount) * 10).limited(calls=(2, 2))
    with fault:
        assert [api.charge(1), api.charge(1), api.charge(1)] == [1, 10, 1]
