"""The failures of a store as seeds of a pytest run: read within seconds or left out, and the store is never written."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Sequence
from pathlib import Path

from ordeal._base.formatting import counted, one_line
from ordeal._engine.seed_corpus.paths import SeedError, seed_paths
from ordeal._report.pytest_lines import PULLED_DIR
from ordeal.errors import StoreError

#: How long a run of tests waits for a store, in seconds.
LIMIT_SECONDS = 4.0


def pulled_seeds(url: str, test_classes: Sequence[str], project: Path) -> tuple[list[Path], list[str]]:
    """Return the seeds of the store at ``url``, and a line on what is wrong with it, if anything is.

    They are kept in a folder of the project, and replayed from there while the store is away.
    """
    folder = project / PULLED_DIR
    try:
        before = seed_paths(folder)
    except SeedError as error:
        return [], [error.message]
    # It loads what replays seeds, and most runs have no store.
    home = importlib.import_module("ordeal._engine.parallel.fleet.home")
    try:
        saved, _ = home.read_failures(url, test_classes, folder, project=project, seconds=LIMIT_SECONDS)
    except StoreError as error:
        instead = f"; replayed instead: {counted(len(before), 'seed')} of an earlier run" if before else ""
        return before, [f"{one_line(error.message)}{instead}"]
    for path in before:
        if path not in saved:
            # Another run of tests may have deleted it.
            with contextlib.suppress(OSError):
                path.unlink()
    return sorted(saved), []
