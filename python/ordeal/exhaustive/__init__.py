"""Exhaustive generation: a test runs once for every combination of its choices, instead of for random ones."""

from __future__ import annotations

from ordeal.errors import GenerationError, Incomplete, NonDeterministicGeneration
from ordeal.exhaustive.generation import Gen, test

__all__ = ["Gen", "GenerationError", "Incomplete", "NonDeterministicGeneration", "test"]
