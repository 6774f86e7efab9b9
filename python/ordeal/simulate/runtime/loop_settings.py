"""What every event loop lets a program set and ask: debug mode, the factory of tasks, and who decides about errors."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from typing import Any, NoReturn

from ordeal.simulate.errors import EscapedSimulation
from ordeal.simulate.runtime.sites import calling_site

_FAKE = "use asyncio.start_server and asyncio.open_connection, or give the program a stand-in in the test"
_HINTS = {
    **dict.fromkeys(("connect_read_pipe", "connect_write_pipe"), _FAKE),
    **dict.fromkeys(("add_reader", "add_writer"), _FAKE),
}
_SOCKETS = (*("sock_sendfile", "sock_recvfrom", "sock_recvfrom_into", "sock_sendto"),)


class FencedLoop(asyncio.AbstractEventLoop):
    """An event loop whose methods for what lies outside of the process raise EscapedSimulation."""

    escaped: EscapedSimulation | None = None

    def escape(self, what: str, hint: str) -> NoReturn:
        """Refuse to leave the simulation. The run ends with this error even if the program catches it."""
        __tracebackhide__ = True
        site = calling_site()
        error = EscapedSimulation(f"{what} inside of a simulation, at {site.where}: {site.name}", hint=hint)
        self.escaped = self.escaped or error
        raise error

    def remove_reader(self, fd: Any) -> bool:
        """Return False: none was added."""
        del fd
        return False

    def remove_writer(self, fd: Any) -> bool:
        """Return False: none was added."""
        del fd
        return False


def _fence(name: str, hint: str) -> Callable[..., Any]:
    def fenced(self: FencedLoop, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        del args, kwargs
        self.escape(f"loop.{name}()", hint)

    fenced.__name__, fenced.__qualname__ = name, f"FencedLoop.{name}"
    fenced.__doc__ = "Refuse: no simulation controls it."
    return fenced


for _name, _hint in {**dict.fromkeys(_SOCKETS, _FAKE), **_HINTS}.items():
    setattr(FencedLoop, _name, _fence(_name, _hint))


class LoopSettings(FencedLoop):
    """The settings and the state of a simulated loop. What each step reads is kept by the queue of its callbacks."""

    slow_callback_duration = 0.1
    is_ending = False
    """Whether the test has ended, and what it left is being cancelled."""
    world: Any = None
    """The nodes of the run, if it has any."""
    _exception_handler: Any = None

    def __init__(self) -> None:
        self.unhandled: list[dict[str, Any]] = []
        """What asyncio reported of errors that nobody awaits."""
        self.strikes: dict[tuple[str, str], int] = {}
        """How often which fault struck which node."""
        self.on_strike: Callable[[str, str], object] | None = None
        """Is told the kind of a fault that strikes, and the name of the node."""
        self.machine_seed = 0
        """What the identities of the machines follow from."""
        self.uuid_ticks: dict[str, int] = {}
        """The time in the last UUID of each machine, by its name."""

    def count_strike(self, kind: str, node: str) -> None:
        """Note that a fault strikes a node."""
        self.strikes[kind, node] = self.strikes.get((kind, node), 0) + 1
        if self.on_strike is not None:
            self.on_strike(kind, node)

    def set_debug(self, enabled: bool) -> None:
        """Switch asyncio's debug mode."""
        self._debug = bool(enabled)

    # Errors that nobody awaits

    def set_exception_handler(self, handler: Any) -> None:
        """Let ``handler(loop, context)`` decide about such errors; without one they are failures of the run."""
        if handler is not None and not callable(handler):
            raise TypeError(f"A callable object or None is expected, got {handler!r}")
        self._exception_handler = handler

    def get_exception_handler(self) -> Any:
        """Return what decides about errors, None if they are failures."""
        return self._exception_handler

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """Make the error a failure of the run."""
        self.unhandled.append(context)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Report an error that nobody awaits."""
        if self._exception_handler is None:
            self.default_exception_handler(context)
            return
        concerned = context.get("task") or context.get("future") or context.get("handle")
        own: contextvars.Context | None = getattr(concerned, "get_context", lambda: None)()
        try:
            if own is None:
                self._exception_handler(self, context)
            else:
                own.run(self._exception_handler, self, context)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - a mistake in the handler is a failure of the run
            message = "Unhandled error in exception handler"
            self.default_exception_handler({"message": message, "exception": error, "context": context})

    # Tasks

    def set_task_factory(self, factory: Any) -> None:
        """Let ``factory(loop, coroutine)`` make the tasks; None for the usual ones."""
        if factory is not None and not callable(factory):
            raise TypeError("task factory must be a callable or None")
        self._task_factory = factory

    def get_task_factory(self) -> Any:
        """Return what makes the tasks, None for the usual ones."""
        return self._task_factory
