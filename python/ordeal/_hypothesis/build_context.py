"""The build context of Hypothesis in which our runs stand, for ``note()``, ``event()`` and the like."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis.strategies import none

from ordeal._hypothesis.private import base_class, private


class _NoContext:
    """Stands for a build context where none can be made. See ``in_test``."""

    def __init__(self, _data: object, *, is_final: bool, wrapped_test: Callable[[], None]) -> None:
        del is_final, wrapped_test
        self.tasks: list[Any] = []
        self.known_object_printers: defaultdict[Any, list[Any]] = defaultdict(list)

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, *_exc_info: object) -> None:
        """Do nothing."""


def _works(derived: Any) -> bool:
    return {"tasks", "known_object_printers"} <= set(vars(derived(None, is_final=False, wrapped_test=no_test)))


def no_test() -> None:
    """Stands for the test function in a run that has none."""


#: What a run stands in, as ``note()`` and the like see it, and the variable that holds it.
current_build_context: Any = private("hypothesis.control:_current_build_context", None)
BuildContext: Any = base_class("hypothesis.control:BuildContext", _NoContext, _works)
if current_build_context is None or BuildContext is _NoContext:
    current_build_context, BuildContext = SimpleNamespace(value=None), _NoContext


@functools.cache
def _once() -> settings:
    """Return the settings of a test that makes one run, and says and keeps nothing."""
    return settings(
        max_examples=1,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )


def _in_test[Result](function: Callable[..., Result], *arguments: Any) -> Result:
    returned: list[Result] = []
    raised: list[BaseException] = []

    @_once()
    @given(none())
    def test(_nothing: None) -> None:
        try:
            returned.append(function(*arguments))
        except BaseException as error:  # noqa: BLE001 - raised again outside of the test
            raised.append(error)

    test()
    if raised:
        raise raised[0]
    return returned[0]


#: Calls a function in a test of Hypothesis, where a run of ours cannot have its own context; otherwise None.
in_test = _in_test if BuildContext is _NoContext else None
