"""Reads the failures of a store in a process of its own, which ends in time whatever the store does.

A server may answer slowly and a network file system not at all, and neither may hold up a run of tests.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ordeal.errors import OrdealError, StoreError

_NAME = "ordeal._engine.parallel.fleet.reader"
#: How much of what the process says is looked at, in bytes.
_ANSWER_SIZE_MAX = 2**22


@dataclass(frozen=True, slots=True)
class Read:
    """What was saved, and what was refused."""

    saved: tuple[Path, ...]
    wrong: tuple[str, ...]


def read_failures(url: str, test_classes: Sequence[str], folder: Path, *, project: Path, seconds: float) -> Read:
    """Save the failures of some classes in a store as seeds in ``folder``. The store is not written.

    A relative ``dir://`` begins at ``project``. The address reaches the process through a pipe, as it may hold a
    password.

    Raises:
        StoreError: the store cannot be read in time.
    """
    given = {"url": url, "classes": list(test_classes), "folder": str(folder.absolute())}
    try:
        # -P: no file of the project stands in for a library.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", _NAME],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=project,
        )
    except OSError as error:
        raise StoreError(f"the store cannot be read: {error.strerror or error}") from error
    try:
        answer, _ = process.communicate(json.dumps(given).encode(), timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        # It may hang in a file system that is gone, and then it is not waited for.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=1.0)
        hint = "see that this machine can reach it"
        raise StoreError(f"the store did not answer within {seconds:g} s", hint=hint) from None
    return _checked(answer)


def _checked(answer: bytes) -> Read:
    try:
        found: Any = json.loads(answer[:_ANSWER_SIZE_MAX])
        if "error" in found:
            raise StoreError(str(found["error"]), hint=found["hint"])
        return Read(tuple(map(Path, found["saved"])), tuple(map(str, found["wrong"])))
    except (ValueError, TypeError, KeyError):
        raise StoreError("the process that reads the store was lost") from None


def main() -> int:
    """Do what stdin says, and write what came of it to stdout."""
    given = json.load(sys.stdin)
    # Imported here: the process that asks needs none of it.
    home = importlib.import_module("ordeal._engine.parallel.fleet.home")
    corpus = importlib.import_module("ordeal._engine.seed_corpus.corpus")
    try:
        saved, wrong = home.pull_all(given["url"], given["classes"], corpus.SeedCorpus(given["folder"]))
    except OrdealError as error:
        json.dump({"error": error.message, "hint": error.hint}, sys.stdout)
        return 0
    json.dump({"saved": [str(path) for path in saved], "wrong": wrong}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
