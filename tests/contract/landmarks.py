"""A program under test whose branches tell only how deep a run is, so that each depth is worth a checkpoint."""

from __future__ import annotations


def reach(depth: int) -> bool:
    """Take a branch of its own for each of the first thirty-two depths; each must stand on a line of its own."""
    return (
        depth == 1
        or depth == 2
        or depth == 3
        or depth == 4
        or depth == 5
        or depth == 6
        or depth == 7
        or depth == 8
        or depth == 9
        or depth == 10
        or depth == 11
        or depth == 12
        or depth == 13
        or depth == 14
        or depth == 15
        or depth == 16
        or depth == 17
        or depth == 18
        or depth == 19
        or depth == 20
        or depth == 21
        or depth == 22
        or depth == 23
        or depth == 24
        or depth == 25
        or depth == 26
        or depth == 27
        or depth == 28
        or depth == 29
        or depth == 30
        or depth == 31
        or depth == 32
    )
