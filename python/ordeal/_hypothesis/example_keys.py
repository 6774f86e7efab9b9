"""The keys and choices by which Hypothesis finds the failures of a machine again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis
from hypothesis.core import encode_failure
from hypothesis.internal.reflection import function_digest
from hypothesis.stateful import RuleBasedStateMachine, get_state_machine_test


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
