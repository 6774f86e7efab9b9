"""Functions of the standard library that ask the loop of the run: sockets, names, child processes and signals."""

from __future__ import annotations

import asyncio
import functools
import os
import select
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable
from typing import Any

from ordeal.simulate.network.sockets import SimulatedSocket, is_ip
from ordeal.simulate.network.tls import wrapping_open
from ordeal.simulate.nodes.life import LIFE
from ordeal.simulate.replacement import MACHINERY, BoundPlaces, package_of
from ordeal.simulate.runtime.tasks import Gathering

#: What ``time.time()`` answers when a run begins: the first of January 2026, in UTC.
EPOCH_S = 1_767_225_600.0
#: The name of the machine that the test itself runs on.
TEST_HOST = "localhost"


def epoch_s() -> float:
    """Return what the date is when the running code's clock says 0: in a node, its clock may be set wrong."""
    life = LIFE.get()
    return EPOCH_S if life is None else EPOCH_S + life.clock.offset


def host_name() -> str:
    """Return the name of the machine that the running code is on."""
    life = LIFE.get()
    return TEST_HOST if life is None else life.name


#: They set up the process, and not the program.
_REAL_CALLERS = MACHINERY | {"asyncio", "threading", "subprocess", "multiprocessing", "unittest"}

#: Where the job of an executor is called from, which belongs to the program.
_JOBS = "ordeal.simulate.runtime.system_loop"

_REAL_SOCKET = socket.socket
_REAL_GETADDRINFO = socket.getaddrinfo
_REAL_KILL = os.kill
_REAL_POLL = select.poll
_REAL_NEW_EVENT_LOOP = asyncio.new_event_loop

#: The loops of the runs that are in progress, each with its thread, the innermost last.
running_loops: list[tuple[int, Callable[[], Any]]] = []


def running_loop() -> Any:
    """Return the loop of the run that is in progress in this thread, None if there is none."""
    if not running_loops or running_loops[-1][0] != threading.get_ident():
        return None
    return running_loops[-1][1]()


def _loop(fence: str) -> Any:
    """Return the loop of the run that the caller's caller belongs to, None if there is none or it may leave the run."""
    loop = running_loop()
    if loop is None:
        return None
    caller = _calling_module(2)
    is_real = package_of(caller) in _REAL_CALLERS and caller != _JOBS
    return None if is_real or loop.allows(fence) else loop


def _calling_module(depth: int) -> str:
    """Return the module of the frame that is ``depth`` calls up."""
    return str(sys._getframe(depth + 1).f_globals.get("__name__", ""))


class _SocketType:
    """What ``socket.socket`` is inside of a run: it makes simulated sockets, and is the real class in all else."""

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, _REAL_SOCKET | SimulatedSocket)

    def __subclasscheck__(self, subclass: type) -> bool:
        return issubclass(subclass, _REAL_SOCKET | SimulatedSocket)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        # A module that is imported inside of a run derives from the real class.
        return (_REAL_SOCKET,)

    def __getattr__(self, name: str) -> Any:
        return getattr(_REAL_SOCKET, name)

    def __or__(self, other: Any) -> Any:
        return _REAL_SOCKET | other

    __ror__ = __or__

    def __call__(self, family: int = -1, type: int = -1, proto: int = -1, fileno: int | None = None) -> Any:  # noqa: A002
        loop = _loop("socket") if fileno is None else None
        if loop is None:
            return _REAL_SOCKET(family, type, proto, fileno)
        return SimulatedSocket(loop, family, type, proto)


def _asking(real: Callable[..., Any], fence: str, simulated: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is ``simulated(loop, ...)`` for a program in a run, and ``real`` for all others."""

    @functools.wraps(real)
    def ask(*arguments: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        loop = _loop(fence)
        return real(*arguments, **named) if loop is None else simulated(loop, *arguments, **named)

    return ask


def _getaddrinfo(
    loop: Any,
    host: Any,
    port: Any,
    family: int = 0,
    type: int = 0,  # noqa: A002 - as the real one
    proto: int = 0,
    flags: int = 0,
) -> Any:
    name = host.decode() if isinstance(host, bytes) else host
    is_node = loop.world is not None and name and loop.world.host_of(name) is not None
    if name in (None, "", "localhost") or is_node or is_ip(name):
        return loop.addresses(host, port, type)
    return _REAL_GETADDRINFO(host, port, family, type, proto, flags)


def _getfqdn(_loop: Any, name: str = "") -> str:
    name = name.strip()
    return host_name() if name in ("", "0.0.0.0", "::") else name


def _kill(loop: Any, pid: int, sig: int, /) -> None:
    if pid != os.getpid() or not sig:
        _REAL_KILL(pid, sig)
    else:
        loop.send_signal(LIFE.get(), sig)


def _new_event_loop() -> asyncio.AbstractEventLoop:
    __tracebackhide__ = True
    loop = running_loop() if package_of(_calling_module(1)) not in MACHINERY else None
    if loop is None or loop.allows("socket"):
        return _REAL_NEW_EVENT_LOOP()
    return loop.escape(  # type: ignore[no-any-return]
        "the program makes its own event loop (asyncio.new_event_loop)",
        "await the coroutine, or pass it to asyncio.create_task: only the loop of the run has simulated time",
    )


def _refusing(
    real: Callable[..., Any], name: str, fence: str, what: str, hint: str, *, may: Callable[..., bool] | None = None
) -> Callable[..., Any]:
    """Return a function of the system that no simulated program may call; others call the real one.

    ``may``, if given, returns whether a simulated program may call it with these arguments.
    """

    def refuse(loop: Any, *arguments: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        if may is not None and may(*arguments):
            return real(*arguments, **named)
        return loop.escape(f"the program {what} ({name})", hint)

    return _asking(real, fence, refuse)


_ALARM = "sets an alarm of the system", "use asyncio.timeout, or loop.call_later"
_WAIT = "waits for the system", "use asyncio.sleep, and the streams and locks of asyncio"
_PIPE = "makes a pipe or a device among the files", "let tasks share an asyncio.Queue, or give the program a stand-in"


class _Poll:
    """What ``select.poll()`` is in a run, where a pool of connections may ask its sockets, but none may wait so."""

    def __init__(self, real: Any) -> None:
        self.register, self.modify, self.unregister = real.register, real.modify, real.unregister
        self.poll = _refusing(real.poll, "select.poll", "socket", *_WAIT, may=lambda *given: _is_zero(given, 0))


def _is_zero(arguments: tuple[Any, ...], place: int) -> bool:
    """Return True if a time-out is given, and is 0: then nothing is waited for."""
    return len(arguments) > place and isinstance(arguments[place], int | float) and arguments[place] == 0


#: No audit event reports these.
_REFUSED: list[tuple[Any, str, str, tuple[str, str]]] = [
    (signal, "alarm", "signal", _ALARM),
    (signal, "setitimer", "signal", _ALARM),
    (signal, "pause", "signal", _WAIT),
    (signal, "sigwait", "signal", _WAIT),
    *((select, name, "socket", _WAIT) for name in ("epoll", "kqueue", "devpoll")),
    (os, "mkfifo", "os", _PIPE),
    (os, "mknod", "os", _PIPE),
]

_REAL_WAIT = threading.Condition.wait


def _wait(self: threading.Condition, timeout: float | None = None) -> bool:
    __tracebackhide__ = True
    loop = running_loop()
    if loop is not None:
        loop.escape(
            "the program waits for another thread (threading.Condition.wait)",
            "use the locks, queues and events of asyncio: no other thread runs",
        )
    return _REAL_WAIT(self, timeout)


SYSTEM_PLACES = BoundPlaces(
    {
        (module, name): _refusing(getattr(module, name), f"{module.__name__}.{name}", fence, *why)
        for module, name, fence, why in _REFUSED
        if hasattr(module, name)
    }
    | {
        (select, "select"): _refusing(
            select.select, "select.select", "socket", *_WAIT, may=lambda *given: _is_zero(given, 3)
        ),
        (select, "poll"): _asking(_REAL_POLL, "socket", lambda _: _Poll(_REAL_POLL())),
        (socket, "socket"): _SocketType(),
        (socket, "getaddrinfo"): _asking(_REAL_GETADDRINFO, "socket", _getaddrinfo),
        (socket, "gethostname"): _asking(socket.gethostname, "socket", lambda _: host_name()),
        (socket, "getfqdn"): _asking(socket.getfqdn, "socket", _getfqdn),
        (signal, "signal"): _asking(
            signal.signal, "signal", lambda loop, signalnum, handler: loop.set_signal(signalnum, handler)
        ),
        (signal, "getsignal"): _asking(signal.getsignal, "signal", lambda loop, signalnum: loop.reaction_to(signalnum)),
        (signal, "raise_signal"): _asking(
            signal.raise_signal, "signal", lambda loop, signalnum, /: loop.send_signal(LIFE.get(), signalnum)
        ),
        (os, "kill"): _asking(_REAL_KILL, "signal", _kill),
        (asyncio, "new_event_loop"): _new_event_loop,
        (asyncio.events, "new_event_loop"): _new_event_loop,
        (threading.Condition, "wait"): _wait,
        (asyncio.tasks, "_GatheringFuture"): Gathering,
        (ssl.SSLContext, "wrap_bio"): wrapping_open(lambda: running_loop() is not None),
    }
)
