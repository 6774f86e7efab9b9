"""Counts what the faults of a machine's simulated world struck, over the runs of one process."""

from __future__ import annotations

from collections.abc import Iterable

#: How the names of these faults begin.
OF_WORLDS = "simulate."


class WorldReach:
    """For each fault by name: the runs with a world, what it could have struck in them, and what it struck.

    Each machine class has one. A search reads it, and lets it pause during replays. Not thread-safe.
    """

    def __init__(self) -> None:
        self.counts: dict[str, list[int]] = {}
        self.is_paused = False
        self._is_run_counted = False

    def begin_run(self) -> None:
        """Begin a run, which may make several machines."""
        self._is_run_counted = False

    def add_run(self, struck: Iterable[tuple[str, int, int]]) -> None:
        """Count a machine's run: for each fault its name, how much it could have struck, and how much it struck."""
        if self.is_paused:
            return
        runs = int(not self._is_run_counted)
        for name, open_to, hits in struck:
            counts = self.counts.setdefault(name, [0, 0, 0])
            for place, more in enumerate((runs, open_to, hits)):
                counts[place] += more
        self._is_run_counted = True
