"""Which runs of a search are kept as a sample: many of the first, then ever the same share."""

from __future__ import annotations

from typing import Any

#: One in so many is kept: recording a run takes as long as five others, and a search is to lose less than a fiftieth.
EACH = 1_000
#: More are thinned out, so that the sample covers the whole search.
KEPT_MAX = 500


class Sample:
    """Takes runs 1, 4, 16, 64 and so on, then one in ``EACH``; which ones does not depend on the clock."""

    def __init__(self) -> None:
        self._each = EACH
        self._next = 1

    def takes(self, run_id: int, kept: list[Any]) -> bool:
        """Return whether to keep a run, after making room for it: every second of too many goes."""
        if run_id < self._next:
            return False
        if len(kept) >= KEPT_MAX:
            del kept[1::2]
            self._each *= 2
        self._next = run_id + min(3 * run_id, self._each)
        return True
