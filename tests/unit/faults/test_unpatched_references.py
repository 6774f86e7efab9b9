"""What keeps a function where no fault on it acts is found and told, and what a fault reaches is not."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from ordeal.errors import FaultError
from ordeal.faults import PatchFault, io, kept_elsewhere, timing

from ..samples.shop import add_module, shop_app

CHARGE = "shop_app.api.charge"
KEPT = """
import functools
import shop_app.api as bank
from shop_app.api import charge, charge as ask

def by_default(amount, how=charge): return how(amount)
def by_keyword(amount, *, how=charge): return how(amount)
def by_name(amount): return charge(amount) + bank.charge(amount)
def make():
    how = charge
    def inner(amount): return how(amount)
    return inner
enclosed = make()
HANDLERS = {"charge": charge}
NESTED = {"handlers": {"charge": charge}}
LIST = [charge]
TUPLE = (charge, 1)
SET = {charge}
partial = functools.partial(charge, 1)
class Till:
    method = charge
    static = staticmethod(charge)
    __slots__ = ("how",)
    def __init__(self): self.how = charge
class Open:
    def __init__(self): self.how = charge
till, opened = Till(), Open()
@functools.wraps(charge)
def decorated(*args): return charge(*args)
"""
EXPECTED = [
    "`shop_app.kept.HANDLERS`",
    "`shop_app.kept.LIST`",
    "`shop_app.kept.NESTED`",
    "`shop_app.kept.SET`",
    "`shop_app.kept.TUPLE`",
    "`shop_app.kept.Till.method`",
    "`shop_app.kept.Till.static`",
    "`shop_app.kept.opened`",
    "`shop_app.kept.partial`",
    "`shop_app.kept.till`",
    "a default argument of `shop_app.kept.by_default`",
    "a default argument of `shop_app.kept.by_keyword`",
    "the closure of `shop_app.kept.make.<locals>.inner`",
]


@pytest.fixture
def shop() -> Iterator[Any]:
    with shop_app() as modules:
        yield modules


def told(fault: Any) -> list[str]:
    """The warnings of switching a fault on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with fault:
            pass
    return [str(warning.message) for warning in caught]


def test_all_that_keeps_a_function_is_found(shop: Any) -> None:
    add_module("kept", KEPT)
    assert kept_elsewhere(CHARGE) == EXPECTED
    with pytest.warns(UserWarning, match="is kept elsewhere"), timing.slow(CHARGE):
        assert kept_elsewhere(CHARGE) == EXPECTED


def test_names_of_modules_are_reached_and_not_told(shop: Any) -> None:
    add_module("late", "import shop_app.api as bank\nfrom shop_app.api import charge\ndef pay(): return charge()")
    assert kept_elsewhere(CHARGE) == []
    assert told(timing.slow(CHARGE)) == []


def test_a_fault_tells_once_and_does_not_act_there(shop: Any) -> None:
    desk = add_module("desk", "from shop_app.api import charge\ndef pay(amount, how=charge): return how(amount)")
    fault = io.return_empty(CHARGE).limited(calls=(1, None))
    text = (
        f"Fault {fault.name!r} does not act where `{CHARGE}` is kept elsewhere: "
        "a default argument of `shop_app.desk.pay`"
    )
    assert told(fault) == [text]
    assert told(fault) == []
    with fault:
        assert desk.pay(3) == 3
        assert desk.charge(3) is None


def test_a_warning_that_is_an_error_leaves_the_fault_off(shop: Any) -> None:
    add_module("desk", "from shop_app.api import charge\nALL = [charge]")
    fault = timing.timeout(CHARGE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="does not act where"):
            fault.activate()
        assert (fault.active, fault.is_unwound, shop.api.charge()) == (False, True, 1)
        with fault, pytest.raises(TimeoutError):
            shop.api.charge()


def test_a_fault_that_is_not_resolved_tells_later(shop: Any) -> None:
    fault = timing.slow("shop_app.late.charge")
    with pytest.raises(FaultError, match="cannot resolve target"):
        fault.activate()
    add_module("late", "def charge(): return 1\nALL = [charge]")
    assert told(fault) == [
        f"Fault {fault.name!r} does not act where `shop_app.late.charge` is kept elsewhere: `shop_app.late.ALL`"
    ]


def test_the_standard_library_is_listed_and_not_told(shop: Any) -> None:
    add_module("waits", "import time\ndef wait(sleep=time.sleep): return sleep(0)")
    assert "a default argument of `shop_app.waits.wait`" in kept_elsewhere("time.sleep")
    assert told(timing.slow("time.sleep")) == []


@pytest.mark.parametrize("target", ["shop_app.api.Client.send", "shop_app.api.Client", "shop_app.api.LIMIT"])
def test_other_targets_have_none(shop: Any, target: str) -> None:
    shop.api.kept = [shop.api.Client, shop.api.Client.send]
    assert kept_elsewhere(target) == []


def test_a_foreign_name_means_itself_alone(shop: Any) -> None:
    shop.orders.kept = [shop.orders.sleep]
    assert kept_elsewhere("shop_app.orders.sleep") == []
    assert told(PatchFault("shop_app.orders.sleep", functools.partial)) == []


def test_objects_that_answer_for_others_are_not_asked(shop: Any) -> None:
    class Proxy:
        def __init__(self, kept: Any) -> None:
            self.kept = kept

        @property  # type: ignore[misc]
        def __class__(self) -> Any:
            raise RuntimeError("not in a request")

    shop.api.proxy = Proxy(shop.api.charge)
    assert kept_elsewhere(CHARGE) == ["`shop_app.api.proxy`"]


def test_a_target_that_names_nothing(shop: Any) -> None:
    with pytest.raises(FaultError, match=r"`shop_app.api` has no attribute 'nothing'"):
        kept_elsewhere("shop_app.api.nothing")
