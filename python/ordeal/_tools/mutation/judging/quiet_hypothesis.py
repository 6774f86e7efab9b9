"""Lets the tests of Hypothesis in a suite find the same in each process, at once, and write nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

_SETTINGS = "_hypothesis_internal_use_settings"
_MACHINE = "_hypothesis_state_machine_class"


def quieten(items: Iterable[Any]) -> None:
    """Change the settings of collected tests, whichever profile or decorator they came from.

    This waits until the tests are collected: a project that does not use Hypothesis pays no import of it, and one that
    does finds it imported by pytest, in pytest's own order.
    """
    if "hypothesis" not in sys.modules:
        return
    from hypothesis import HealthCheck, Phase, settings  # noqa: PLC0415 - only a suite that uses it needs it

    from ordeal._hypothesis import give_own_generator  # noqa: PLC0415

    give_own_generator()

    def quiet(parent: Any) -> settings:
        return settings(
            parent,
            database=None,
            deadline=None,
            derandomize=True,
            phases=[each for each in parent.phases if each in (Phase.explicit, Phase.generate, Phase.target)],
            suppress_health_check=list(HealthCheck),
        )

    name = "ordeal mutate"
    settings.register_profile(name, quiet(settings.default))
    settings.load_profile(name)
    for item in items:
        function = getattr(item, "function", None)
        if isinstance(found := getattr(function, _SETTINGS, None), settings):
            setattr(function, _SETTINGS, quiet(found))
        machine: Any = getattr(item, "cls", None)
        if hasattr(function, _MACHINE) and isinstance(found := getattr(machine, "settings", None), settings):
            machine.settings = quiet(found)
