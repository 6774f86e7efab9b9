"""Which exceptions end a run, and how each is meant."""

from __future__ import annotations

import hypothesis.core
from hypothesis.errors import StopTest, UnsatisfiedAssumption

#: What ends a run without being a failure: a failed ``assume`` and a draw that cannot be satisfied.
REJECTED = (StopTest, UnsatisfiedAssumption)


def failure_types() -> tuple[type[BaseException], ...]:
    """Exceptions that mean that the code under test failed."""
    return tuple(hypothesis.core.failure_exceptions_to_catch())


def skip_types() -> tuple[type[BaseException], ...]:
    """Exceptions by which a test asks to be skipped: they end the exploration."""
    return tuple(hypothesis.core.skip_exceptions_to_reraise())  # type: ignore[no-untyped-call]
