"""Gives a session values worth drawing: constants of the targets, and values that they compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ordeal._engine.coverage.cmplog import Cmplog
from ordeal._engine.coverage.constants import find_constants
from ordeal._engine.coverage.targets import Target

if TYPE_CHECKING:
    from ordeal import _native
    from ordeal._engine.replay.replayer import Replayer


class Dictionary:
    """The dictionary of one exploration. ``traces_comparisons`` says whether comparisons are observed.

    Attributes:
        has_constants: whether the session knows the constants of the targets.
    """

    def __init__(
        self, session: _native.Session, targets: Sequence[Target], replayer: Replayer, traces_comparisons: bool
    ) -> None:
        self._session = session
        self._targets = targets
        self._replayer = replayer
        self._traces_comparisons = traces_comparisons
        self._tracing: Cmplog | None = None
        self.has_constants = False

    def add_constants(self) -> None:
        """Read the constants of the targets. This takes as long as many runs, and early finds need no constants."""
        self.has_constants = True
        for value in find_constants(self._targets):
            self._session.add_constant(value)

    @property
    def are_due(self) -> bool:
        """Return whether runs should be replayed now to observe comparisons."""
        return self._traces_comparisons and self._session.wants_comparisons

    def gather(self, monitor: _native.Monitor) -> None:
        """Replay the runs that the session names, hidden from the monitor, and pass it the compared values."""
        if self._tracing is None:
            self._tracing = Cmplog(self._targets, monitor)
        while self.are_due:
            compared = self._tracing.gather(self._replayer.run, self._session.tape_to_watch)
            self._session.learn_comparisons(compared)
