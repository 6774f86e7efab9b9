"""Machines whose copies do harm: checkpoints are made of copies as long as these behave."""

from __future__ import annotations

import itertools
import os
import sys
from typing import Any, NoReturn, Self

from .base import Attack, attack

KIND = "copies of a machine"


class Held:
    """What a machine holds, and each copy of it."""

    def __init__(self) -> None:
        self.number = 0


class Copied(Attack):
    """Holds something from its second step on."""

    made: type[Held] = Held

    def harm(self) -> None:
        self.held = self.made()


@attack(KIND, "holds an object whose `__deepcopy__` raises SystemExit")
class CopyExits(Copied):
    class made(Held):
        def __deepcopy__(self, memo: Any) -> NoReturn:
            sys.exit(1)


@attack(KIND, "holds an object whose `__deepcopy__` ends the process")
class CopyEndsProcess(Copied):
    class made(Held):
        def __deepcopy__(self, memo: Any) -> NoReturn:
            os._exit(6)


@attack(KIND, "holds an object whose `__deepcopy__` loops in C")
class CopyLoops(Copied):
    class made(Held):
        def __deepcopy__(self, memo: Any) -> Self:
            sum(itertools.repeat(0))
            return self


@attack(KIND, "holds an object whose `__deepcopy__` raises KeyboardInterrupt")
class CopyInterrupts(Copied):
    class made(Held):
        def __deepcopy__(self, memo: Any) -> NoReturn:
            raise KeyboardInterrupt


@attack(KIND, "holds an object that complains when a copy of it is released")
class CopyComplains(Copied):
    class made(Held):
        def __del__(self) -> None:
            raise RuntimeError("let go of twice")


@attack(KIND, "holds an object that closes a file of the process when a copy of it is released")
class CopyCloses(Copied):
    class made(Held):
        def __init__(self) -> None:
            super().__init__()
            self.file = os.open(os.devnull, os.O_RDONLY)

        def __del__(self) -> None:
            os.close(self.file)


@attack(KIND, "holds an object of which each copy has a copy of itself inside")
class CopyGrows(Copied):
    class made(Held):
        def __deepcopy__(self, memo: Any) -> Any:
            grown = type(self)()
            grown.inner = [bytearray(1_000_000), self]  # type: ignore[attr-defined]
            return grown
