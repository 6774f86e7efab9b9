"""Digests of the source of the target modules: a trace holds them, so that a replay can say what has changed since."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterable, Mapping
from importlib.machinery import PathFinder

from ordeal._base.regular_file import read_whole
from ordeal._engine.coverage.targets import Target


def digest_targets(targets: Iterable[Target]) -> dict[str, str]:
    """Return the SHA-256 of the source of each module of ``targets``, by name, without unreadable modules."""
    digests = {}
    for target in targets:
        for source in target.sources():
            digest = _digest(source.path)
            if digest is not None:
                digests[source.module_name] = digest
    return digests


def changed_modules(digests: Mapping[str, str]) -> list[str]:
    """Return the modules of ``digests`` whose source has changed or is gone."""
    return [name for name, digest in digests.items() if _digest(_source_of(name)) != digest]


def _digest(path: str | None) -> str | None:
    try:
        return None if path is None else hashlib.sha256(read_whole(path)).hexdigest()
    except OSError:
        return None


def _source_of(name: str) -> str | None:
    """Return the file from which the module ``name`` would be imported, without importing its package."""
    first, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(first)
        for part in rest:
            first = f"{first}.{part}"
            locations = None if spec is None else spec.submodule_search_locations
            spec = None if locations is None else PathFinder.find_spec(first, list(locations))
    except (ImportError, ValueError):
        return None
    return None if spec is None else spec.origin
