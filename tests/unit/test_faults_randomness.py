"""The chance of faults is the same in every run."""

from __future__ import annotations

import random

import pytest

from ordeal.faults import LambdaFault, randomness


@pytest.fixture(autouse=True)
def _default_source() -> None:
    randomness.set_random(None)
    randomness.reset_default()


def test_the_default_gives_the_same_bytes_after_a_reset() -> None:
    first = [randomness.fault_bytes(8), randomness.fault_bytes(8)]
    assert first[0] != first[1]
    LambdaFault("any", int, int).reset()
    assert [randomness.fault_bytes(8), randomness.fault_bytes(8)] == first


def test_a_given_source_is_used_and_never_reseeded() -> None:
    expected = random.Random(7).randbytes(16)
    source = random.Random(7)
    assert randomness.set_random(source) is None
    first = randomness.fault_bytes(8)
    LambdaFault("any", int, int).reset()
    assert first + randomness.fault_bytes(8) == expected
    assert randomness.set_random(None) is source
