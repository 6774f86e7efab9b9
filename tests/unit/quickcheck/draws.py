"""What tests of strategies draw with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, find, settings
from hypothesis import strategies as st

QUICK = settings(max_examples=2000, database=None, derandomize=True, suppress_health_check=list(HealthCheck))


def found(strategy: st.SearchStrategy[Any], wanted: Callable[[Any], bool]) -> Any:
    return find(strategy, wanted, settings=QUICK)
