"""Strategies: what they promise about every value, and that the nasty ones are among them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ordeal.errors import ConfigError
from ordeal.strategies import adversarial_strings, catalog, corrupted_bytes, edge_integers, mixed_types, nan_floats

pytestmark = pytest.mark.slow

# Nothing here asks for the smallest of what is found, and to look for it takes most of the time.
QUICK = settings(
    max_examples=2000,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)


def drawn(strategy: st.SearchStrategy[Any], count: int = 500) -> list[Any]:
    """So many values of ``strategy``, always the same."""
    values: list[Any] = []

    @given(value=strategy)
    @settings(QUICK, max_examples=count)
    def collect(value: Any) -> None:
        values.append(value)

    collect()
    return values


def is_undecodable(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False


@pytest.mark.parametrize(("make", "kind"), [(corrupted_bytes, bytes), (adversarial_strings, str)])
@given(data=st.data(), sizes=st.tuples(st.integers(0, 30), st.integers(0, 30)))
@settings(QUICK, max_examples=200)
def test_sizes_are_kept(make: Any, kind: Any, data: st.DataObject, sizes: tuple[int, int]) -> None:
    low, high = min(sizes), max(sizes)
    value: Any = data.draw(make(low, high))
    assert type(value) is kind
    assert low <= len(value) <= high


def test_damaged_files_and_broken_texts_are_among_the_bytes() -> None:
    values = drawn(corrupted_bytes(), 2000)
    assert any(map(is_undecodable, values))
    assert any(data.startswith(b"\x1f\x8b") for data in values)
    assert any(data.startswith(b'{"id": 1') and not data.endswith(b"}") for data in values)
    assert any(b"\x00" in data for data in values)
    assert b"" in values


def test_injections_paths_and_odd_letters_are_among_the_strings() -> None:
    values = drawn(adversarial_strings())
    for wanted in ("DROP TABLE", "<script>", "../", "\x00", "\u202e", "NaN"):
        assert any(wanted in text for text in values)
    assert {0, 256} <= set(map(len, values))


@given(value=nan_floats())
@settings(QUICK, max_examples=200)
def test_nan_floats_are_floats(value: float) -> None:
    assert type(value) is float


def test_nan_infinities_and_the_smallest_are_among_the_floats() -> None:
    values = drawn(nan_floats())
    assert any(map(math.isnan, values))
    assert {math.inf, -math.inf, 5e-324} <= set(values)
    assert any(value == 0 and math.copysign(1, value) < 0 for value in values)


@pytest.mark.parametrize("bits", [1, 8, 64, 4096])
def test_edge_integers_fit_their_bits(bits: int) -> None:
    @given(value=edge_integers(bits))
    @settings(QUICK, max_examples=200)
    def check(value: int) -> None:
        assert -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)

    check()


def test_the_ends_of_words_are_among_the_integers() -> None:
    ends = {0, -1, 255, 256, 2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63)}
    # Which come first is not for this test: Hypothesis mixes constants of the modules that are loaded.
    assert ends <= set(drawn(edge_integers(), 2000))


def test_all_types_are_among_the_mixed() -> None:
    values = drawn(mixed_types(), 600)
    within = [item for value in values if type(value) in (list, tuple) for item in value]
    assert {type(None), bool, int, float, str, bytes, list, dict, tuple} <= set(map(type, values + within))
    assert any(type(value) is list and any(type(item) is dict for item in value) for value in values)


@pytest.mark.parametrize(
    ("make", "message", "hint"),
    [
        (
            lambda: corrupted_bytes(3, 1),
            "corrupted_bytes(3, 1): the smallest size is above the largest",
            "write corrupted_bytes(1, 3)",
        ),
        (
            lambda: adversarial_strings(-1),
            "adversarial_strings(-1, 256): -1 is not a size",
            "write whole numbers from 0",
        ),
        (
            lambda: adversarial_strings(0, None),  # type: ignore[arg-type]
            "adversarial_strings(0, None): None is not a size",
            "write whole numbers from 0",
        ),
        (lambda: edge_integers(0), "edge_integers(bits=0)", "write a whole number of bits from 1 to 4096"),
        (lambda: edge_integers(True), "edge_integers(bits=True)", "write a whole number of bits from 1 to 4096"),
    ],
)
def test_wrong_use(make: Callable[[], Any], message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make()
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_the_catalog_has_every_strategy() -> None:
    assert [entry["name"] for entry in catalog()] == [
        "adversarial_strings",
        "corrupted_bytes",
        "edge_integers",
        "mixed_types",
        "nan_floats",
    ]
    assert all(entry["doc"].endswith(".") for entry in catalog())
