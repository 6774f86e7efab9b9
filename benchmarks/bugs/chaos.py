"""The machines of the suite with their faults, as classes that a class path such as ``bugs.chaos:zict_evict`` names."""

import importlib
from typing import Any

from bugs.watch import faults_of
from ordeal import ChaosTest
from ordeal.faults import LambdaFault

_made: dict[str, type] = {}


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    if name not in _made:
        module = importlib.import_module(f"bugs.targets.{name}")
        faults = [LambdaFault(fault, on_activate=on, on_deactivate=off) for fault, on, off in faults_of(module)]
        body = {"faults": faults, "__module__": __name__, "__qualname__": name}
        _made[name] = type(name, (module.Machine, ChaosTest), body)
    return _made[name]
