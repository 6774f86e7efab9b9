"""The only random source of faults: the tape of the run, or numbers fixed for every run; never the system's."""

from __future__ import annotations

import hashlib
import random

from ordeal.buggify import activated, effect_acts


class _ChanceSource:
    """The generators in use; the methods of each are thread-safe."""

    def __init__(self) -> None:
        self.default = random.Random(0)
        self.given: random.Random | None = None
        self.is_fresh = True
        """Whether nothing was drawn from the default one since it was seeded."""


_source = _ChanceSource()


def set_random(source: random.Random | None) -> random.Random | None:
    """Draw the chance of faults from ``source`` from now on, or from where it comes without one when it is ``None``.

    Without one it comes from the tape of the run in the Explorer and in replays, from Hypothesis' choices in one of its
    tests; otherwise, as in threads that the program starts, from the name of the fault and the number of the call. A
    given source is never reseeded. Returns what was set before, so that it can be put back.
    """
    previous, _source.given = _source.given, source
    return previous


def fault_bytes(size: int, *, occasion: str = "") -> bytes:
    """Return ``size`` random bytes for the effect of a fault, the same ones when the run is replayed.

    ``occasion`` says what they are for, such as the name of the fault and the number of the call. Where there is
    neither a tape nor a Hypothesis test, as in threads of the program, they come from it alone, so that no other thread
    has a part in them; without it from a generator with a fixed seed, which starts over at every ``Fault.reset()``.
    """
    if _source.given is not None:
        return _source.given.randbytes(size)
    # 16 decisions choose the bytes of one effect: each is a choice on the tape that the shrinker tries to remove.
    decisions = _decisions(0.5, 16, occasion)
    return random.Random(sum(acts << place for place, acts in enumerate(decisions))).randbytes(size)


def fault_chance(probability: float, *, occasion: str = "") -> bool:
    """Return True with ``probability``, the same when the run is replayed; ``occasion`` is as for ``fault_bytes``."""
    if _source.given is not None:
        return _source.given.random() < probability
    return _decisions(probability, 1, occasion)[0]


def _decisions(probability: float, count: int, occasion: str) -> list[bool]:
    # The seed counts only if the decisions come neither from a tape nor from Hypothesis.
    if occasion:
        seed = int.from_bytes(hashlib.blake2b(occasion.encode(), digest_size=8).digest())
    else:
        _source.is_fresh = False
        seed = _source.default.getrandbits(64)
    with activated(seed=seed):
        return [effect_acts(probability) for _ in range(count)]


def reset_default() -> None:
    """Restart the generator with the fixed seed. A source given to ``set_random`` is left alone."""
    # Seeding costs some ten microseconds and every fault of every run resets, so pay only after a draw.
    if not _source.is_fresh:
        _source.default.seed(0)
        _source.is_fresh = True
