"""The executors of a simulated run: their jobs run in the same thread, at a time that is drawn."""

from __future__ import annotations

import asyncio
from asyncio import events
from collections.abc import Callable
from typing import Any

from ordeal.simulate.outside.process_loop import ProcessLoop
from ordeal.simulate.runtime.decisions import ARRIVAL, name_key

#: How long the job of an executor takes, and how long its result, by the value of the decision.
_ARRIVALS_S = (0.0, 0.001, 0.01, 0.1, 1.0)


class ExecutorLoop(ProcessLoop):
    """The methods of a loop that run functions in executors."""

    _job_s: float | None = None
    """For how long the job that runs now has slept; None while none runs."""

    def _actor(self) -> int:
        """Return who is running."""
        raise NotImplementedError

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Run ``func(*args)`` in this thread, at a time that is drawn; the executor itself is not used."""
        del executor
        future = self.create_future()
        site = name_key(getattr(func, "__qualname__", type(func).__qualname__))
        start_s = _ARRIVALS_S[self.decide(ARRIVAL, self._actor(), site, len(_ARRIVALS_S))]
        self.call_later(start_s, self._run_job, future, site, func, args)
        return future

    def _run_job(self, future: asyncio.Future[Any], site: int, func: Callable[..., Any], args: tuple[Any, ...]) -> None:
        if future.cancelled():
            return
        outcome = self._outcome(func, args)
        took_s = _ARRIVALS_S[self.decide(ARRIVAL, name_key("executor"), site, len(_ARRIVALS_S))]
        took_s += self._job_s or 0.0
        self._job_s = None
        self.call_later(took_s, _settle, future, *outcome)

    def _outcome(self, func: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, BaseException | None]:
        # A thread of an executor has no running loop, and its sleep holds up nobody.
        events._set_running_loop(None)
        self._job_s = 0.0
        try:
            return func(*args), None
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - an executor passes on whatever a job raises
            return None, error
        finally:
            events._set_running_loop(self)

    def set_default_executor(self, executor: Any) -> None:
        """Accept an executor, which is not used."""

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Return at once: there are no threads."""


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if error is None:
        future.set_result(result)
    elif isinstance(error, StopIteration):
        future.set_exception(RuntimeError("the job of an executor raised StopIteration"))
    else:
        future.set_exception(error)
