"""Inside of the block all tests of Hypothesis draw from the seed, and afterwards as before."""

from __future__ import annotations

import sys

import hypothesis.core
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from ordeal._hypothesis.seeding import forced_seed


def drawn(decorate: object = None) -> list[int]:
    values: list[int] = []

    @settings(max_examples=20, database=None)
    @given(st.integers())
    def test(value: int) -> None:
        values.append(value)

    (seed(9)(test) if decorate else test)()
    return values


def test_a_seed_decides_what_is_drawn() -> None:
    runs = []
    for number in (1, 1, 2):
        with forced_seed(number):
            runs.append(drawn())
    assert runs[0] == runs[1] != runs[2]


def test_a_test_with_a_seed_of_its_own_goes_by_that() -> None:
    own = drawn(seed)
    with forced_seed(1):
        assert drawn(seed) == own


def test_blocks_nest_and_leave_what_they_found_also_after_an_error() -> None:
    seen: list[int | None] = []

    def nest() -> None:
        with forced_seed(1):
            with forced_seed(2):
                seen.append(hypothesis.core.global_force_seed)
            seen.append(hypothesis.core.global_force_seed)
            raise LookupError

    before = hypothesis.core.global_force_seed
    with pytest.raises(LookupError):
        nest()
    assert seen == [2, 1]
    assert hypothesis.core.global_force_seed == before


def test_hypothesis_is_not_loaded_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "hypothesis.core")
    with forced_seed(1):
        assert "hypothesis.core" not in sys.modules
