"""Who last took, gave or set the locks and queues of asyncio: noted only while the run of a failure is repeated."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ordeal.simulate.runtime.sites import calling_site

_TOOK, _GAVE = "acquired", "released"
_WATCHED: dict[type, dict[str, str]] = {
    asyncio.Lock: {"acquire": _TOOK, "release": _GAVE},
    asyncio.Semaphore: {"acquire": _TOOK, "release": _GAVE},
    asyncio.Condition: {"notify": "last notified"},
    asyncio.Event: {"set": "last set", "clear": "last cleared"},
    asyncio.Queue: {"put_nowait": "last put", "get_nowait": "last got"},
}

#: For each object, by its id: the object itself, and who did what to it last and where.
_uses: dict[int, tuple[object, dict[str, str]]] = {}


def last_uses(target: object) -> list[str]:
    """Return what was done last to an object, as texts; nothing outside of ``watched_locks``."""
    _, uses = _uses.get(id(target), (None, {}))
    return [f"{what} by {who}" for what, who in uses.items() if what != _GAVE]


@contextmanager
def watched_locks(name_of: Callable[[], str]) -> Iterator[None]:
    """Note in the block who uses locks; ``name_of()`` returns who runs."""
    originals = [(cls, method, vars(cls)[method]) for cls, methods in _WATCHED.items() for method in methods]
    for cls, method, original in originals:
        setattr(cls, method, _watching(original, _WATCHED[cls][method], name_of))
    try:
        yield
    finally:
        for cls, method, original in originals:
            setattr(cls, method, original)
        _uses.clear()


def _watching(original: Callable[..., Any], what: str, name_of: Callable[[], str]) -> Callable[..., Any]:
    def note(target: object) -> None:
        _, uses = _uses.setdefault(id(target), (target, {}))
        uses.pop(what, None)
        if what == _GAVE:
            uses.pop(_TOOK, None)
        uses[what] = f"{name_of()} at {calling_site().where}"

    if inspect.iscoroutinefunction(original):

        @functools.wraps(original)
        async def acquire(self: object, *args: Any, **kwargs: Any) -> Any:
            result = await original(self, *args, **kwargs)
            note(self)
            return result

        return acquire

    @functools.wraps(original)
    def call(self: object, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        note(self)
        return result

    return call
