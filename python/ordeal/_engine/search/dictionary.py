"""Gives a session the values that are worth drawing: constants of the targets, and what these compare."""

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
    """Of one exploration. ``traces_comparisons`` switches the watching of comparisons off.

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
        """Read the sources of the targets. It takes as long as many runs, and what they find needs no constant."""
        self.has_constants = True
        for value in find_constants(self._targets):
            self._session.add_constant(value)

    @property
    def are_due(self) -> bool:
        """Whether runs are to be replayed now, for what the targets compare in them."""
        return self._traces_comparisons and self._session.wants_comparisons

    def gather(self, monitor: _native.Monitor) -> None:
        """Replay what the session names, hidden from the monitor, and tell the session what was compared."""
        if self._tracing is None:
            self._tracing = Cmplog(self._targets, monitor)
        while self.are_due:
            compared = self._tracing.gather(self._replayer.run, self._session.tape_to_watch)
            self._session.learn_comparisons(compared)
