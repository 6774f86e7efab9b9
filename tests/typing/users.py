"""What users write, as a strict type checker must see it; it is checked with the rest of the tests, and never run.

A wrong use is marked by the error that it must be: one that is none any more is an unused ``type: ignore``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_type

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import ordeal.buggify
import ordeal.quickcheck
from ordeal import buggify, buggify_value, quickcheck
from ordeal.buggify import activated
from ordeal.quickcheck import biased, strategy_for_type
from ordeal.quickcheck import quickcheck as quickcheck_function

# ---------------------------------------------------------------------------------------------------------------------
# quickcheck


@quickcheck
def bare(xs: list[int]) -> None:
    assert sorted(xs)


@quickcheck(max_examples=5)
def with_examples(x: int, y: str = "") -> None:
    assert y * x


@quickcheck(max_examples=5, port=st.integers(1, 65535))
def with_strategies(port: int) -> None:
    assert port


class Tests:
    @quickcheck
    def method(self, x: int) -> None:
        assert self is not None
        assert x


@ordeal.quickcheck
def dotted(x: int) -> None:
    assert x


@ordeal.quickcheck.quickcheck(max_examples=1)
def dotted_twice(x: int) -> None:
    assert x


@quickcheck_function
def from_the_module(x: int) -> None:
    assert x


@quickcheck_function(x=st.integers())
def from_the_module_with_strategies(x: int) -> None:
    assert x


assert_type(bare, Callable[..., None])
assert_type(with_examples, Callable[..., None])
assert_type(with_strategies, Callable[..., None])
assert_type(from_the_module, Callable[..., None])
bare()
Tests().method()

assert_type(quickcheck.biased.integers(0, 9), SearchStrategy[int])
assert_type(quickcheck.biased.floats(allow_nan=True), SearchStrategy[float])
assert_type(quickcheck.biased.strings(max_size=3), SearchStrategy[str])
assert_type(quickcheck.biased.bytes_(1), SearchStrategy[bytes])
assert_type(quickcheck.biased.lists(st.integers(), 0, 3), SearchStrategy[list[int]])
assert_type(biased.integers(), SearchStrategy[int])
assert_type(ordeal.quickcheck.biased.integers(), SearchStrategy[int])
quickcheck.strategy_for_type(int).map(str)
strategy_for_type(list[int]).map(len)

quickcheck(3)  # type: ignore[call-overload]
quickcheck(max_examples="5")  # type: ignore[call-overload]
quickcheck(x=3)  # type: ignore[call-overload]
quickcheck.biased.integers("0")  # type: ignore[arg-type]
_ = quickcheck.missing  # type: ignore[attr-defined]

# ---------------------------------------------------------------------------------------------------------------------
# buggify

assert_type(buggify(), bool)
assert_type(buggify(0.5), bool)
assert_type(buggify.buggify(), bool)
assert_type(buggify.is_active(), bool)
assert_type(ordeal.buggify(), bool)
assert_type(buggify_value(1, 2), int)
assert_type(buggify.buggify_value("a", "b", 0.1), str)
buggify.activate(0.2)
buggify.set_seed(7)
buggify.deactivate()
ordeal.buggify.deactivate()
with buggify.activated(0.5, seed=1), activated():
    pass

buggify("often")  # type: ignore[arg-type]
