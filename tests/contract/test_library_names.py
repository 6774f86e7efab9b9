"""The author's library offers what was promised: each name, with its parameters and their defaults."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from typing import Any

import pytest

# Without annotations, and without the self of methods.
SIGNATURES = {
    "ordeal.buggify": {
        "buggify": "(probability=None)",
        "buggify_value": "(normal, faulty, probability=None)",
        "activate": "(probability=0.1)",
        "deactivate": "()",
        "set_seed": "(seed)",
        "is_active": "()",
    },
    "ordeal.simulate": {
        "Clock": "(start=0.0)",
        "Clock.time": "()",
        "Clock.sleep": "(seconds)",
        "Clock.advance": "(seconds)",
        "Clock.set_timer": "(delay, callback)",
        "Clock.patch": "()",
        "FileSystem.write": "(path, content)",
        "FileSystem.read": "(path)",
        "FileSystem.read_text": "(path)",
        "FileSystem.exists": "(path)",
        "FileSystem.delete": "(path)",
        "FileSystem.list_dir": "(prefix='/')",
        "FileSystem.inject_fault": "(path, fault)",
        "FileSystem.clear_fault": "(path)",
        "FileSystem.clear_all_faults": "()",
        "FileSystem.reset": "()",
    },
    "ordeal.invariants": {
        "Invariant": "(name, check)",
        "no_nan": "(value)",
        "no_inf": "(value)",
        "finite": "(value)",
        "bounded": "(lo, hi)",
        "monotonic": "(*, strict=False)",
        "unique": "(*, key=None)",
        "non_empty": "()",
        "mean_bounded": "(lo, hi)",
        "variance_bounded": "(lo, hi)",
        "unit_normalized": "(tol=1e-06)",
        "orthonormal": "(tol=1e-06)",
        "symmetric": "(tol=1e-06)",
        "positive_semi_definite": "(tol=1e-06)",
        "rank_bounded": "(min_rank=0, max_rank=None)",
        "catalog": "()",
    },
    "ordeal.strategies": {
        "corrupted_bytes": "(min_size=0, max_size=1024)",
        "adversarial_strings": "(min_size=0, max_size=256)",
        "nan_floats": "()",
        "edge_integers": "(bits=64)",
        "mixed_types": "()",
        "catalog": "()",
    },
    "ordeal.quickcheck": {
        "quickcheck": "(fn=None, /, *, max_examples=100, **overrides)",
        "strategy_for_type": "(tp)",
    },
    "ordeal.quickcheck.biased": {
        "integers": "(min_value=None, max_value=None)",
        "floats": "(min_value=None, max_value=None, *, allow_nan=False, allow_infinity=False)",
        "strings": "(min_size=0, max_size=100)",
        "bytes_": "(min_size=0, max_size=100)",
        "lists": "(elements, min_size=0, max_size=50)",
    },
}
PROMISED = [(module, name, text) for module, names in SIGNATURES.items() for name, text in names.items()]


def signature_of(module: str, name: str) -> str:
    """The signature of ``name``, a function, a class, an instance that can be called, or a method."""
    holder: Any = importlib.import_module(module)
    *owners, last = name.split(".")
    for owner in owners:
        holder = getattr(holder, owner)
    signature = inspect.signature(getattr(holder, last))
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


@pytest.mark.parametrize(("module", "name", "text"), PROMISED, ids=str)
def test_it_is_there_with_these_parameters(module: str, name: str, text: str) -> None:
    assert signature_of(module, name) == text


def test_all_of_it_is_there_without_numpy() -> None:
    modules = [*SIGNATURES, "ordeal.model", "ordeal.faults", "ordeal.assertions"]
    code = f"import sys; sys.modules['numpy'] = None; import {', '.join(modules)}"
    subprocess.run([sys.executable, "-c", code], check=True)
