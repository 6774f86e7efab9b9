"""What an event loop offers and no simulation controls: each such method raises an error that says what to write."""

from __future__ import annotations

import asyncio
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
