"""Puts the random generators that Hypothesis manages into the same state at the start of every run."""

from __future__ import annotations

import functools
import random
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ordeal._hypothesis.private import private
from ordeal._native import StateWatch

# What Hypothesis keeps of generators: the numbers of those that it registers itself, and the place of its internal one.
_registry: Any = private("hypothesis.internal.entropy:RANDOMS_TO_MANAGE", None)
_numbers: Any = private("hypothesis.internal.entropy:_RKEY", None)
_local: Any = private("hypothesis.core:threadlocal", None)
_deterministic: Any = private("hypothesis.internal.entropy:deterministic_PRNG", None)


class _Numpy:
    """The generator behind the functions of ``numpy.random``."""

    def __init__(self, numpy: Any) -> None:
        self.seed, self.getstate, self.setstate = numpy.random.seed, numpy.random.get_state, numpy.random.set_state


if _registry is None or _deterministic is None:
    _registry = weakref.WeakValueDictionary({-1: random})
    _numpy: _Numpy | None = None

    @contextmanager
    def _deterministic() -> Iterator[None]:
        """Put the generators back into their states after the block, where Hypothesis does not."""
        global _numpy  # noqa: PLW0603 - the registry holds no references
        if _numpy is None and "numpy" in sys.modules:
            _registry[-2] = _numpy = _Numpy(sys.modules["numpy"])
        before = [(generator, generator.getstate()) for generator in _registry.values()]
        try:
            yield
        finally:
            for generator, state in before:
                generator.setstate(state)


# The C class behind random.Random. It holds the whole state except a cached normal variate.
_CORE: Any = random.Random.__mro__[1]
# Types that == compares completely: the state of random.Random is one tuple of numbers.
_PLAIN = frozenset({int, float, str, bytes, type(None)})


class GlobalRandoms:
    """Seeds every random generator that Hypothesis manages (``random``, numpy's, registered ones) before each run."""

    def __init__(self) -> None:
        self._seeded: dict[int, Any] = {}
        self._known: list[Any] = []
        self._seeders: list[Callable[[], object]] = []

    def reseed(self) -> None:
        """Put all generators into the state in which every run starts."""
        if self._has_others():
            # Keeps references, so that the set of generators cannot change unnoticed.
            self._known = list(_registry.values())
            self._seeders = []
            for generator in self._known:
                plain = getattr(random.random, "__self__", None) if generator is random else generator
                if type(plain) is random.Random and _shows_use():
                    self._seeders.append(_SeededWhenUsed(generator, plain))
                else:
                    self._seeders.append(functools.partial(generator.seed, 0))
        for seed in self._seeders:
            seed()

    def _has_others(self) -> bool:
        """Return True if generators were added or removed since ``reseed``."""
        # The dictionary itself would count in Python, in each run.
        return len(_registry.data) != len(self._known)

    def changed(self) -> list[tuple[Any, Any]]:
        """Return the generators used since ``reseed``, each with its present state."""
        unused = {id(seed.generator) for seed in self._seeders if type(seed) is _SeededWhenUsed and seed.is_unused()}
        if len(unused) == len(self._seeders) and not self._has_others():
            return []
        return [
            (generator, state)
            for generator in _registry.values()
            if id(generator) not in unused
            and not same_state(state := generator.getstate(), self._seeded_state(generator))
        ]

    @contextmanager
    def managed(self) -> Iterator[GlobalRandoms]:
        """Save the states of the generators now, and restore them after the block."""
        give_own_generator()
        with _deterministic():
            yield self

    def _seeded_state(self, generator: Any) -> Any:
        known = self._seeded.get(id(generator))
        if known is None:
            now = generator.getstate()
            generator.seed(0)
            known = self._seeded[id(generator)] = generator.getstate()
            generator.setstate(now)
        return known


def random_state() -> object:
    """Return the state of the module ``random``, which a program may use. Each run begins with that of seed 0."""
    return random.getstate()


def give_own_generator() -> None:
    """Give Hypothesis the generator that it makes for itself where it has none.

    It would also have the collector of garbage search for references to it, through all objects. In a process that was
    forked a moment ago this copies their pages, and takes longer than a replay. Where objects are frozen, Python 3.14
    finds none, and Hypothesis warns of that.
    """
    if _numbers is not None and getattr(_local, "_hypothesis_global_random", random) is None:
        _local._hypothesis_global_random = _registry[next(_numbers)] = random.Random()


class _SeededWhenUsed:
    """Seeds a generator only if it was used. Most runs use none, and seeding takes as long as several steps."""

    __slots__ = ("_plain", "_seed", "_watch", "generator")

    def __init__(self, generator: Any, plain: random.Random) -> None:
        self.generator = generator
        self._plain = plain
        self._seed = generator.seed
        self._seed(0)
        self._watch = StateWatch(plain, _CORE)

    def is_unused(self) -> bool:
        """Return True if nothing has been drawn from it since it was seeded."""
        return self._watch.unchanged() and self._plain.gauss_next is None  # type: ignore[attr-defined]

    def __call__(self) -> None:
        if not self.is_unused():
            self._seed(0)


@functools.cache
def _shows_use() -> bool:
    """Return True if a generator's memory shows its use and nothing else: tested, as the layout is CPython's own."""
    generator = random.Random(0)
    watch = StateWatch(generator, _CORE)
    seen = [watch.unchanged()]
    for use in (generator.random, lambda: generator.getrandbits(1)):
        use()
        seen.append(watch.unchanged())
        generator.seed(0)
        seen.append(watch.unchanged())
    return seen == [True, False, True, False, True]


def same_state(a: Any, b: Any) -> bool:
    """Return True if two states of one generator are the same, so that nothing was drawn between them."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple | list):
        if _PLAIN.issuperset(map(type, a)):
            return bool(a == b)
        return len(a) == len(b) and all(map(same_state, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_state(value, b[key]) for key, value in a.items())
    if type(a) in _PLAIN:
        return bool(a == b)
    try:
        ours, theirs = memoryview(a), memoryview(b)
    except TypeError:
        return repr(a) == repr(b)
    # For numpy's arrays, whose == is not a truth value, and whose text is slow and incomplete.
    return (ours.format, ours.shape) == (theirs.format, theirs.shape) and ours.tobytes() == theirs.tobytes()
