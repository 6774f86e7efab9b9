"""What a simulated loop does in place of the system: settings, executors, signals, child processes, and refusals."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import signal
import subprocess
from asyncio import events
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, NoReturn

from ordeal.simulate.errors import EscapedSimulation
from ordeal.simulate.network.sockets import SOCKET_HINT, refusing_method
from ordeal.simulate.nodes.life import LIFE, Life
from ordeal.simulate.outside.declared import Command, command, process_stub, stub_hint
from ordeal.simulate.outside.processes import SimulatedProcess
from ordeal.simulate.runtime.decisions import ARRIVAL, name_key
from ordeal.simulate.runtime.sites import calling_site

#: Who runs where no task does.
LOOP_ACTOR = "the loop"
#: How long the job of an executor takes, and how long its result, by the value of the decision.
_ARRIVALS_S = (0.0, 0.001, 0.01, 0.1, 1.0)
_REFUSED = (
    *("connect_read_pipe", "connect_write_pipe", "add_reader", "add_writer"),
    *("create_unix_server", "create_unix_connection"),
    *("sock_sendfile", "sock_recvfrom", "sock_recvfrom_into", "sock_sendto"),
)


class SystemLoop(asyncio.AbstractEventLoop):
    """The part of a simulated loop that stands for the system. What each step reads is kept by the queue of callbacks.

    Methods for what lies outside of the process raise EscapedSimulation.
    """

    # What the loop itself adds.
    decide: Callable[[int, int, int, int], int]
    record_of: Callable[..., Any]
    running_name: Callable[[], str]
    name_timer: Callable[[asyncio.TimerHandle, str, str], None]
    arrival_s: Callable[[tuple[float, ...], int], float]
    drop_life: Callable[[Life], None]
    slow_callback_duration = 0.1
    escaped: EscapedSimulation | None = None
    is_ending = False
    """Whether the test has ended, and what it left is being cancelled."""
    world: Any = None
    """The nodes of the run, if it has any."""
    log: Callable[[float, str, str], object] | None
    """Is called for everything that happens with the time, who, and what."""
    packet_latencies: tuple[float, ...]
    _exception_handler: Any = None
    _job_s: float | None = None
    """For how long the job that runs now has slept; None while none runs."""

    def __init__(self) -> None:
        self.unhandled: list[dict[str, Any]] = []
        """The contexts of errors that asyncio reported."""
        self.strikes: dict[tuple[str, str], int] = {}
        """How often which fault struck which node."""
        self.on_strike: Callable[[str, str], object] | None = None
        """Receives the kind of a fault that strikes, and the name of the node."""
        self.causes: dict[tuple[str, ...], list[tuple[str, str]]] = {}
        """What decisions did that were not 0, one after another, and when and where, as far as somebody keeps a log."""
        self._reactions: dict[tuple[Life | None, int], _Reaction] = {}
        self._processes = 0

    @property
    def now(self) -> float:
        """The time of the world, which the queue of callbacks has."""
        raise NotImplementedError

    def note_cause(self, kind: str, what: str, *where: str, of: tuple[str, ...] = ()) -> None:
        """Note what a decision of some kind does now, and where; ``of`` has its task and site, if they count."""
        if self.log is not None:
            self.causes.setdefault((kind, *of), []).append((what, ", ".join((f"at {self.now:.3f} s", *where))))

    def escape(self, what: str, hint: str) -> NoReturn:
        """Refuse to leave the simulation. The run ends with this error even if the program catches it."""
        __tracebackhide__ = True
        site = calling_site()
        error = EscapedSimulation(f"{what} inside of a simulation, at {site.where}: {site.name}", hint=hint)
        self.escaped = self.escaped or error
        raise error

    def remove_reader(self, _fd: Any) -> bool:
        """Return False: none was added."""
        return False

    remove_writer: Any = remove_reader

    def count_strike(self, kind: str, node: str) -> None:
        """Note that a fault strikes a node."""
        self.strikes[kind, node] = self.strikes.get((kind, node), 0) + 1
        if self.on_strike is not None:
            self.on_strike(kind, node)

    # Settings

    def set_debug(self, enabled: bool) -> None:
        """Switch asyncio's debug mode."""
        self._debug = bool(enabled)

    # Those of asyncio's own loops, which read no more than the attributes above.
    set_exception_handler: Any = asyncio.BaseEventLoop.set_exception_handler
    get_exception_handler: Any = asyncio.BaseEventLoop.get_exception_handler
    call_exception_handler: Any = asyncio.BaseEventLoop.call_exception_handler
    set_task_factory: Any = asyncio.BaseEventLoop.set_task_factory
    get_task_factory: Any = asyncio.BaseEventLoop.get_task_factory

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """Make the error a failure of the run."""
        self.unhandled.append(context)

    # Executors

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Run ``func(*args)`` in this thread, at a time that is drawn; the executor itself is not used."""
        del executor
        future = self.create_future()
        name = name_of_job(func)
        shown = f"the job {name} of {self.running_name()}" if self.log is not None else name
        task = asyncio.current_task(self)
        actor = name_key(LOOP_ACTOR) if task is None else self.record_of(task).key
        start_s = self._job_takes_s(actor, name, shown, calling_site().where if self.log is not None else "")
        timer = self.call_later(start_s, self._run_job, future, name, shown, func, args)
        self.name_timer(timer, shown, "begins in an executor")
        return future

    def _job_takes_s(self, actor: int, name: str, shown: str, where: str = "") -> float:
        """Return how long it takes until a job begins, or until its result arrives."""
        taken = self.decide(ARRIVAL, actor, name_key(name), len(_ARRIVALS_S) + 1)
        if taken:
            self.note_cause("arrival", shown, *filter(None, [where]))
        return self.arrival_s(_ARRIVALS_S, taken)

    def _run_job(
        self, future: asyncio.Future[Any], name: str, shown: str, func: Callable[..., Any], args: tuple[Any, ...]
    ) -> None:
        if future.cancelled():
            return
        # A thread of an executor has no running loop, and its sleep blocks no task.
        events._set_running_loop(None)
        self._job_s = 0.0
        outcome: tuple[Any, BaseException | None]
        try:
            outcome = func(*args), None
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - an executor passes on anything a job raises
            outcome = None, error
        finally:
            events._set_running_loop(self)
        took_s = self._job_takes_s(name_key("executor"), name, shown) + (self._job_s or 0.0)
        self._job_s = None
        self.name_timer(self.call_later(took_s, _settle, future, *outcome), f"the result of {shown}", "arrives")

    def set_default_executor(self, executor: Any) -> None:
        """Accept an executor, which is not used."""

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Return at once: there are no threads."""

    # Signals

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

    # Child processes. Not `async def`: what is not declared is refused at the call.

    def subprocess_exec(
        self, protocol_factory: Callable[[], Any], program: Any, *args: Any, **options: Any
    ) -> Coroutine[Any, Any, tuple[SimulatedProcess, Any]]:
        """Start what stands for a child process; other options than those of its pipes have no effect."""
        return self._start("subprocess_exec", protocol_factory, command([program, *args]), options)

    def subprocess_shell(
        self, protocol_factory: Callable[[], Any], cmd: Any, **options: Any
    ) -> Coroutine[Any, Any, tuple[SimulatedProcess, Any]]:
        """The same for a command of the shell, whose first word is the program."""
        return self._start("subprocess_shell", protocol_factory, command(cmd), options)

    def _start(
        self, method: str, protocol_factory: Callable[[], Any], asked: Command, options: dict[str, Any]
    ) -> Coroutine[Any, Any, tuple[SimulatedProcess, Any]]:
        answer = None if self.world is None else self.world.programs.find(asked)
        if answer is None:
            self.escape(f"loop.{method}()", stub_hint(process_stub(asked), has_world=self.world is not None))
        pipes = tuple(options.get(name, subprocess.PIPE) for name in ("stdin", "stdout", "stderr"))
        if any(pipe not in (None, subprocess.PIPE, subprocess.DEVNULL, subprocess.STDOUT) for pipe in pipes):
            self.escape(f"loop.{method}() with a file", "read what the process prints from a pipe, and write it")

        async def started() -> tuple[SimulatedProcess, Any]:
            protocol = protocol_factory()
            self._processes += 1
            process = SimulatedProcess(self, protocol, asked, answer, 999 + self._processes, pipes)
            process.begin()
            return process, protocol

        return started()


for _name in _REFUSED:
    setattr(SystemLoop, _name, refusing_method(f"loop.{_name}()", SOCKET_HINT))


def name_of_job(func: Any) -> str:
    """Return the name of a function, also where it is to run in a context, as ``asyncio.to_thread`` has it."""
    while isinstance(func, functools.partial):
        is_in_context = isinstance(getattr(func.func, "__self__", None), contextvars.Context) and func.args
        func = func.args[0] if is_in_context else func.func
    name: str = getattr(func, "__qualname__", type(func).__qualname__)
    return name.rpartition("<locals>.")[2]


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if error is None:
        future.set_result(result)
    elif isinstance(error, StopIteration):  # which Python 3.12 refuses
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


def _number(sig: Any) -> int:
    """Return the number of a signal. Raises TypeError or ValueError for anything else."""
    if not isinstance(sig, int):
        raise TypeError(f"sig must be an int, not {sig!r:.100}")
    if sig not in signal.valid_signals():
        raise ValueError(f"invalid signal number {sig}")
    return int(sig)
