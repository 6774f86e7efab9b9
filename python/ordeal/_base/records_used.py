"""Which records of the outside this process has used, for the traces of its runs, and whether it may add to them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


class RecordsUsed:
    """A process has one: ``records``.

    Attributes:
        paths: the files that were used, relative to the current folder where they lie in it.
        only_serve: whether nothing may ask the real thing, as in a replay, or with ORDEAL_RECORD=never.
    """

    def __init__(self) -> None:
        self.paths: dict[str, None] = {}
        self.only_serve = os.environ.get("ORDEAL_RECORD") == "never"

    @contextmanager
    def replaying(self) -> Iterator[None]:
        """Ask nothing of the real thing, during the block."""
        before, self.only_serve = self.only_serve, True
        try:
            yield
        finally:
            self.only_serve = before


records = RecordsUsed()
"""Those of this process."""
