"""The package of invariants: its names, its catalog, and that it does without numpy."""

from __future__ import annotations

import subprocess
import sys

from ordeal.invariants import bounded, catalog, monotonic, rank_bounded, symmetric, unique


def test_names_are_how_they_are_written() -> None:
    made = [bounded(0, 1), monotonic(), monotonic(strict=True), unique(key=len), symmetric(1e-3), rank_bounded(1)]
    assert [check.name for check in made] == [
        "bounded(0, 1)",
        "monotonic()",
        "monotonic(strict=True)",
        "unique(key=len)",
        "symmetric(tol=0.001)",
        "rank_bounded(1, None)",
    ]


def test_the_catalog_has_every_invariant_once() -> None:
    entries = catalog()
    assert len(entries) == len({entry["name"] for entry in entries}) == 14
    assert all(entry["doc"] and entry["qualname"].startswith("ordeal.invariants.") for entry in entries)
    assert (
        next(e for e in entries if e["name"] == "bounded")["signature"] == "(lo: 'float', hi: 'float') -> 'Invariant'"
    )


def test_without_numpy_only_the_invariants_on_arrays_are_lost() -> None:
    code = """
import sys
sys.modules["numpy"] = None
from ordeal.errors import ConfigError
from ordeal.invariants import bounded, finite, symmetric
(finite & bounded(0, 1))([0, 1])
try:
    symmetric()([[1]])
except ConfigError as error:
    assert "symmetric() needs numpy" in error.message and error.hint == "install numpy", error
else:
    raise SystemExit("it did without")
"""
    subprocess.run([sys.executable, "-c", code], check=True)
