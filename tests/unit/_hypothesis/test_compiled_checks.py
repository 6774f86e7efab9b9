"""Nodes that do not draw as Hypothesis does are given up, and values are compared to the bit."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

import ordeal._native as _native
from ordeal._hypothesis import compiled_checks


def test_a_node_that_does_otherwise_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    given_up: list[str] = []
    monkeypatch.setattr(compiled_checks, "given_up", given_up)
    assert not compiled_checks.passes_probe(st.integers(0, 1000), _native.integers_node(0, 999_999))
    (why,) = given_up
    assert why.startswith("integers(min_value=0, max_value=1000) is drawn through Hypothesis")


def test_same_tells_bits_and_types_apart() -> None:
    nan = float("nan")
    assert compiled_checks.same([nan, {1: (0.0,)}], [float("nan"), {1: (0.0,)}])
    assert not compiled_checks.same(0.0, -0.0)
    assert not compiled_checks.same(1, True)
    assert not compiled_checks.same([1], (1,))
    assert not compiled_checks.same({1: 2, 3: 4}, {3: 4, 1: 2})
    assert compiled_checks.same({1, 2}, {2, 1})
    assert not compiled_checks.same({1, 2}, {1, 3})
