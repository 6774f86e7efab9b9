"""Names what runs leave in the modules of the program: the next run begins with it, a fresh process does not."""

from __future__ import annotations

import os
import sys
from abc import ABCMeta
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import ModuleType

from ordeal._base.limits import LISTED_MAX
from ordeal._engine.isolation.working_folder import present_folder

#: The types that are counted: only for these exact types is it certain that asking for the size runs no code of the
#: user's.
_CONTAINERS = frozenset({dict, list, set, deque, OrderedDict, defaultdict})
_CACHE = type(lru_cache(lambda: None))
_CLASSES = frozenset({type, ABCMeta})


class Leftovers:
    """The sizes of the containers in modules of the program, as they are when this is made.

    ``targets`` are names of modules, which stand for those below them as well. Without any, these are the modules in
    the working folder.
    """

    def __init__(self, targets: Iterable[str], machine: str) -> None:
        self._targets = tuple(targets)
        self._machine = machine
        self._before = dict(self._sizes())

    def described(self) -> str:
        """Return what has grown since, such as ``shop._cache (0 entries before the first run, 7 now)``, or nothing."""
        grown = [
            f"{name} ({before} before the first run, {now} now)"
            for name, now in self._sizes()
            if now > (before := self._before.get(name, 0)) and name in self._before
        ]
        more = f" and {len(grown) - LISTED_MAX} more" if len(grown) > LISTED_MAX else ""
        return ", ".join(grown[:LISTED_MAX]) + more

    def _sizes(self) -> Iterator[tuple[str, int]]:
        wanted = (*self._targets, self._machine)
        modules = [each for each in list(sys.modules.values()) if type(each) is ModuleType]
        if self._targets:
            inside = tuple(f"{each}." for each in wanted)
            found = [each for each in modules if each.__name__ in wanted or each.__name__.startswith(inside)]
        else:
            folder = present_folder()
            here = os.path.join(folder, "") if folder else ""  # noqa: PTH118 - texts: there are hundreds of modules
            found = []
            for each in modules:
                file, name = vars(each).get("__file__"), each.__name__
                is_below = here and type(file) is str and file.startswith(here) and "site-packages" not in file
                if name == self._machine or (is_below and not name.startswith("ordeal.")):
                    found.append(each)
        for module in found[:500]:
            name = module.__name__
            for value in list(vars(module).values()):
                if type(value) in _CLASSES and value.__module__ == name:
                    yield from _sizes_in(f"{name}.{value.__qualname__}", list(vars(value).items()))
            yield from _sizes_in(name, list(vars(module).items()))


def _sizes_in(owner: str, names: list[tuple[str, object]]) -> Iterator[tuple[str, int]]:
    for name, value in names:
        kind = type(value)
        if kind in _CONTAINERS and not name.startswith("__"):
            yield f"{owner}.{name}", len(value)  # type: ignore[arg-type]
        elif kind is _CACHE:
            yield f"{owner}.{name}", value.cache_info().currsize  # type: ignore[attr-defined]
