"""Each way in which a fault acts on a call works on each kind of function, and the function is there again after it."""

from __future__ import annotations

import asyncio
import functools
import inspect
import math
import os
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import pytest

from ordeal.errors import FaultError
from ordeal.faults import MultiPatchFault, PatchFault, concurrency, io, network, numerical, timing

from ..samples.shop import add_module, shop_app

SOURCE = """
import functools
import math

square_root = math.sqrt

def plain(amount):
    return amount

async def coroutine(amount):
    return amount

class Till:
    def method(self, amount):
        return amount

    @staticmethod
    def static(amount):
        return amount

    @classmethod
    def of_class(cls, amount):
        return amount

    @property
    def total(self):
        return 4

    @functools.cached_property
    def cached(self):
        return 4

    async def method_later(self, amount):
        return amount

    @staticmethod
    async def static_later(amount):
        return amount

    @classmethod
    async def of_class_later(cls, amount):
        return amount

partial = functools.partial(int, 4)
"""

# What the target is, and how it is called; each gives 4.
KINDS: dict[str, Callable[[ModuleType], Any]] = {
    "plain": lambda till: till.plain(4),
    "coroutine": lambda till: asyncio.run(till.coroutine(4)),
    "Till.method": lambda till: till.Till().method(4),
    "Till.static": lambda till: (till.Till.static(4), till.Till().static(4))[1],
    "Till.of_class": lambda till: (till.Till.of_class(4), till.Till().of_class(4))[1],
    "Till.total": lambda till: till.Till().total,
    "Till.cached": lambda till: till.Till().cached,
    "Till.method_later": lambda till: asyncio.run(till.Till().method_later(4)),
    "Till.static_later": lambda till: asyncio.run(till.Till.static_later(4)),
    "Till.of_class_later": lambda till: asyncio.run(till.Till().of_class_later(4)),
    "partial": lambda till: till.partial(),
    "square_root": lambda till: till.square_root(16),
}
# A replacement of these is of the same kind; other callables are replaced by functions.
KEPT = (FunctionType, staticmethod, classmethod, property, functools.cached_property)


def passing_on(original: Any) -> Any:
    def replacement(*args: Any) -> Any:
        return original(*args)

    return replacement


def raised(kind: type[Exception]) -> Callable[[Any], bool]:
    return lambda found: found is kind


# One fault for each way of acting: before a call, instead of it, on its result, and around it.
FAULTS: dict[str, tuple[Callable[[str], MultiPatchFault], Callable[[Any], bool]]] = {
    "timeout": (timing.timeout, raised(TimeoutError)),
    "slow": (lambda target: timing.slow(target, 0.0, "real"), lambda found: found == 4),
    "return_empty": (io.return_empty, lambda found: found is None),
    "nan_injection": (numerical.nan_injection, math.isnan),
    "http_error": (network.http_error, raised(network.HTTPFaultError)),
    "contended_call": (concurrency.contended_call, lambda found: found == 4),
    "delayed_release": (concurrency.delayed_release, lambda found: found == 4),
    "thread_boundary": (concurrency.thread_boundary, lambda found: found == 4),
    "limited": (lambda target: timing.timeout(target).limited(calls=(1, None)), raised(TimeoutError)),
    "let through": (lambda target: timing.timeout(target).limited(probability=0), lambda found: found == 4),
    "PatchFault": (lambda target: PatchFault(target, passing_on), lambda found: found == 4),
}


@pytest.fixture
def till() -> Iterator[ModuleType]:
    with shop_app():
        yield add_module("till", SOURCE)


def found_by(call: Callable[[ModuleType], Any], till: ModuleType) -> Any:
    try:
        return call(till)
    except (TimeoutError, network.HTTPFaultError) as error:
        return type(error)


def stored(till: ModuleType, path: str) -> Any:
    *owners, name = path.split(".")
    return vars(vars(till)[owners[0]] if owners else till)[name]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", FAULTS)
def test_a_fault_acts_on_every_kind_of_function(till: ModuleType, way: str, kind: str) -> None:
    make, is_met = FAULTS[way]
    original, fault = stored(till, kind), make(f"shop_app.till.{kind}")
    for _ in range(2):
        with fault:
            assert type(stored(till, kind)) is type(original) or not isinstance(original, KEPT)
            assert is_met(found_by(KINDS[kind], till))
            assert fault.observation_hits
        assert stored(till, kind) is original
        assert KINDS[kind](till) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_coroutine_functions_stay_so(till: ModuleType, kind: str) -> None:
    def is_coroutine_function() -> bool:
        function = stored(till, kind)
        return inspect.iscoroutinefunction(getattr(function, "__func__", function))

    before = is_coroutine_function()
    target = f"shop_app.till.{kind}"
    with timing.slow(target), concurrency.thread_boundary(target), PatchFault(target, passing_on):
        assert is_coroutine_function() == before
        assert KINDS[kind](till) == 4


@pytest.mark.parametrize("way", ["timeout", "nan_injection", "thread_boundary"])
def test_a_function_of_a_c_module(way: str) -> None:
    make, _ = FAULTS[way]
    original = os.getpid
    with make("os.getpid") as fault:
        assert os.getpid is not original
        found_by(lambda _: os.getpid(), ModuleType("unused"))
        assert fault.observation_hits == 1
    assert os.getpid is original


@pytest.mark.parametrize("way", FAULTS)
def test_names_imported_from_a_module_meet_every_fault(till: ModuleType, way: str) -> None:
    make, is_met = FAULTS[way]
    desk = add_module("desk", "from shop_app.till import plain, plain as ask")
    with make("shop_app.till.plain"):
        assert is_met(found_by(lambda _: desk.plain(4), till))
        assert is_met(found_by(lambda _: desk.ask(4), till))
    assert desk.plain is desk.ask is till.plain


def test_limits_of_a_patch_are_of_functions(till: ModuleType) -> None:
    fault = PatchFault("shop_app.till.Till", lambda cls: type("Other", (cls,), {})).limited(calls=(1, 2))
    with pytest.raises(FaultError, match=r"limits calls, and puts <class .*Other'> in place of `shop_app.till.Till`"):
        fault.activate()
    assert fault.is_unwound
