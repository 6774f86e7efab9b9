"""ordeal finds the bugs that only a sequence shows: of rules, arguments, faults and timing.

Public names are loaded on first use, so that ``import ordeal`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hypothesis.stateful import Bundle, consumes, initialize, multiple, precondition, rule

    import ordeal.assertions
    import ordeal.exhaustive
    import ordeal.explore
    import ordeal.faults
    import ordeal.invariants
    import ordeal.model
    import ordeal.seed
    import ordeal.simulate
    import ordeal.stateful
    import ordeal.strategies
    import ordeal.swarm
    import ordeal.trace  # noqa: F401 - type checkers then know all of these as attributes
    from ordeal.assertions import ReliabilityCell, always, declare, reachable, report, sometimes, unreachable
    from ordeal.buggify import Buggify, buggify_value
    from ordeal.chaos import ChaosTest, RuleTimeoutError, auto_configure, chaos_test
    from ordeal.explore import Explorer
    from ordeal.quickcheck import Quickcheck
    from ordeal.stateful import invariant
    from ordeal.trace import ablate_faults

    __version__: str
    buggify: Buggify
    quickcheck: Quickcheck

__all__ = [
    "Bundle",
    "ChaosTest",
    "Explorer",
    "ReliabilityCell",
    "RuleTimeoutError",
    "__version__",
    "ablate_faults",
    "always",
    "auto_configure",
    "buggify",
    "buggify_value",
    "chaos_test",
    "consumes",
    "declare",
    "initialize",
    "invariant",
    "multiple",
    "precondition",
    "quickcheck",
    "reachable",
    "report",
    "rule",
    "sometimes",
    "unreachable",
]

# No public name is the name of a submodule: `from ordeal import explore` must mean the module, after any imports.
# Where a name has to be both, the module can be called as the function.
_HOMES = {
    "Bundle": "hypothesis.stateful",
    "ChaosTest": "ordeal.chaos",
    "Explorer": "ordeal.explore",
    "ReliabilityCell": "ordeal.assertions",
    "RuleTimeoutError": "ordeal.chaos",
    "ablate_faults": "ordeal.trace",
    "always": "ordeal.assertions",
    "auto_configure": "ordeal.chaos",
    "buggify_value": "ordeal.buggify",
    "chaos_test": "ordeal.chaos",
    "consumes": "hypothesis.stateful",
    "declare": "ordeal.assertions",
    "initialize": "hypothesis.stateful",
    "invariant": "ordeal.stateful",
    "multiple": "hypothesis.stateful",
    "precondition": "hypothesis.stateful",
    "reachable": "ordeal.assertions",
    "report": "ordeal.assertions",
    "rule": "hypothesis.stateful",
    "sometimes": "ordeal.assertions",
    "unreachable": "ordeal.assertions",
}

# After `import ordeal`, `ordeal.swarm.op_weights` works. Two of these are callable modules.
_MODULES = frozenset(
    {
        "assertions",
        "exhaustive",
        "explore",
        "faults",
        "invariants",
        "model",
        "seed",
        "simulate",
        "stateful",
        "strategies",
        "swarm",
        "trace",
        "buggify",
        "quickcheck",
    }
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = importlib.import_module("ordeal._native").__version__
    elif name in _MODULES:
        value = importlib.import_module(f"ordeal.{name}")
    elif name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'ordeal' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
