"""Faults of concurrency: calls that wait for each other, released late, move to another thread; state that is stale."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from typing import Any

from ordeal.errors import FaultError
from ordeal.faults.arguments import check_seconds, check_text, real_seconds
from ordeal.faults.attributes import stored_attribute
from ordeal.faults.call_faults import CallFault
from ordeal.faults.fault import Fault, made_again

__all__ = ["contended_call", "delayed_release", "stale_state", "thread_boundary"]

Call = Callable[[], Any]
CoroutineCall = Callable[[], Awaitable[Any]]


@made_again
def contended_call(target: str, contention: float = 0.05, mode: str = "simulate") -> CallFault:
    """Make calls of ``target`` wait for each other, as for one lock; a call that it makes of itself does not.

    ``mode="real"`` holds the lock for ``contention`` seconds before each call. Coroutines wait on their event loop.
    Raises FaultError for another mode or a negative time.
    """
    return _ContendedCall(
        target,
        f"contended_call({target}, {contention}s, {mode})",
        pause_s=real_seconds("contended_call", "contention", contention, mode),
    )


@made_again
def delayed_release(target: str, delay: float = 0.5, mode: str = "simulate") -> CallFault:
    """Make calls of ``target`` return ``delay`` seconds late, so that they hold locks for longer.

    ``mode="simulate"`` only counts the calls; ``mode="real"`` sleeps after each (on the event loop for a coroutine
    function). Raises FaultError for another mode or a negative delay.
    """
    return _DelayedRelease(
        target,
        f"delayed_release({target}, {delay}s, {mode})",
        real_seconds("delayed_release", "delay", delay, mode),
    )


@made_again
def thread_boundary(target: str, timeout: float = 5.0) -> CallFault:
    """Make calls of ``target`` in another thread, without thread-local state, while the caller waits.

    A coroutine gets its own event loop there. After ``timeout`` seconds the caller gets a TimeoutError; the
    thread is left to itself. Raises FaultError when ``timeout`` is negative.
    """
    check_seconds("thread_boundary", "timeout", timeout)
    return _ThreadBoundary(target, f"thread_boundary({target})", timeout)


@made_again
def stale_state(obj: Any, attr: str, stale_value: Any) -> Fault:
    """Give the attribute ``attr`` of ``obj`` the value ``stale_value``; restore it afterwards.

    A value that the program sets in the meantime stays. Raises FaultError when ``attr`` is not a text; switching it on
    does when the attribute does not exist, or it cannot be set.
    """
    check_text("stale_state", "attribute", attr, "write the name of the attribute")
    return _StaleState(obj, attr, stale_value)


# ---------------------------------------------------------------------------------------------------------------------
# Calls


class _ContendedCall(CallFault):
    """One lock for threads, and one for the tasks of each event loop."""

    def __init__(self, target: str, name: str, *, pause_s: float) -> None:
        super().__init__(target, name, pause_s=pause_s)
        # Reentrant: a recursive function must not wait for itself.
        self._thread_lock = threading.RLock()
        self._task_locks: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _TaskLock] = weakref.WeakKeyDictionary()

    def _struck(self, number: int, call: Call) -> Any:
        with self._thread_lock:
            return super()._struck(number, call)

    async def _struck_coroutine(self, number: int, call: CoroutineCall) -> Any:
        async with self._task_locks.setdefault(asyncio.get_running_loop(), _TaskLock()):
            return await super()._struck_coroutine(number, call)


class _TaskLock:
    """A reentrant lock for the tasks of one event loop."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._owner: asyncio.Task[Any] | None = None
        self._depth = 0

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        if self._owner is not task:
            await self._lock.acquire()
            self._owner = task
        self._depth += 1

    async def __aexit__(self, *_exc_info: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._owner = None
            self._lock.release()


class _DelayedRelease(CallFault):
    """Sleeps between the end of a call and its return."""

    def __init__(self, target: str, name: str, delay_s: float) -> None:
        super().__init__(target, name)
        self._delay_s = delay_s

    def _struck(self, number: int, call: Call) -> Any:
        result = super()._struck(number, call)
        if self._delay_s > 0:
            time.sleep(self._delay_s)
        return result

    async def _struck_coroutine(self, number: int, call: CoroutineCall) -> Any:
        result = await super()._struck_coroutine(number, call)
        if self._delay_s > 0:
            await asyncio.sleep(self._delay_s)
        return result


class _ThreadBoundary(CallFault):
    """Makes each call in a separate thread."""

    def __init__(self, target: str, name: str, timeout_s: float) -> None:
        super().__init__(target, name)
        self._timeout_s = timeout_s

    def _struck(self, _number: int, call: Call) -> Any:
        future = self._start(call)
        wait([future], self._timeout_s)
        return self._result(future)

    async def _struck_coroutine(self, _number: int, call: CoroutineCall) -> Any:
        async def run() -> Any:
            return await call()

        future = self._start(lambda: asyncio.run(run()))
        awaited = asyncio.wrap_future(future)
        await asyncio.wait([awaited], timeout=self._timeout_s)
        if not awaited.cancel():
            awaited.exception()  # otherwise asyncio would report an error that was never retrieved
        return self._result(future)

    def _start(self, call: Call) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()

        def settle() -> None:
            try:
                result = call()
            except BaseException as error:  # noqa: BLE001 - raised again in the thread of the caller
                future.set_exception(error)
            else:
                future.set_result(result)

        # A daemon: a call that never returns must not keep the process alive.
        threading.Thread(target=settle, name=self.name, daemon=True).start()
        return future

    def _result(self, future: Future[Any]) -> Any:
        if not future.done():
            raise TimeoutError(f"{self.target} did not return from its thread within {self._timeout_s}s")
        return future.result()


# ---------------------------------------------------------------------------------------------------------------------
# State


class _StaleAttribute:
    """An attribute's value before any fault was on it, and the faults on it now, the last one on top."""

    def __init__(self, owner: Any, name: str) -> None:
        self.owner = owner
        self.name = name
        self.faults: list[_StaleState] = []
        is_own, self._original = stored_attribute(owner, name)
        descriptor = inspect.getattr_static(type(owner), name, None)
        self._is_computed = isinstance(descriptor, property)
        # A value inherited from the class reappears when it is deleted; a property or a slot must be set.
        self._is_set = is_own or hasattr(descriptor, "__set__")

    def shows(self, fault: _StaleState) -> bool:
        """Return True if the value is ``fault``'s, as far as can be known: a property may return another object."""
        return self._is_computed or stored_attribute(self.owner, self.name)[1] is fault.stale_value

    def show(self, fault: _StaleState) -> None:
        setattr(self.owner, self.name, fault.stale_value)

    def restore(self) -> None:
        if self._is_set:
            setattr(self.owner, self.name, self._original)
        else:
            delattr(self.owner, self.name)


# Guards the attributes below. Taken after a fault's own lock, never before it.
_lock = threading.Lock()
_stale: dict[tuple[int, str], _StaleAttribute] = {}


class _StaleState(Fault):
    """Shows an old value; several on one attribute can be switched off in any order."""

    def __init__(self, obj: Any, attr: str, stale_value: Any) -> None:
        super().__init__(f"stale_state({type(obj).__name__}.{attr})")
        self.stale_value = stale_value
        self._owner = obj
        self._attr = attr

    @property
    def is_unwound(self) -> bool:
        """Return True if the fault is off and not on the attribute."""
        with _lock:
            attribute = _stale.get((id(self._owner), self._attr))
        return super().is_unwound and (attribute is None or self not in attribute.faults)

    def _do_activate(self) -> None:
        if not hasattr(self._owner, self._attr):
            raise FaultError(f"fault {self.name!r} cannot be switched on: the attribute {self._attr!r} does not exist")
        key = (id(self._owner), self._attr)
        with _lock:
            attribute = _stale.get(key) or _StaleAttribute(self._owner, self._attr)
            attribute.show(self)
            attribute.faults.append(self)
            _stale[key] = attribute

    def _do_deactivate(self) -> None:
        key = (id(self._owner), self._attr)
        with _lock:
            attribute = _stale[key]
            was_shown = attribute.faults[-1] is self and attribute.shows(self)
            attribute.faults.remove(self)
            if not attribute.faults:
                del _stale[key]
            # Otherwise another fault hides this one, or the program has set its own value.
            if was_shown and attribute.faults:
                attribute.show(attribute.faults[-1])
            elif was_shown:
                attribute.restore()
