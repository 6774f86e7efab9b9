"""The one source of chance in faults: seeded, settable, never the operating system's."""

from __future__ import annotations

import random
import threading

_DEFAULT_SEED = 0


class _Source:
    """The generator in use, thread-safe; the default one starts over when it is reset."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._default = random.Random(_DEFAULT_SEED)
        self._given: random.Random | None = None
        self._is_fresh = True

    def set(self, source: random.Random | None) -> random.Random | None:
        with self._lock:
            previous, self._given = self._given, source
            return previous

    def draw_bytes(self, size: int) -> bytes:
        with self._lock:
            if self._given is not None:
                return self._given.randbytes(size)
            self._is_fresh = False
            return self._default.randbytes(size)

    def reset_default(self) -> None:
        with self._lock:
            # Seeding costs some ten microseconds and every fault of every run resets: pay only after a draw.
            if not self._is_fresh:
                self._default.seed(_DEFAULT_SEED)
                self._is_fresh = True


_source = _Source()


def set_random(source: random.Random | None) -> random.Random | None:
    """Draw the chance of faults from ``source`` from now on, or from the default when it is ``None``.

    Returns what was set before, so that it can be put back. The default is a generator with a fixed seed, which
    starts over at every ``Fault.reset()``; a given source is never reseeded.
    """
    return _source.set(source)


def fault_bytes(size: int) -> bytes:
    """``size`` bytes of chance for the effect of a fault, the same ones in every run with the same source."""
    return _source.draw_bytes(size)


def reset_default() -> None:
    """Start the default source over. A source given to ``set_random`` is left alone."""
    _source.reset_default()
