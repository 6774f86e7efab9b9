"""Sets one time limit for the rules of all ChaosTests during a pytest run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest


class RuleTimeouts:
    """The plugin of a pytest run that limits every rule to some seconds; 0 for no limit."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._own_s: dict[type[Any], float] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Set the limit of the classes imported since the last call."""
        # Users of ChaosTest have imported the module; a run without one should not wait for it.
        chaos = sys.modules.get("ordeal.chaos")
        if chaos is None:
            return
        for cls in _with_subclasses(chaos.ChaosTest):
            if cls not in self._own_s and "rule_timeout" in vars(cls):
                self._own_s[cls] = cls.rule_timeout
                cls.rule_timeout = self.timeout_s

    def pytest_unconfigure(self) -> None:
        """Restore the limits of the classes."""
        for cls, own_s in self._own_s.items():
            cls.rule_timeout = own_s
        self._own_s.clear()


make_plugin = RuleTimeouts


def _with_subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    yield cls
    for subclass in cls.__subclasses__():
        yield from _with_subclasses(subclass)
