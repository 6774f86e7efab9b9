"""The random generators that a whole process shares: seeds those that are loaded, and restores them afterwards."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import entry_points
from typing import Any

from ordeal import buggify
from ordeal._hypothesis.markers import forced_seed

#: Names for ``leave``: the generators that another option seeds.
CHAOS_SEEDED = frozenset({"random", "numpy", "hypothesis", "buggify"})
REGISTERED = "registered"

# Instances of random.Random that libraries keep in a module for all their users.
_KEPT_BY_LIBRARIES = (
    ("faker.generator", "random"),
    ("model_bakery.random_gen", "baker_random"),
    ("polyfactory.constants", "DEFAULT_RANDOM"),
)
# Libraries register seeding functions under this entry point, which pytest-randomly introduced.
_ENTRY_POINTS = "pytest_randomly.random_seeder"

#: The generator behind the functions of `random`, which a test may replace and leave so.
_SHARED: Any = random.getstate.__self__  # type: ignore[attr-defined]

Seeds = Callable[[str], int]
Undo = Callable[[], object]


class GlobalGenerators:
    """Seeds the loaded generators; one that is loaded later keeps its own initial state.

    Owned by one thread, the one that runs tests. ``leave`` names the generators that are not touched.
    """

    def __init__(self, *, leave: Collection[str] = ()) -> None:
        self._leave = leave
        self._buggify_seed = 0
        self._registered: list[Callable[[int], object]] | None = None

    @contextmanager
    def seeded(self, seeds: Seeds) -> Iterator[None]:
        """Start each generator from ``seeds(its name)``; restore their states after the block."""
        leave = self._leave
        with ExitStack() as undo:
            if "random" not in leave:
                _start_over(_SHARED, seeds("random"), undo)
            numpy: Any = sys.modules.get("numpy")
            if "numpy" not in leave and numpy is not None:
                drawn = seeds("numpy")
                undo.callback(numpy.random.set_state, numpy.random.get_state())
                # numpy takes 32 bits at a time, too few for many tests.
                numpy.random.seed([drawn & 0xFFFFFFFF, drawn >> 32])
            if "hypothesis" not in leave:
                undo.enter_context(forced_seed(seeds("hypothesis")))
            if "buggify" not in leave:
                # Its position cannot be read, so afterwards it restarts from its previous seed.
                undo.callback(self._start_buggify, self._buggify_seed)
                self._start_buggify(seeds("buggify"))
            if REGISTERED not in leave:
                for module, attribute in _KEPT_BY_LIBRARIES:
                    generator = getattr(sys.modules.get(module), attribute, None)
                    if generator is not None:
                        _start_over(generator, seeds(module), undo)
                if self._registered is None:
                    self._registered = [each.load() for each in sorted(entry_points(group=_ENTRY_POINTS))]
                for seed_one in self._registered:
                    # They can be seeded, but not restored.
                    seed_one(seeds(REGISTERED) % 2**32)
            yield

    def _start_buggify(self, seed: int) -> None:
        self._buggify_seed = seed
        buggify.set_seed(seed)


def _start_over(generator: Any, seed: int, undo: ExitStack) -> None:
    undo.callback(generator.setstate, generator.getstate())
    generator.seed(seed)
