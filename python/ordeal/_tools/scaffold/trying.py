"""Runs what a new machine needs in separate processes: the trial of the classes, and the first exploration."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ordeal._base.interpreter import answer_of, run_module
from ordeal._base.limits import GRACE_SECONDS, ITEMS_MAX

#: Why a method beyond the most that a file has is left out.
NO_ROOM = f"there is room for {ITEMS_MAX} methods"
#: The trial of all classes together, beyond which its process is ended.
TRIAL_SECONDS = 8.0
#: The factor by which a trial may take longer when it writes files.
_FILE_TIMES = 2
_MEMORY = "/dev/shm"


class TriedParameter(msgspec.Struct, frozen=True):
    """An argument of a method: the texts of its strategy and its type, and what they import as ``module:Name``.

    An ``optional`` argument has a default: some calls leave it out.
    """

    name: str
    keyword: bool
    strategy: str
    type: str
    imports: list[str] = []
    optional: bool = False


class TriedMethod(msgspec.Struct, frozen=True):
    """A method that was tried; ``left_out`` says why it cannot be a rule, ``ends`` whether nothing may follow it.

    ``enters`` says that it returns a context manager.

    What it returns may be drawn from the bundle ``gives``, if that is not empty.
    """

    name: str
    form: str
    parameters: list[TriedParameter]
    answers: list[str]
    left_out: str
    iterates: bool
    endless: bool
    gives_own: bool
    passed: int
    ends: bool
    enters: bool = False
    gives: str = ""


class ClassTry(msgspec.Struct, frozen=True):
    """A class that was tried; ``reason`` says why no object could be made, and is empty if one was.

    ``sources`` are the modules of its package in which it and its bases are defined.

    ``methods`` also has the properties, and ``refusals`` the errors by which the constructor refuses some arguments.

    ``meets_files`` says that a call was refused as it would have changed files.
    """

    reason: str
    meets_files: bool = False
    module: str = ""
    name: str = ""
    doc: str = ""
    parameters: list[TriedParameter] = []
    methods: list[TriedMethod] = []
    protocol: dict[str, bool] = {}
    refusals: list[str] = []
    sources: list[str] = []

    @property
    def calls(self) -> list[TriedMethod]:
        """The methods without the properties."""
        return [each for each in self.methods if each.form != "property"]

    @property
    def working(self) -> list[str]:
        """The names of the methods that can be rules."""
        return [each.name for each in self.calls if not each.left_out]


def try_classes(paths: Sequence[str], roots: Sequence[Path], *, seconds: float = TRIAL_SECONDS) -> dict[str, ClassTry]:
    """Return what each class took and raised. The first one is tried; the others as long as there is time."""
    deadline = time.monotonic() + seconds
    found: dict[str, ClassTry] = {}
    for path in paths:
        if time.monotonic() < deadline:
            found[path] = _try_class(path, roots, seconds / min(4, len(paths)))
    return found


def _try_class(path: str, roots: Sequence[Path], seconds: float) -> ClassTry:
    """Return what a class took and raised, in a separate process, in an empty folder and with limits."""
    # A database waits for its disk at each change; in memory there is nothing to wait for.
    memory = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="ordeal-init-", dir=memory) as folder:
        request = {
            "class": path,
            "path": [*(str(root.absolute()) for root in roots), *sys.path],
            "seconds": seconds,
            "file_seconds": _FILE_TIMES * seconds,
        }
        try:
            data = answer_of(
                "ordeal._tools.scaffold.probe",
                request,
                seconds=(1 + _FILE_TIMES) * seconds + GRACE_SECONDS,
                folder=Path(folder),
            )
            return msgspec.json.decode(data, type=ClassTry)
        except (OSError, ValueError):
            return ClassTry("the process that tried it ended without an answer")


def explore(class_path: str, seconds: float, folder: Path, roots: Sequence[Path]) -> dict[str, Any] | str:
    """Return the JSON report of a short exploration in a separate process; its output if that is missing."""
    arguments = ["explore", class_path, "--max-time", f"{seconds:g}", "--json"]
    paths = [root.absolute() for root in roots]
    # Shrinking comes on top of the time of an exploration.
    limit = seconds + 3 * GRACE_SECONDS
    out, err = run_module("ordeal", arguments, folder=folder, seconds=limit, paths=paths)
    try:
        document: dict[str, Any] = msgspec.json.decode(out, type=dict[str, Any])
    except msgspec.MsgspecError:
        return err.decode("utf-8", "replace")
    return document
