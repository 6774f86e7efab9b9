"""Names of Hypothesis' own machinery that runs and reports need: ends of runs, keys of failures, its settings."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import hypothesis
import hypothesis.core
from hypothesis import Verbosity, settings
from hypothesis._settings import local_settings
from hypothesis.core import encode_failure
from hypothesis.errors import StopTest, UnsatisfiedAssumption
from hypothesis.internal.reflection import function_digest
from hypothesis.stateful import RuleBasedStateMachine, get_state_machine_test

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


def database_key(cls: type[RuleBasedStateMachine]) -> bytes:
    """Return the key under which ``cls.TestCase`` looks for its failures in an example database.

    It depends on the source of the class and on the version of Hypothesis.
    """
    test: Any = get_state_machine_test(cls)
    return function_digest(test.hypothesis.inner_test)


def reproducing_test(
    cls: type[RuleBasedStateMachine], choices: tuple[Any, ...], settings: hypothesis.settings
) -> Callable[[], None]:
    """Return the test of ``cls`` that runs only ``choices``, as ``@reproduce_failure`` makes it."""
    reproduced = hypothesis.reproduce_failure(hypothesis.__version__, encode_failure(choices))
    return reproduced(get_state_machine_test(cls, settings=settings))


@contextmanager
def unprinted_notes() -> Iterator[None]:
    """Have no run in the block print or format its notes, whatever verbosity the profile of the user's tests has."""
    default = settings.default or settings()
    if default.verbosity < Verbosity.verbose:
        yield
        return
    with local_settings(settings(verbosity=Verbosity.normal)):
        yield
