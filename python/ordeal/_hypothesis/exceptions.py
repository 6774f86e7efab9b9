"""Classifies the exceptions that end a run."""

from __future__ import annotations

import hypothesis.core
from hypothesis.errors import StopTest, UnsatisfiedAssumption

#: Exceptions that end a run without a failure: a failed ``assume``, or a draw that cannot be satisfied.
REJECTED = (StopTest, UnsatisfiedAssumption)


def failure_types() -> tuple[type[BaseException], ...]:
    """Return the exceptions that mean that the code under test failed."""
    return tuple(hypothesis.core.failure_exceptions_to_catch())


def skip_types() -> tuple[type[BaseException], ...]:
    """Return the exceptions by which a test asks to be skipped: they end the exploration."""
    return tuple(hypothesis.core.skip_exceptions_to_reraise())  # type: ignore[no-untyped-call]
