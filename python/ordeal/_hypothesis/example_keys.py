"""How Hypothesis finds the failures of a machine again: by a key of its example database, or by their choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis
from hypothesis.core import encode_failure
from hypothesis.internal.reflection import function_digest
from hypothesis.stateful import RuleBasedStateMachine, get_state_machine_test


def database_key(cls: type[RuleBasedStateMachine]) -> bytes:
    """The key under which ``cls.TestCase`` looks for its failures in an example database.

    It changes with the source of the class and with the version of Hypothesis.
    """
    test: Any = get_state_machine_test(cls)
    return function_digest(test.hypothesis.inner_test)


def reproducing_test(
    cls: type[RuleBasedStateMachine], choices: tuple[Any, ...], settings: hypothesis.settings
) -> Callable[[], None]:
    """The test of ``cls`` that runs ``choices`` and nothing else, as ``@reproduce_failure`` makes it."""
    reproduced = hypothesis.reproduce_failure(hypothesis.__version__, encode_failure(choices))
    return reproduced(get_state_machine_test(cls, settings=settings))
