"""Names of Hypothesis' own machinery that runs and reports need: ends of runs, keys of failures, its settings."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Verbosity, settings
from hypothesis.errors import StopTest, UnsatisfiedAssumption
from hypothesis.stateful import RuleBasedStateMachine

from ordeal._base.outside import add_outside_note, error_line
from ordeal._base.untrusted import traceback_of
from ordeal._hypothesis.markers import forced_seed
from ordeal._hypothesis.private import private
from ordeal.errors import OrdealError

#: See ``ordeal.chaos``.
__tracebackhide__ = True

_local_settings = private("hypothesis._settings:local_settings", None)

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
    """Return a value that changes when a module is loaded by which tests fail or skip."""
    return ("unittest" in sys.modules, "_pytest.outcomes" in sys.modules, _count(sys.modules))


@functools.lru_cache(maxsize=4)
def _types(_loaded: tuple[bool | int, ...]) -> tuple[tuple[type[BaseException], ...], ...]:
    """Return the types of failures, and those of skips. Each run that fails asks for both, and modules seldom load.

    The failures are those of Hypothesis: a program that exits has failed, and one that is interrupted has not.
    """
    failures: list[type[BaseException]] = [Exception, SystemExit, GeneratorExit]
    skips: list[type[BaseException]] = []
    if (unittest := sys.modules.get("unittest")) is not None:
        skips.append(unittest.SkipTest)
    if (outcomes := sys.modules.get("_pytest.outcomes")) is not None:
        failures.append(outcomes.Failed)
        skips += [outcomes.Skipped, outcomes.XFailed, outcomes.Exit]
    return tuple(failures), tuple(skips)


def end_run_after(teardown: Callable[[], object], frame: FrameType) -> None:
    """Call ``teardown`` at the end of a run by ``frame``. If the run has failed, only note what the teardown raises."""
    first = sys.exception()
    if first is None:
        teardown()
        return
    no_failures = *REJECTED, *skip_types()
    failures = failure_types()
    kind, trace = type(first), traceback_of(first)
    has_failed = issubclass(kind, failures) and not issubclass(kind, no_failures)
    try:
        teardown()
    except failures + no_failures as second:
        if not has_failed or trace is None or trace.tb_frame is not frame:
            raise
        if not issubclass(type(second), no_failures):
            add_outside_note(first, f"then the teardown failed as well: {error_line(second)}")


def database_key(cls: type[RuleBasedStateMachine]) -> bytes:
    """Return the key under which ``cls.TestCase`` looks for its failures in an example database.

    It depends on the source of the class and on the version of Hypothesis. Raises OrdealError where that has none.
    """
    test = _needed("hypothesis.stateful:get_state_machine_test")(cls)
    digest: bytes = _needed("hypothesis.internal.reflection:function_digest")(test.hypothesis.inner_test)
    return digest


def reproducing_test(
    cls: type[RuleBasedStateMachine], choices: tuple[Any, ...], settings: hypothesis.settings
) -> Callable[[], None]:
    """Return the test of ``cls`` that runs only ``choices``, as ``@reproduce_failure`` makes it. Raises OrdealError."""
    encoded = _needed("hypothesis.core:encode_failure")(choices)
    test = _needed("hypothesis.stateful:get_state_machine_test")(cls, settings=settings)
    reproduced: Callable[[], None] = hypothesis.reproduce_failure(hypothesis.__version__, encoded)(test)
    return reproduced


def _needed(place: str) -> Any:
    found = private(place, None)
    if found is None:
        raise OrdealError(f"Hypothesis {hypothesis.__version__} has no {place.partition(':')[2]}, which this needs")
    return found


@contextmanager
def settings_of(cls: type[RuleBasedStateMachine]) -> Iterator[None]:
    """Let what code of ``cls`` asks of Hypothesis in the block have the settings that its ``TestCase`` gives it.

    They allow a rule to run a test of its own, say, and give it no deadline. Notes are neither printed nor formatted,
    at any verbosity of the user's profile, and a seed of the session is not that of these tests.
    """
    chosen = getattr(getattr(cls, "TestCase", None), "settings", None)
    if _local_settings is None:
        yield
        return
    parent = chosen if isinstance(chosen, settings) else settings(suppress_health_check=list(HealthCheck))
    with forced_seed(None), _local_settings(settings(parent, verbosity=min(parent.verbosity, Verbosity.normal))):
        yield
