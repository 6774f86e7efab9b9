"""Finds leaks: what the same runs leave behind each time, by the line of the program that made it."""

from __future__ import annotations

import gc
import sysconfig
import tracemalloc
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

from ordeal._base.formatting import one_line
from ordeal._base.imports import machinery_places
from ordeal._engine.execution.where import shown_path
from ordeal._tools.profile.figures import Leak

#: How often the runs are made before anything counts, as caches fill, and how often something has to be left behind.
WARM, TIMES = 3, 3
#: How many calls around an allocation are kept: what a library allocates is blamed on its caller.
_FRAMES = 10
_LIBRARY = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))


def trace_memory() -> None:
    """Trace allocations from now on.

    Call this before the program is loaded: an object that takes the place of an untraced one, which a free list kept,
    stays untraced itself, and the next one that is traced would seem new.
    """
    tracemalloc.start(_FRAMES)


def leaks(run: Callable[[], object]) -> list[Leak]:
    """Return what each call of ``run`` leaves behind, the most objects first. Ends the tracing of memory."""
    gc.collect()
    gc.freeze()  # what is there already need not be looked through after each run
    try:
        for _ in range(WARM):
            run()
        held = [_held_after(run) for _ in range(TIMES + 1)]
    finally:
        tracemalloc.stop()
    found = []
    for place in held[-1]:
        counts, sizes = zip(*(each.get(place, (0, 0)) for each in held), strict=True)
        least = min(after - before for before, after in pairwise(counts))
        if least > 0:
            path, _, number = place.rpartition(":")
            found.append(Leak(one_line(f"{shown_path(path)}:{number}"), least, (sizes[-1] - sizes[0]) // TIMES))
    return sorted(found, key=lambda leak: (-leak.objects, leak.place))


def _held_after(run: Callable[[], object]) -> dict[str, tuple[int, int]]:
    """Return how many objects of each place are alive after a call of ``run``, and how large they are."""
    run()
    gc.collect()
    objects, sizes = Counter[str](), Counter[str]()
    for each in tracemalloc.take_snapshot().statistics("traceback"):
        place = _place(each.traceback)
        objects[place] += each.count
        sizes[place] += each.size
    del objects[""]
    return {place: (number, sizes[place]) for place, number in objects.items()}


def _place(calls: tracemalloc.Traceback) -> str:
    """Return the line that is to blame; empty for what is not the program's."""
    for frame in reversed(calls):
        path = frame.filename
        if path.startswith(("<frozen", *machinery_places())):
            return ""
        if not path.startswith(_LIBRARY) or "site-packages" in path:
            return f"{path}:{frame.lineno}"
    return ""
