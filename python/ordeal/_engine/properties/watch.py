"""Counts what the runs of an exploration see of the properties of a program, and where they came nearest to one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ordeal._engine.properties.tracker import PropertyResult, ReliabilityCell, Snapshot, tracker


class PropertyWatch:
    """Has the tracker of the process count for one exploration, and leaves it as it was. Used once.

    ``results`` and ``cells`` are there once the recording has ended. ``nearest`` names, for each property that compares
    numbers, the checkpoint that was kept for coming nearest to it, or 0 where that one is worth more.
    """

    def __init__(self) -> None:
        self.results: list[PropertyResult] = []
        self.cells: list[ReliabilityCell] = []
        self.nearest: dict[str, int] = {}
        #: Holds something while ``take_nearer`` has something to give: after each step, to ask this costs the least.
        self.nearer = tracker.nearer

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Start from zero, and count nothing but what ``counting`` encloses."""
        with tracker.recording():
            tracker.active = False
            try:
                yield
            finally:
                self.results, self.cells = tracker.results, tracker.cells
                tracker.take_nearer()

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count what happens inside the block."""
        tracker.active = True
        try:
            yield
        finally:
            tracker.active = False

    def begin_run(self) -> None:
        """Forget what came nearer in a step that did not end well: nothing can go on from there."""
        if self.nearer:
            tracker.take_nearer()

    def take_nearer(self) -> Sequence[str]:
        """The properties that came nearer since the last call."""
        return tracker.take_nearer()

    def superseded(self, nearer: Sequence[str], checkpoint: int) -> list[int]:
        """Have ``checkpoint`` be the nearest one of some properties; the checkpoints that nothing speaks for any more.

        One that was kept for more than a distance is passed as 0: it is never outdone.
        """
        before = [self.nearest.get(name, 0) for name in nearer]
        self.nearest.update(dict.fromkeys(nearer, checkpoint))
        still = set(self.nearest.values())
        return [each for each in dict.fromkeys(before) if each and each not in still]

    # -- in a fork, and what is told of it ----------------------------------------------------------------------------

    def start_over(self) -> None:
        """Count from zero in a fork."""
        tracker.reset()
        tracker.take_nearer()
        tracker.active = True

    def take_snapshot(self) -> Snapshot:
        """What was counted since ``start_over`` or the last call."""
        snapshot = {
            part: [row | {"declared": False} for row in rows if row["hits"] or row["distance"] is not None]
            for part, rows in tracker.snapshot().items()
        }
        if any(snapshot.values()):
            tracker.reset()
        return snapshot

    def absorb(self, snapshot: Snapshot) -> None:
        """Count what a fork has counted as if it had been seen here.

        Raises:
            PropertyError: it is no snapshot, or a property has another type here.
        """
        if any(snapshot.values()):
            tracker.absorb(snapshot)

    # -- across processes ---------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """What was counted until now. What is declared is left out: each process has imported that itself."""
        snapshot = tracker.snapshot()
        return {part: [row | {"declared": False} for row in rows] for part, rows in snapshot.items()}

    def restore(self, snapshot: Snapshot, nearest: Mapping[str, int]) -> None:
        """Go on from what another process has counted.

        Raises:
            PropertyError: it is no snapshot, or a property has another type now.
        """
        tracker.merge(snapshot)
        self.nearest = dict(nearest)
