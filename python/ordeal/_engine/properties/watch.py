"""Counts what the runs of an exploration see of properties, and which checkpoints came nearest to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ordeal._base.property_tracker import PropertyResult, ReliabilityCell, Snapshot, tracker


class PropertyWatch:
    """Lets the tracker of the process count for one exploration, and then restores it. Used once.

    ``results`` and ``cells`` are set once recording has ended. ``nearest`` names, for each property that compares
    numbers, the checkpoint that was kept for coming nearest to it, or 0 if that one is worth more than the distance.
    """

    def __init__(self) -> None:
        self.results: list[PropertyResult] = []
        self.cells: list[ReliabilityCell] = []
        self.nearest: dict[str, int] = {}
        #: Not empty while ``take_nearer`` has something to return: the cheapest check after each step.
        self.nearer = tracker.nearer

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Start from zero, and count only inside ``counting``."""
        with tracker.recording():
            tracker.active = False
            try:
                yield
            finally:
                self.results, self.cells = tracker.results, tracker.cells
                tracker.run = None
                tracker.take_nearer()

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count what happens during the block."""
        tracker.active = True
        try:
            yield
        finally:
            tracker.active = False

    def number_run(self, run: int) -> None:
        """Note which run begins, so that what it sees first is noted with its number."""
        tracker.run = run

    def begin_run(self) -> None:
        """Forget what came nearer in a step that did not end well: no run can continue from there."""
        if self.nearer:
            tracker.take_nearer()

    def take_nearer(self) -> Sequence[str]:
        """Return the properties that came nearer since the last call."""
        return tracker.take_nearer()

    def superseded(self, nearer: Sequence[str], checkpoint: int) -> list[int]:
        """Make ``checkpoint`` the nearest one of some properties; return the checkpoints that are no longer needed.

        Pass 0 for a checkpoint that was kept for more than a distance: it is never superseded.
        """
        before = [self.nearest.get(name, 0) for name in nearer]
        self.nearest.update(dict.fromkeys(nearer, checkpoint))
        still = set(self.nearest.values())
        return [each for each in dict.fromkeys(before) if each and each not in still]

    # -- in a fork, and its reports ------------------------------------------------------------------------------------

    def start_over(self) -> None:
        """Count from zero in a fork."""
        tracker.reset()
        tracker.take_nearer()
        tracker.run = None  # the process that absorbs it knows
        tracker.active = True

    def take_snapshot(self) -> Snapshot:
        """Return what was counted since ``start_over`` or the last call."""
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
            PropertyError: the snapshot is invalid, or a property has another type here.
        """
        if any(snapshot.values()):
            tracker.absorb(snapshot)

    # -- across processes ---------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return what was counted so far, without declarations: each process imports those itself."""
        snapshot = tracker.snapshot()
        return {part: [row | {"declared": False} for row in rows] for part, rows in snapshot.items()}

    def restore(self, snapshot: Snapshot, nearest: Mapping[str, int]) -> None:
        """Continue from the counts of another process.

        Raises:
            PropertyError: the snapshot is invalid, or a property has another type now.
        """
        tracker.merge(snapshot)
        self.nearest = dict(nearest)
