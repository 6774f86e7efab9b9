"""Classifies the exceptions that end a run."""

from __future__ import annotations

import functools
import sys
from typing import Any

import hypothesis.core
from hypothesis.errors import StopTest, UnsatisfiedAssumption

#: Exceptions that end a run without a failure: a failed ``assume``, or a draw that cannot be satisfied.
REJECTED = (StopTest, UnsatisfiedAssumption)


def failure_types() -> tuple[type[BaseException], ...]:
    """Return the exceptions that mean that the code under test failed."""
    return _types(_loaded())[0]


def skip_types() -> tuple[type[BaseException], ...]:
    """Return the exceptions by which a test asks to be skipped, or a session to end: they end the exploration."""
    return _types(_loaded())[1]


#: The program may have replaced that of the builtins when its run ends.
_count = len


def _loaded() -> tuple[bool | int, ...]:
    """Return what changes when a module is loaded by which tests fail or skip."""
    return ("unittest" in sys.modules, "_pytest.outcomes" in sys.modules, _count(sys.modules))


@functools.lru_cache(maxsize=4)
def _types(_loaded: tuple[bool | int, ...]) -> tuple[tuple[type[BaseException], ...], ...]:
    """Return the types of failures, and those of skips. Each run that fails asks for both, and modules seldom load."""
    skips: tuple[type[BaseException], ...] = hypothesis.core.skip_exceptions_to_reraise()  # type: ignore[no-untyped-call]
    outcomes: Any = sys.modules.get("_pytest.outcomes")
    asked = () if outcomes is None else (outcomes.XFailed, outcomes.Exit)
    return tuple(hypothesis.core.failure_exceptions_to_catch()), (*skips, *asked)
