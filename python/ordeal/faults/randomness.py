"""The only random source of faults: the tape of the run, or numbers fixed for every run; never the system's."""

from __future__ import annotations

import hashlib
import random
import threading

from ordeal.buggify import activated, effect_acts

_DEFAULT_SEED = 0

# This many decisions choose the bytes of one effect. Each is a choice on the tape that the shrinker tries to remove.
_DECISIONS_PER_EFFECT = 16


class _ChanceSource:
    """The generators in use, thread-safe; resetting the default one restarts it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._default = random.Random(_DEFAULT_SEED)
        self._given: random.Random | None = None
        self._is_fresh = True

    def set(self, source: random.Random | None) -> random.Random | None:
        with self._lock:
            previous, self._given = self._given, source
            return previous

    def given_bytes(self, size: int) -> bytes | None:
        """Return bytes from the given source, if there is one."""
        with self._lock:
            return None if self._given is None else self._given.randbytes(size)

    def given_unit(self) -> float | None:
        """Return a number below 1 from the given source, if there is one."""
        with self._lock:
            return None if self._given is None else self._given.random()

    def draw_seed(self) -> int:
        """Return a seed from the default source."""
        with self._lock:
            self._is_fresh = False
            return self._default.getrandbits(64)

    def reset_default(self) -> None:
        if self._is_fresh:
            return
        with self._lock:
            # Seeding costs some ten microseconds and every fault of every run resets, so pay only after a draw.
            if not self._is_fresh:
                self._default.seed(_DEFAULT_SEED)
                self._is_fresh = True


_source = _ChanceSource()


def set_random(source: random.Random | None) -> random.Random | None:
    """Draw the chance of faults from ``source`` from now on, or from where it comes without one when it is ``None``.

    Without one it comes from the tape of the run in the Explorer and in replays, from Hypothesis' choices in one of its
    tests, and else, as in threads that the program starts, from the name of the fault and the number of the call. A
    given source is never reseeded. Returns what was set before, so that it can be put back.
    """
    return _source.set(source)


def fault_bytes(size: int, *, occasion: str = "") -> bytes:
    """``size`` bytes of chance for the effect of a fault, the same ones when the run is replayed.

    ``occasion`` says what they are for, such as the name of the fault and the number of the call. Where there is
    neither a tape nor a Hypothesis test, as in threads of the program, they come from it alone, so that no other thread
    has a part in them; without it from a generator with a fixed seed, which starts over at every ``Fault.reset()``.
    """
    given = _source.given_bytes(size)
    return random.Random(_decided_number(occasion)).randbytes(size) if given is None else given


def fault_chance(probability: float, *, occasion: str = "") -> bool:
    """True with ``probability``, and the same when the run is replayed; ``occasion`` is as for ``fault_bytes``."""
    unit = _source.given_unit()
    return _decisions(probability, 1, occasion)[0] if unit is None else unit < probability


def _decided_number(occasion: str) -> int:
    return sum(acts << place for place, acts in enumerate(_decisions(0.5, _DECISIONS_PER_EFFECT, occasion)))


def _decisions(probability: float, count: int, occasion: str) -> list[bool]:
    # The seed counts only if the decisions come neither from a tape nor from Hypothesis.
    with activated(seed=_seed_of(occasion) if occasion else _source.draw_seed()):
        return [effect_acts(probability) for _ in range(count)]


def _seed_of(occasion: str) -> int:
    return int.from_bytes(hashlib.blake2b(occasion.encode(), digest_size=8).digest())


def reset_default() -> None:
    """Restart the generator with the fixed seed. A source given to ``set_random`` is left alone."""
    _source.reset_default()
