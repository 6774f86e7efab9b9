"""Makes the step loop of a machine class."""

from __future__ import annotations

from typing import Any

from hypothesis.stateful import Bundle
from hypothesis.strategies import SearchStrategy
from hypothesis.strategies._internal.lazy import unwrap_strategies

from ordeal._base.outside import outside
from ordeal._hypothesis.fast_construction import make_machines_quick
from ordeal._hypothesis.machines import MachineDefinition
from ordeal._hypothesis.run_context import LENGTH_MAX
from ordeal._native import FaultSwitch, StepLoop


def make_loop(
    definition: MachineDefinition, faults: list[Any], switches: list[FaultSwitch | None], *, hashes_state: bool
) -> StepLoop:
    """Make the loop that runs machines of ``definition`` in C++, and have them made quickly.

    ``switches`` has for each fault what the loop may switch in its place, or None.
    """
    make_machines_quick()
    return StepLoop(
        definition, faults, switches, _bundle_of, outside.failed, hashes_state=hashes_state, length_max=LENGTH_MAX
    )


def _bundle_of(strategy: SearchStrategy[Any]) -> tuple[str, bool] | None:
    """Return the bundle whose values ``strategy`` gives unchanged, and whether it consumes them; else None."""
    plain: Any = unwrap_strategies(strategy)  # type: ignore[no-untyped-call]
    if type(plain) is not Bundle or getattr(plain, "_transformations", None):
        return None
    return plain.name, plain.consume
