"""What is shown of one run on the original and on a mutant: each step, and what both sides did."""

from __future__ import annotations

import msgspec


class Side(msgspec.Struct, frozen=True):
    """What one step changed, as paths with their new texts, and the parts that are others on the other side.

    ``is_there`` is false where the run has ended before.
    """

    changes: list[tuple[str, str]]
    others: list[tuple[str, str]]
    is_there: bool = True


class Beside(msgspec.Struct, frozen=True):
    """A step on both: its call, and what it did to the original and to the mutant."""

    call: str
    original: Side
    mutant: Side


class SideBySide(msgspec.Struct, frozen=True):
    """A run on both, and what ended it on the mutant, if anything did. They part at step ``first``, -1 if never."""

    machine: str
    trace: int
    steps: list[Beside]
    failure: str = ""
    first: int = -1
