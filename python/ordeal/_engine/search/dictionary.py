"""Gives a session values worth drawing: constants of the targets, and values that they compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ordeal._engine.coverage.cmplog import Cmplog
from ordeal._engine.coverage.constants import Constant, constants_in_batches
from ordeal._engine.coverage.targets import Target

if TYPE_CHECKING:
    import ordeal._native as _native
    from ordeal._engine.replay.replayer import Replayer


class Dictionary:
    """The dictionary of one exploration. ``traces_comparisons`` says whether comparisons are observed."""

    def __init__(
        self, session: _native.Session, targets: Sequence[Target], replayer: Replayer, traces_comparisons: bool
    ) -> None:
        self._session = session
        self._targets = targets
        self._replayer = replayer
        self._traces_comparisons = traces_comparisons
        self._tracing: Cmplog | None = None
        self._constants: Iterator[list[Constant]] | None = constants_in_batches(targets)
        self._batches = 0

    def add_constants(self, batches: int) -> None:
        """Know the first ``batches`` of the constants in the targets: those of a large package take seconds together.

        Call it before each run that may know any. How many batches there are by then must be decided by counts.
        """
        while self._constants is not None and self._batches < batches:
            self._batches += 1
            batch = next(self._constants, None)
            if batch is None:
                self._constants = None
                return
            for value in batch:
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
