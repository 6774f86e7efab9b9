"""Allocations that fail: the n-th of a call, or each once, in the code under test alone."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any

import hypothesis.strategies as st
import pytest

from ordeal import ChaosTest, rule
from ordeal._base.live_threads import has_gil
from ordeal.errors import FaultError
from ordeal.explore import Explorer
from ordeal.faults.memory import fail_each, fail_nth

if not has_gil():
    pytest.skip("needs the GIL", allow_module_level=True)

TEXT = json.dumps({f"key {number}": [number * 1000, "x" * number, None] for number in range(20)})


def parse(text: str) -> object:
    """Read a list of numbers."""
    return [int(each) for each in text.split(",")]


def lenient(text: str) -> object:
    try:
        return parse(text)
    except MemoryError:
        return None


def nested(text: str) -> object:
    return parse(text)


async def asynchronous() -> None: ...


HELD: list[object] = []


def half_done(text: str) -> int:
    """Forget to take back what it did, if something fails in between."""
    HELD.append(text)
    numbers = parse(text)
    HELD.pop()
    return len(HELD) + len(str(numbers))


NUMBERS = ",".join(str(number) for number in range(1000, 1030))


def test_the_nth_allocation_of_each_call_fails() -> None:
    target = f"{__name__}.parse"
    expected = parse(NUMBERS)
    with fail_nth(target, 5) as fault:
        for _ in range(2):
            with pytest.raises(MemoryError):
                parse(NUMBERS)
        assert fault.observed.hits == 2
    with fail_nth(target, 100_000) as fault:
        assert parse(NUMBERS) == expected
        assert (fault.observed.calls, fault.observed.hits) == (1, 0)
    assert parse(NUMBERS) == expected


def test_a_call_within_a_call_is_part_of_it() -> None:
    with fail_nth(f"{__name__}.nested", 5), fail_nth(f"{__name__}.parse", 1), pytest.raises(MemoryError):
        nested(NUMBERS)


def test_what_cannot_be_hit_is_refused() -> None:
    with pytest.raises(FaultError, match="n=0"):
        fail_nth("json.loads", 0)
    with pytest.raises(FaultError, match="acts on plain functions"), fail_nth(f"{__name__}.asynchronous"):
        pass


class Reads(ChaosTest):
    """Loses a count when memory is short."""

    faults = [fail_nth(f"{__name__}.lenient")]  # noqa: RUF012 - as users write it

    def __init__(self) -> None:
        super().__init__()
        self.read = 0

    @rule(numbers=st.lists(st.integers(1000, 2000), min_size=5))
    def reads(self, numbers: list[int]) -> None:
        assert lenient(",".join(map(str, numbers))) is not None, "lost"


def test_the_tape_decides_which_one_fails_and_the_failure_is_repeated() -> None:
    (failure,) = Explorer(Reads, seed=3, workers=1).run(max_runs=300).failures
    assert "lost" in str(failure.error)
    assert not failure.flaky
    assert any("fail_nth" in step for step in failure.rule_log)


def outcomes(call: Any) -> Counter[str]:
    return Counter(each.outcome for each in fail_each(call))


@pytest.mark.supervised
def test_each_allocation_fails_once_and_its_outcome_is_named() -> None:
    found = fail_each(lambda: parse(NUMBERS))
    assert [each.number for each in found] == list(range(1, len(found) + 1))
    assert {each.outcome for each in found} == {"raised"}
    assert len(found) >= 30
    assert any(each.place == f"{__file__}:{parse.__code__.co_firstlineno + 2}" for each in found)
    assert outcomes(lambda: lenient(NUMBERS))["differs"] >= 30
    assert outcomes(lambda: half_done(NUMBERS))["broken"] >= 30


@pytest.mark.supervised
def test_a_call_that_ends_its_process_is_an_outcome() -> None:
    def call() -> object:
        try:
            return parse(NUMBERS)
        except MemoryError:
            os._exit(3)

    found = fail_each(call)
    assert {each.outcome for each in found} >= {"ended"}
    assert any("exit code 3" in each.error for each in found)
    with pytest.raises(FaultError, match="raised ValueError"):
        fail_each(lambda: parse("x"))
