"""Counts the files of ours that are entered on three walks through the running program, and names them.

usage: python tools/walks.py

- a choice: a tape is replayed, its choice becomes the argument of a rule, and the run is written down as a trace
- a failure: a run has failed; it is confirmed, shrunk, written down and saved as a seed
- an option: the files that name it

Functions of Python are seen as they are called. What the core and the bindings do on the way is behind one call of
``ordeal._native``: its files are those that the modules on the way name, and are not counted.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from hypothesis import strategies as st

import ordeal
from ordeal import ChaosTest, _native, rule
from ordeal._engine.execution.where import AssertionReader
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.search.intake import FailureIntake
from ordeal._engine.triage.triage import Triage
from ordeal.explore import Explorer

PACKAGE = Path(ordeal.__file__).parent
OWN = f"{PACKAGE}/"

LIMITS = {"choice": 22, "failure": 22, "option": 3}


class Till(ChaosTest):
    """Fails soon."""

    @rule(cents=st.integers(0, 100))
    def pay(self, cents: int) -> None:
        """Refuse large amounts."""
        assert cents < 50, "too much"


class Walk:
    """The files that are entered while it is walked, in the order of their first call."""

    def __init__(self) -> None:
        self.files: dict[str, None] = {}

    def _see(self, frame: FrameType, event: str, _argument: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(OWN):
            self.files.setdefault(name.removeprefix(OWN))

    @contextmanager
    def walked(self) -> Iterator[None]:
        """See the calls of this thread while the block runs."""
        sys.setprofile(self._see)
        try:
            yield
        finally:
            sys.setprofile(None)


def walk_of_choice() -> Walk:
    """From a tape to a rule, and back into a trace."""
    walk = Walk()

    def seen(self: Replayer, tape: _native.Tape, *arguments: Any) -> Any:
        # Another run may follow, to read the values of an assertion that failed: that is no way of a choice.
        if arguments and isinstance(arguments[0], AssertionReader):
            return original(self, tape, *arguments)
        with walk.walked():
            return original(self, tape, *arguments)

    original = Replayer.run
    with _replaced(Replayer, "run", seen):
        Explorer(Till, seed=1, workers=1).run(max_runs=20, shrink=False)
    return walk


def walk_of_failure() -> Walk:
    """From a run that failed to the seed that keeps it."""
    walk = Walk()
    failed = FailureIntake._failed

    def unseen(name: str) -> Callable[..., Any]:
        # What a replay enters is the walk of a choice.
        original = getattr(Replayer, name)

        def replay(*arguments: Any, **options: Any) -> Any:
            profile = sys.getprofile()
            sys.setprofile(None)
            try:
                return original(*arguments, **options)
            finally:
                sys.setprofile(profile)

        return replay

    def seen(self: FailureIntake, *arguments: Any, **options: Any) -> Any:
        # The first: a later one of the same kind only counts.
        if walk.files:
            return failed(self, *arguments, **options)
        with walk.walked():
            return failed(self, *arguments, **options)

    confirm = Triage.confirm_and_shrink

    def confirmed(self: Triage, *arguments: Any, **options: Any) -> Any:
        with walk.walked():
            return confirm(self, *arguments, **options)

    with (
        tempfile.TemporaryDirectory() as folder,
        _replaced(Replayer, "run", unseen("run")),
        _replaced(Replayer, "written", unseen("written")),
        _replaced(Replayer, "place", unseen("place")),
        _replaced(Replayer, "confirm", unseen("confirm")),
        _replaced(Replayer, "shrink", unseen("shrink")),
        _replaced(Replayer, "ablate", unseen("ablate")),
        _replaced(FailureIntake, "_failed", seen),
        _replaced(Triage, "confirm_and_shrink", confirmed),
    ):
        Explorer(Till, seed=1, corpus_dir=folder, workers=1).run(max_runs=20)
    return walk


@contextmanager
def _replaced(owner: type, name: str, by: Callable[..., Any]) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, by)
    try:
        yield
    finally:
        setattr(owner, name, before)


def walk_of_option(name: str = "comparison_tracing") -> Walk:
    """The files that write the name of an option down: a new one has to be written there."""
    walk = Walk()
    for path in sorted(PACKAGE.rglob("*.py")):
        if name in path.read_text("utf-8"):
            walk.files[str(path.relative_to(PACKAGE))] = None
    return walk


def report() -> int:
    """Print the walks; the number of those that are longer than they may be."""
    walks = {"choice": walk_of_choice(), "failure": walk_of_failure(), "option": walk_of_option()}
    too_long = 0
    for name, walk in walks.items():
        limit = LIMITS[name]
        too_long += len(walk.files) > limit
        print(f"{name}: {len(walk.files)} files (at most {limit})")
        for file in walk.files:
            print(f"  {file}")
    return too_long


if __name__ == "__main__":
    # As a module: what a fresh interpreter cannot import is told of in a note, which is no part of the walk.
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(importlib.import_module("walks").report())
