"""Signals of a simulated run: each node has its handlers, which the test calls, and never the system."""

from __future__ import annotations

import contextvars
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ordeal.simulate.nodes.life import LIFE, Life
from ordeal.simulate.runtime.executors import ExecutorLoop


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
