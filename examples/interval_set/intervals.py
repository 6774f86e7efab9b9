"""A set of whole numbers that is kept as half-open intervals, as for the seats or ports that are taken."""

from bisect import bisect_left


class IntervalSet:
    """Intervals ``[start, end)`` in order, with a gap between any two."""

    def __init__(self) -> None:
        self._intervals: list[tuple[int, int]] = []

    def add(self, start: int, end: int) -> None:
        """Add the numbers from ``start`` up to ``end``; those it holds already stay."""
        if start >= end:
            raise ValueError("an interval ends after it starts")
        at = bisect_left(self._intervals, (start, start))
        if at > 0 and self._intervals[at - 1][1] >= start:
            at -= 1
            start = self._intervals[at][0]
        # Planted: it swallows the intervals that begin inside, and forgets how far the last of them reached.
        last = at
        while last < len(self._intervals) and self._intervals[last][0] <= end:
            last += 1
        self._intervals[at:last] = [(start, end)]

    def remove(self, number: int) -> None:
        """Remove a number. Raises KeyError when it is not there."""
        for at, (start, end) in enumerate(self._intervals):
            if start <= number < end:
                left = [(a, b) for a, b in ((start, number), (number + 1, end)) if a < b]
                self._intervals[at : at + 1] = left
                return
        raise KeyError(number)

    def __contains__(self, number: int) -> bool:
        return any(start <= number < end for start, end in self._intervals)

    def numbers(self) -> set[int]:
        """All numbers, one by one."""
        return {number for start, end in self._intervals for number in range(start, end)}
