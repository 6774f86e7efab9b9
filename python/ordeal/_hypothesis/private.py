"""Names of Hypothesis that it does not document, each with what serves when a release no longer has it.

Hypothesis moves its engine from Python to Rust, and may drop or rename any of these without notice. So none is imported
as others are, and none is chosen by a version number: each is asked for where it is needed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import hypothesis
import msgspec
from hypothesis.stateful import multiple

#: What was asked for and is not there, as ``module:name``.
missing: list[str] = []


def private(place: str, substitute: Any) -> Any:
    """Return what ``place``, a ``module:name`` of Hypothesis, has; ``substitute`` where that is missing."""
    module, name = place.split(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        missing.append(place)
        return substitute


def _unwrap(strategy: Any) -> Any:
    """Return the strategy that a lazy or deferred one stands for."""
    seen = set[int]()
    while id(strategy) not in seen and hasattr(type(strategy), "wrapped_strategy"):
        seen.add(id(strategy))
        strategy = strategy.wrapped_strategy
    return strategy


def base_class(place: str, substitute: type, works: Callable[[Any], object]) -> Any:
    """Return the class at ``place`` if ``works`` is true of one that is derived from it; otherwise ``substitute``."""
    found = private(place, substitute)
    if found is substitute:
        return found
    try:
        if works(type("Derived", (found,), {})):
            return found
    except Exception:  # noqa: BLE001 - that of another release may want anything
        pass
    missing.append(place)
    return substitute


def note_missing() -> list[str]:
    """Return a sentence for a report if this Hypothesis lacks something that ordeal uses where it is there."""
    if not missing:
        return []
    names = ", ".join(sorted({place.partition(":")[2] for place in missing}))
    version = hypothesis.__version__
    return [f"Runs may be slower with Hypothesis {version}, which has no {names} as ordeal knows it: update ordeal."]


def kind_of(strategy: Any) -> str:
    """Return the name of the class of Hypothesis that ``strategy`` is made of; empty for one of a program's own.

    Names outlast the places where classes lie. Whether a class still does what its name says, a probe has to show.
    """
    kind = type(strategy)
    return kind.__name__ if kind.__module__.partition(".")[0] == "hypothesis" else ""


class _Reference(msgspec.Struct, frozen=True):
    """Stands in a bundle for a value that a rule returned."""

    name: str


unwrap: Callable[[Any], Any] = private("hypothesis.strategies._internal.lazy:unwrap_strategies", _unwrap)
VarReference: Any = private("hypothesis.stateful:VarReference", _Reference)
#: What a rule returns that returns ``multiple(...)``.
MultipleResults: Any = type(multiple())
#: How much a run may draw, in bytes of Hypothesis' own record, and how deep draws may nest.
BUFFER_SIZE: int = private("hypothesis.internal.conjecture.engine:BUFFER_SIZE", 8192)
MAX_DEPTH: int = private("hypothesis.internal.conjecture.data:MAX_DEPTH", 100)
