"""What a simulated loop does in place of the system: it runs the jobs of executors, and delivers signals."""

from __future__ import annotations

import asyncio
import contextvars
import signal
from asyncio import events
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ordeal.simulate.nodes.life import LIFE, Life
from ordeal.simulate.outside.processes import ProcessLoop
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

    def arrival_s(self, latencies: tuple[float, ...], taken: int) -> float:
        """Return how long a result takes by a decision."""
        raise NotImplementedError

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Run ``func(*args)`` in this thread, at a time that is drawn; the executor itself is not used."""
        del executor
        future = self.create_future()
        site = name_key(getattr(func, "__qualname__", type(func).__qualname__))
        start_s = self.arrival_s(_ARRIVALS_S, self.decide(ARRIVAL, self._actor(), site, len(_ARRIVALS_S) + 1))
        self.call_later(start_s, self._run_job, future, site, func, args)
        return future

    def _run_job(self, future: asyncio.Future[Any], site: int, func: Callable[..., Any], args: tuple[Any, ...]) -> None:
        if future.cancelled():
            return
        outcome = self._outcome(func, args)
        took_s = self.arrival_s(_ARRIVALS_S, self.decide(ARRIVAL, name_key("executor"), site, len(_ARRIVALS_S) + 1))
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


@dataclass(frozen=True, slots=True)
class _Reaction:
    """What a signal calls, and in which node."""

    given: Any
    """The handler as ``signal.signal`` got it."""
    call: Callable[[], object] | None
    """None if the signal is ignored."""
    context: contextvars.Context


class SignalLoop(ExecutorLoop):
    """The methods of a loop that have to do with signals."""

    def __init__(self) -> None:
        super().__init__()
        self._reactions: dict[tuple[Life | None, int], _Reaction] = {}

    def add_signal_handler(self, sig: int, callback: Callable[..., object], *args: Any) -> None:  # type: ignore[override]
        """Call ``callback(*args)`` when the test sends a signal to this node."""
        number = _number(sig)
        context = contextvars.copy_context()
        soon = lambda: self.call_soon(callback, *args, context=context)  # noqa: E731
        self._reactions[LIFE.get(), number] = _Reaction(callback, soon, context)

    def remove_signal_handler(self, sig: int) -> bool:
        """Forget a handler; return whether there was one."""
        return self._reactions.pop((LIFE.get(), _number(sig)), None) is not None

    def set_signal(self, sig: int, given: Any) -> Any:
        """Keep a handler as ``signal.signal`` does, and return the one before."""
        number = _number(sig)
        if given not in (signal.SIG_IGN, signal.SIG_DFL) and not callable(given):
            raise TypeError("signal handler must be signal.SIG_IGN, signal.SIG_DFL, or a callable object")
        before = self.reaction_to(number)
        if given == signal.SIG_DFL or given is signal.default_int_handler:
            self._reactions.pop((LIFE.get(), number), None)
        else:
            call = None if given == signal.SIG_IGN else lambda: given(number, None)
            self._reactions[LIFE.get(), number] = _Reaction(given, call, contextvars.copy_context())
        return before

    def reaction_to(self, sig: int) -> Any:
        """Return the handler as ``signal.getsignal`` does."""
        number = _number(sig)
        known = self._reactions.get((LIFE.get(), number))
        if known is not None:
            return known.given
        return signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL

    def send_signal(self, life: Life | None, sig: int) -> None:
        """Do what a signal does: call the handler, or without one end the node."""
        number = _number(sig)
        handler = self._reactions.get((life, number))
        if handler is not None:
            if handler.call is not None:
                handler.context.run(handler.call)
        elif life is not None:
            life.end(is_silent=False)
            self.drop_life(life)
        else:
            self.escape(
                f"nothing handles the signal {signal.Signals(number).name}",
                "set a handler first, or send it to a node: `node.send_signal(...)`",
            )


def _number(sig: Any) -> int:
    """Return the number of a signal.

    Raises:
        TypeError: it is none.
        ValueError: there is no such signal.
    """
    if not isinstance(sig, int):
        raise TypeError(f"sig must be an int, not {sig!r:.100}")
    if sig not in signal.valid_signals():
        raise ValueError(f"invalid signal number {sig}")
    return int(sig)
