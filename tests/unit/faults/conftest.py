"""Runs in which faults act, without a machine."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from ordeal.faults import Fault, release
from ordeal.faults.fault import begin_run

CONNECTS = sqlite3.connect


@pytest.fixture
def in_run() -> Iterator[Any]:
    """Begins a run with the faults that it is given."""
    faults: list[Fault] = []

    def begin(*given: Fault) -> Any:
        faults.extend(given)
        begin_run(faults)
        return given[0] if len(given) == 1 else given

    yield begin
    release(faults)
    assert sqlite3.connect is CONNECTS
