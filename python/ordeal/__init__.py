"""ordeal finds the bugs that only a sequence shows: rules, arguments, faults, timing.

Public names are loaded when they are first used, so that ``import ordeal`` costs next to nothing.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hypothesis.stateful import Bundle, consumes, initialize, invariant, multiple, precondition, rule

    from ordeal.chaos import ChaosTest, RuleTimeoutError, chaos_test
    from ordeal.explore import Explorer
    from ordeal.trace import ablate_faults

    __version__: str

__all__ = [
    "Bundle",
    "ChaosTest",
    "Explorer",
    "RuleTimeoutError",
    "__version__",
    "ablate_faults",
    "chaos_test",
    "consumes",
    "initialize",
    "invariant",
    "multiple",
    "precondition",
    "rule",
]

# No public name is the name of a submodule: `from ordeal import explore` must mean the module whatever was imported.
_HOMES = {
    "Bundle": "hypothesis.stateful",
    "ChaosTest": "ordeal.chaos",
    "Explorer": "ordeal.explore",
    "RuleTimeoutError": "ordeal.chaos",
    "ablate_faults": "ordeal.trace",
    "chaos_test": "ordeal.chaos",
    "consumes": "hypothesis.stateful",
    "initialize": "hypothesis.stateful",
    "invariant": "hypothesis.stateful",
    "multiple": "hypothesis.stateful",
    "precondition": "hypothesis.stateful",
    "rule": "hypothesis.stateful",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = _version()
    elif name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'ordeal' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _version() -> str:
    try:
        return importlib.metadata.version("ordeal")
    except importlib.metadata.PackageNotFoundError:
        # The package is used from a checkout that was never installed.
        return "0+unknown"
