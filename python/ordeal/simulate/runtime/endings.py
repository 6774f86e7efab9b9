"""How the tasks of a run end that is over: awaited, and with their errors forgotten."""

from __future__ import annotations

import asyncio
from typing import Any


async def all_ended(tasks: list[asyncio.Task[Any]]) -> None:
    """Wait until tasks have ended, however they do."""
    await asyncio.gather(*tasks, return_exceptions=True)


def forget_error(task: asyncio.Task[Any]) -> None:
    """Have nobody told of how a task ended, or that it did not."""
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    if task.done() and not task.cancelled():
        task.exception()


def ignore(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Handle errors that are of no interest any more."""
    del loop, context
