"""Patches act on every kind of attribute and leave the exact original behind."""

from __future__ import annotations

import threading
import time
from typing import Any

import hypothesis.stateful
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordeal.errors import FaultError
from ordeal.faults import PatchFault, timing
from ordeal.faults.patching import TargetPath, UnresolvedTargetError

from ..samples.shop import add_module, adding, adding_text, constant, shop_app

# Unwinding


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=30))
def test_any_sequence_of_switches_unwinds_to_the_original(switches: list[tuple[int, bool]]) -> None:
    with shop_app() as shop:
        charge, send = shop.api.charge, vars(shop.api.Client)["send"]
        faults = [
            timing.timeout("shop_app.api.charge"),
            timing.slow("shop_app.api.charge"),
            PatchFault("shop_app.api.Client.send", adding_text("!")),
            PatchFault("shop_app.api.Client.send", adding_text("?")),
        ]
        for number, is_on in switches:
            (faults[number].activate if is_on else faults[number].deactivate)()
            assert (shop.api.charge is charge) == (not (faults[0].active or faults[1].active))
            assert (shop.orders.charge is charge) == (shop.api.charge is charge)
            sent = shop.api.Client().send("x")
            assert sent.startswith("sent x")
            assert sorted(sent.removeprefix("sent x")) == sorted("!" * faults[2].active + "?" * faults[3].active)
        for fault in faults:
            fault.deactivate()
        assert shop.api.charge is shop.orders.charge is shop.orders.bill is charge
        assert vars(shop.api.Client)["send"] is send


def test_the_layer_put_on_last_is_called_first(shop: Any) -> None:
    with PatchFault("shop_app.api.charge", adding(1)), PatchFault("shop_app.api.charge", lambda f: lambda: f(10) * 2):
        assert shop.api.charge() == 22


# Kinds of targets


def test_a_c_function_in_a_class_body_is_not_bound(shop: Any) -> None:
    shop.api.Client.clock = time.monotonic
    with PatchFault("shop_app.api.Client.clock", constant(1.0)):
        assert shop.api.Client().clock() == 1.0
    assert vars(shop.api.Client)["clock"] is time.monotonic


def test_an_inherited_method_is_patched_in_the_subclass_only(shop: Any) -> None:
    with PatchFault("shop_app.api.Mobile.send", adding_text("!")):
        assert shop.api.Mobile().send("x") == "sent x!"
        assert shop.api.Client().send("x") == "sent x"
    assert "send" not in vars(shop.api.Mobile)


@pytest.mark.parametrize("first_on", [0, 1])
@pytest.mark.parametrize("first_off", [0, 1])
def test_a_fault_on_the_base_class_acts_below_one_on_who_inherits(shop: Any, first_on: int, first_off: int) -> None:
    faults = [
        PatchFault("shop_app.api.Client.send", adding_text("!")),
        PatchFault("shop_app.api.Mobile.send", adding_text("?")),
    ]
    faults[first_on].activate()
    faults[1 - first_on].activate()
    assert shop.api.Mobile().send("x") == "sent x!?"
    faults[first_off].deactivate()
    assert shop.api.Mobile().send("x") == ("sent x?" if first_off == 0 else "sent x!")
    faults[1 - first_off].deactivate()
    assert shop.api.Mobile().send("x") == "sent x"
    assert "send" not in vars(shop.api.Mobile)


@pytest.mark.parametrize("first_on", [0, 1])
def test_a_fault_on_a_class_acts_below_one_on_an_object_of_it(shop: Any, first_on: int) -> None:
    faults = [
        PatchFault("shop_app.api.Client.send", adding_text("!")),
        PatchFault("shop_app.api.client.send", lambda f: lambda text: f(text) + "?"),
    ]
    faults[first_on].activate()
    faults[1 - first_on].activate()
    assert shop.api.client.send("x") == "sent x!?"
    faults[0].deactivate()
    assert shop.api.client.send("x") == "sent x?"
    faults[1].deactivate()
    assert vars(shop.api.client) == {}


def test_a_method_of_a_metaclass_stays_bound_to_its_class(shop: Any) -> None:
    meta = type("Meta", (type,), {"name_of": lambda cls: cls.__name__})
    shop.api.Made = meta("Made", (), {})
    with PatchFault("shop_app.api.Made.name_of", adding("!")):  # type: ignore[arg-type]
        assert shop.api.Made.name_of() == "Made!"
    assert "name_of" not in vars(shop.api.Made)


def test_a_bound_method_in_a_class_body_is_not_bound_again(shop: Any) -> None:
    shop.api.Mobile.post = shop.api.client.send
    with PatchFault("shop_app.api.Mobile.post", adding("!")):  # type: ignore[arg-type]
        assert shop.api.Mobile().post("x") == shop.api.Mobile.post("x") == "sent x!"
    assert vars(shop.api.Mobile)["post"] == shop.api.client.send


def test_class_methods_of_object_get_the_class(shop: Any) -> None:
    with timing.slow("shop_app.api.Client.__init_subclass__") as fault:
        type("Below", (shop.api.Client,), {})
    assert fault.observation_hits == 1
    assert "__init_subclass__" not in vars(shop.api.Client)


def test_an_inherited_new_cannot_be_replaced_without_a_trace(shop: Any) -> None:
    shop.api.Sized = type("Sized", (), {"__init__": lambda self, size: setattr(self, "size", size)})
    with pytest.raises(
        FaultError, match=r"(?s)Sized.__new__`: the class does not define it.*hint: aim at the __init__"
    ):
        timing.slow("shop_app.api.Sized.__new__").activate()
    with timing.slow("shop_app.api.Sized.__init__"):
        assert shop.api.Sized(3).size == 3
    assert shop.api.Sized(3).size == 3


def test_a_method_of_one_object(shop: Any) -> None:
    with PatchFault("shop_app.api.client.send", adding("!")):  # type: ignore[arg-type]
        assert shop.api.client.send("x") == "sent x!"
        assert shop.api.Client().send("x") == "sent x"
    assert vars(shop.api.client) == {}


def test_plain_values_and_classes(shop: Any) -> None:
    client = shop.api.Client
    with (
        PatchFault("shop_app.api.LIMIT", lambda limit: limit + 1),
        PatchFault("shop_app.api.LIMIT", lambda limit: limit * 2),
        PatchFault("shop_app.api.Client", lambda cls: type("Broken", (cls,), {})),
    ):
        assert shop.api.LIMIT == 12
        assert issubclass(shop.api.Client, client)
    assert shop.api.LIMIT == 5
    assert shop.api.Client is client


def test_an_object_with_slots(shop: Any) -> None:
    class Slotted:
        __slots__ = ("ask",)

    shop.api.slotted = Slotted()
    shop.api.slotted.ask = len
    with PatchFault("shop_app.api.slotted.ask", constant(-1)):
        assert shop.api.slotted.ask("x") == -1
    assert shop.api.slotted.ask is len


def test_a_cached_function_keeps_its_cache_methods(shop: Any) -> None:
    with timing.slow("shop_app.api.cached"):
        shop.api.cached.cache_clear()
        assert shop.api.cached() == "cached"


def test_attributes_of_c_types_cannot_be_replaced() -> None:
    fault = PatchFault("builtins.list.append", constant(None))
    with pytest.raises(FaultError, match=r"(?s)fault 'patch\(builtins.list.append\)' cannot replace .*hint: aim at"):
        fault.activate()
    assert not fault.active


# Bindings


def test_from_imports_meet_the_fault_too(shop: Any) -> None:
    with PatchFault("shop_app.api.charge", constant(-1)):
        assert (shop.api.charge(), shop.orders.charge(), shop.orders.bill()) == (-1, -1, -1)
    assert shop.orders.bill is shop.orders.charge is shop.api.charge


def test_a_target_in_another_package_means_that_binding_alone(shop: Any) -> None:
    with PatchFault("shop_app.orders.sleep", constant("slept")):
        assert shop.orders.sleep(0) == "slept"
        assert time.sleep(0) is None  # type: ignore[func-returns-value]
    with PatchFault("time.sleep", constant("slept")):
        assert shop.orders.sleep(0) == "slept"
    assert shop.orders.sleep is time.sleep


def test_the_machinery_of_tests_is_left_alone() -> None:
    clock = hypothesis.stateful.perf_counter  # type: ignore[attr-defined]
    with PatchFault("time.perf_counter", constant(0.0)):
        assert hypothesis.stateful.perf_counter is clock  # type: ignore[attr-defined]


def test_a_fault_on_a_binding_and_one_on_the_function_unwind_in_any_order(shop: Any) -> None:
    original = shop.api.charge
    home = PatchFault("shop_app.api.charge", adding(1))
    other = PatchFault("shop_app.orders.charge", adding(10))
    home.activate()
    other.activate()
    assert shop.orders.charge() == 12
    home.deactivate()
    assert shop.orders.charge() == 11
    other.deactivate()
    assert shop.orders.charge is shop.orders.bill is shop.api.charge is original


def test_a_module_made_anew_between_two_activations_meets_the_fault(shop: Any) -> None:
    fault = timing.timeout("shop_app.api.charge")
    with fault:
        pass
    old = shop.api.charge
    exec("def charge(amount=1):\n    return amount", vars(shop.api))
    with fault, pytest.raises(TimeoutError):
        shop.api.charge()
    assert shop.api.charge() == shop.orders.charge() == 1
    assert shop.orders.charge is old


def test_a_module_under_another_name_is_the_same(shop: Any) -> None:
    late = add_module("late", "import shop_app.api as bank\ndef ask():\n    return bank.charge()")
    with PatchFault("shop_app.api.charge", constant(-1)):
        assert late.ask() == -1
    assert late.ask() == 1


def test_modules_imported_before_the_next_activation_are_found(shop: Any) -> None:
    fault = PatchFault("shop_app.api.charge", constant(-1))
    with fault:
        pass
    late = add_module("late", "from shop_app.api import charge")
    with fault:
        assert late.charge() == -1
    assert late.charge is shop.api.charge


def test_a_module_imported_while_a_fault_is_on_gets_the_original_back(shop: Any) -> None:
    original = shop.api.charge
    with PatchFault("shop_app.api.charge", constant(-1)):
        late = add_module("late", "from shop_app.api import charge")
        assert late.charge() == -1
    assert late.charge is original


def test_a_reference_kept_while_a_fault_was_on_is_harmless_later(shop: Any) -> None:
    with PatchFault("shop_app.api.charge", constant(-1)):
        kept = shop.api.charge
        assert kept() == -1
    assert kept() == 1


# Somebody else's replacements


def test_a_replacement_by_somebody_else_is_not_destroyed(shop: Any) -> None:
    original, fault = shop.api.charge, timing.timeout("shop_app.api.charge")
    fault.activate()
    put_back, foreign = shop.api.charge, lambda: 99
    shop.api.charge = foreign
    with pytest.raises(FaultError, match=r"fault 'timeout\(shop_app.api.charge, 30.0s\)' .*`shop_app.api.charge`"):
        fault.deactivate()
    assert shop.api.charge is foreign
    assert not fault.active
    assert fault.is_unwound
    # As a monkeypatch would: what it found was the wrapper, which lets everything through by now.
    shop.api.charge = put_back
    assert shop.api.charge() == 1
    with fault, pytest.raises(TimeoutError):
        shop.api.charge()
    assert shop.api.charge is original


def test_no_fault_is_put_on_top_of_a_replacement_by_somebody_else(shop: Any) -> None:
    first, second = timing.timeout("shop_app.api.charge"), timing.slow("shop_app.api.charge")
    first.activate()
    wrapper, shop.api.charge = shop.api.charge, len
    with pytest.raises(FaultError, match=r"cannot be put on `shop_app.api.charge`"):
        second.activate()
    assert not second.active
    shop.api.charge = wrapper
    first.deactivate()


# Wrappers that misbehave


@pytest.mark.parametrize(
    ("wrapper", "text"),
    [(lambda _: None, "returned None for `shop_app.api.charge`"), (lambda _: 1 / 0, "ZeroDivisionError")],
)
def test_a_bad_wrapper_is_named_and_changes_nothing(shop: Any, wrapper: Any, text: str) -> None:
    original, fault = shop.api.charge, PatchFault("shop_app.api.charge", wrapper, name="bad")
    with pytest.raises(FaultError, match=f"the wrapper of fault 'bad' .*{text}"):
        fault.activate()
    assert not fault.active
    assert fault.is_unwound
    assert shop.api.charge is original


# Targets


@pytest.mark.parametrize("target", ["charge", "", "shop..charge", "shop.", "shop:charge", "a b.c", 7])
def test_a_target_that_is_no_dotted_path(target: Any) -> None:
    with pytest.raises(FaultError, match="must be a dotted path, got"):
        TargetPath(target)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("no_such_package_at_all.x", "no module named `no_such_package_at_all`"),
        ("shop_app.api.nothing", "`shop_app.api` has no attribute 'nothing'"),
        ("shop_app.api.Client.x.y", "`shop_app.api.Client` has no attribute 'x'"),
    ],
)
def test_a_target_that_names_nothing(shop: Any, target: str, reason: str) -> None:
    with pytest.raises(UnresolvedTargetError, match=reason):
        TargetPath(target).resolve()


@pytest.mark.parametrize(("source", "error"), [("import no_such_thing", "ModuleNotFoundError"), ("1 / 0", "ZeroDiv")])
def test_a_module_that_cannot_be_imported_is_named(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, source: str, error: str
) -> None:
    (tmp_path / "broken_shop.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnresolvedTargetError, match=f"importing `broken_shop` raises {error}"):
        TargetPath("broken_shop.charge").resolve()


# Threads


def test_switching_from_many_threads_unwinds(shop: Any) -> None:
    original = shop.api.charge
    faults = [timing.slow("shop_app.api.charge", delay=float(n)) for n in range(4)]

    def switch(fault: Any) -> None:
        for _ in range(200):
            with fault:
                assert shop.api.charge() == 1

    threads = [threading.Thread(target=switch, args=(fault,)) for fault in faults]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shop.api.charge is shop.orders.charge is original
