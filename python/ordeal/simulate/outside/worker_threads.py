"""The worker threads of anyio, on which starlette and FastAPI call functions: in a run, an executor of its loop."""

from __future__ import annotations

import asyncio
import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any

_METHOD = "run_sync_in_worker_thread"


@contextmanager
def worker_threads(running: Callable[[], Any]) -> Iterator[None]:
    """Let anyio run functions on the loop that ``running()`` returns, for the block, if it is imported already."""
    if "anyio" not in sys.modules:
        yield
        return
    # anyio imports its backend when a coroutine first asks for it, which may be inside of the run.
    backend: Any = importlib.import_module("anyio._backends._asyncio").AsyncIOBackend
    original = vars(backend).get(_METHOD)
    if original is None:
        yield
        return
    setattr(backend, _METHOD, classmethod(functools.partial(_run_sync, running, original.__func__)))
    try:
        yield
    finally:
        setattr(backend, _METHOD, original)


async def _run_sync(
    running: Callable[[], Any],
    original: Callable[..., Any],
    backend: Any,
    func: Callable[..., Any],
    args: tuple[Any, ...],
    abandon_on_cancel: bool = False,
    limiter: Any = None,
) -> Any:
    loop: Any = running()
    runs_here = loop is not None and bool(loop is asyncio.get_running_loop())
    if not runs_here or loop.allows("_thread"):
        return await original(backend, func, args, abandon_on_cancel, limiter)
    await backend.checkpoint()
    async with limiter or backend.current_default_thread_limiter():
        with backend.create_cancel_scope(shield=not abandon_on_cancel):
            context = copy_context()

            @functools.wraps(func, updated=())
            def job() -> Any:
                return context.run(func, *args)

            return await loop.run_in_executor(None, job)
