"""What the tests of invariants have in common: values for a check, and what it says of one that violates it."""

from __future__ import annotations

from typing import Any

import pytest

from ordeal.invariants import Invariant


def each(check: Invariant, *values: Any) -> list[tuple[Invariant, Any]]:
    return [(check, value) for value in values]


def violation(check: Invariant, value: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        check(value)
    assert type(caught.value) is AssertionError
    return str(caught.value)
