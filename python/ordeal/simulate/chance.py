"""Random numbers for a simulation: from the tape of the run, so that they replay and shrink, else fixed by a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from ordeal.buggify import activated, buggify

Choose = Callable[[int], int]

# This many decisions choose a content of any size: each is a choice that the shrinker tries to remove.
_DECISIONS_PER_CONTENT = 16


class Chance:
    """Numbers made from decisions of the same source as those of buggify.

    That is the tape in the Explorer and in replays, and Hypothesis' choices in its tests. Elsewhere they depend only on
    the seed and on how many were drawn before. A counter is the whole state, because simulations are copied at every
    checkpoint. Not thread-safe.
    """

    __slots__ = ("_drawn", "_rng_seed")

    def __init__(self, rng_seed: int) -> None:
        self._rng_seed = rng_seed
        self._drawn = 0

    def up_to(self, most: int) -> int:
        """Draw a number from 0 to ``most``; it shrinks to 0."""
        return self._number(most.bit_length()) % (most + 1)

    def content(self, size: int) -> bytes:
        """Draw ``size`` bytes."""
        number = self._number(_DECISIONS_PER_CONTENT)
        return hashlib.shake_128(f"{self._rng_seed}:{number}".encode()).digest(size)

    def _number(self, bits: int) -> int:
        self._drawn += 1
        seed = hashlib.sha256(f"{self._rng_seed}:{self._drawn}".encode()).digest()[:8]
        with activated(seed=int.from_bytes(seed)):
            return sum(buggify(0.5) << place for place in range(bits))
