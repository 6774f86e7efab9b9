"""Ends a rule that runs for too long, and runs coroutine rules on an event loop of their machine."""

from __future__ import annotations

import inspect
import signal
import threading
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from types import FrameType
from typing import TYPE_CHECKING, Any

from ordeal._base.interrupts import is_lost_in, is_own, without_complaints
from ordeal._native import monotonic

if TYPE_CHECKING:
    import asyncio

    from ordeal._base.world_reach import WorldReach
    from ordeal._native import Interleaving

# The alarm rings again: code under test may have caught the first exception together with its own.
_REPEAT_MIN_S = 1.0
# setitimer() takes 0 for "never", so a found timer that is already due gets this instead.
_AT_ONCE_S = 1e-6
# How long an alarm waits where Python would only print its exception, and where ordeal itself has something to finish.
_WAIT_S = 1e-3
# How often it waits for either: a finaliser may never end, and a fault of ordeal's may be what takes so long.
_LOST_WAITS_MAX, _OWN_WAITS_MAX = 1_000, 8


class RuleTimeoutError(Exception):
    """A rule of a ChaosTest ran for longer than ``rule_timeout`` seconds.

    Attributes:
        rule: the name of what ran, if that is known.
    """

    rule = ""
    # Buckets and names of seeds contain this name: moving this file must not change them.
    __module__ = "ordeal.rule_timeout"


def timeout_error(rule_name: str, timeout_s: float) -> RuleTimeoutError:
    """Return the error for a rule that takes longer than ``timeout_s`` seconds."""
    error = RuleTimeoutError(
        f"ChaosTest rule {rule_name!r} timed out after {timeout_s}s. "
        "It may wait for something that never comes, or need more time. "
        "Set rule_timeout = 0 to disable."
    )
    error.rule = rule_name
    return error


def call_with_timeout[Result](rule_name: str, timeout_s: float, call: Callable[[], Result]) -> Result:
    """Return ``call()``, interrupted with RuleTimeoutError after ``timeout_s`` seconds.

    The time is not limited when ``timeout_s`` is 0 or less, outside the main thread, on a system without SIGALRM, or
    when another alarm (an outer rule's, a test's own timeout) will ring earlier anyway. The previous handler and timer
    are restored. Code cannot escape by catching the exception: once the time is over, the outcome is RuleTimeoutError.
    """
    if timeout_s <= 0 or not _can_alarm():
        return call()
    alarm = _Alarm(rule_name, timeout_s)
    try:
        alarm.set()
        result = call()
    except RuleTimeoutError:
        raise
    except Exception as error:
        if alarm.has_rung:
            raise alarm.error() from error
        raise
    finally:
        try:
            alarm.clear()
        finally:
            # The alarm may have interrupted the line above. It does not ring again for at least a second.
            alarm.clear()
    if alarm.has_rung:
        raise alarm.error()
    return result


def _can_alarm() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


class _Alarm:
    """One use of SIGALRM; owned by one call in the main thread."""

    def __init__(self, rule_name: str, timeout_s: float) -> None:
        self._rule_name = rule_name
        self._timeout_s = timeout_s
        self._is_set = False
        self._found_handler: Any = None
        self._found_timer = (0.0, 0.0)
        self._start_s = 0.0
        self._waits = 0
        self._muted = ExitStack()
        self.has_rung = False

    def set(self) -> None:
        self._found_handler = signal.getsignal(signal.SIGALRM)
        self._found_timer = signal.getitimer(signal.ITIMER_REAL)
        # A handler of None was set outside Python and could not be restored.
        if self._found_handler is None or self._is_found_earlier():
            return
        self._start_s = monotonic()
        self._is_set = True
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self._timeout_s, self._repeat_s)

    @property
    def _repeat_s(self) -> float:
        return max(self._timeout_s, _REPEAT_MIN_S)

    def _is_found_earlier(self) -> bool:
        """Return whether an alarm that ends a call, not one that ticks, will ring before this one would."""
        due_s, interval_s = self._found_timer
        is_ending = interval_s == 0 or isinstance(getattr(self._found_handler, "__self__", None), _Alarm)
        return is_ending and 0 < due_s <= self._timeout_s

    def clear(self) -> None:
        """Restore the previous handler and timer, unless the rule has set an alarm of its own in the meantime."""
        self._muted.close()
        if not self._is_set:
            return
        if signal.getsignal(signal.SIGALRM) == self._ring:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, self._found_handler)
            self._restart_found_timer()
        self._is_set = False

    def _restart_found_timer(self) -> None:
        remaining_s, interval_s = self._found_timer
        if remaining_s > 0 or interval_s > 0:  # nothing remains of one that was due
            left_s = remaining_s - (monotonic() - self._start_s)
            signal.setitimer(signal.ITIMER_REAL, max(left_s, _AT_ONCE_S), interval_s)

    def _ring(self, _signum: int, frame: FrameType | None) -> None:
        self.has_rung = True
        if self._waits < (_LOST_WAITS_MAX if is_lost_in(frame) else _OWN_WAITS_MAX if is_own(frame) else 0):
            self._waits += 1
            signal.setitimer(signal.ITIMER_REAL, _WAIT_S, self._repeat_s)
            return
        self._muted.enter_context(without_complaints())
        raise self.error()

    def error(self) -> RuleTimeoutError:
        return timeout_error(self._rule_name, self._timeout_s)


#: Is told what a simulation decided, for which task or node, where, and as what it counts, such as "crash". The first
#: is empty where something strikes that was decided before, the last for details of something else.
Tell = Callable[[str, str, str, str], object]


class RuleLoop:
    """The event loop of one machine: made for its first coroutine rule, kept until its teardown.

    State bound to the loop therefore survives between rules. Not thread-safe. A copied machine gets a new loop, because
    a loop cannot be copied.
    """

    tell: Tell | None = None
    """Takes what is decided for the run, for people."""
    reach: WorldReach | None = None
    """Counts what struck in the runs of the machine's class."""
    interleaving: Interleaving | None = None
    """Notes in which order the tasks of a simulation go on, where somebody wants to know."""

    def __init__(self) -> None:
        self._runner: asyncio.Runner | None = None

    def open(self) -> asyncio.Runner:
        """Return the runner, creating it if needed: call this before a time limit that should not include it."""
        if self._runner is None:
            import asyncio  # noqa: PLC0415 - a class with coroutines has imported it, and others need not wait for it

            runner = asyncio.Runner()
            runner.get_loop()
            self._runner = runner
        return self._runner

    def run[Result](self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run ``coroutine``, and return its result or raise its error. A timeout closes the loop."""
        try:
            return self.open().run(coroutine)
        except RuleTimeoutError:
            self.close()
            raise
        finally:
            end_unstarted(coroutine)

    def close(self) -> None:
        """Cancel what still runs on the loop and close it; a later ``run`` makes a new one."""
        runner, self._runner = self._runner, None
        if runner is not None:
            runner.close()

    def end(self, machine: Any) -> None:
        """End the run of the machine that it belongs to."""
        del machine
        self.close()

    def __copy__(self) -> RuleLoop:
        return RuleLoop()

    def __deepcopy__(self, memo: dict[int, Any]) -> RuleLoop:
        return RuleLoop()


def end_unstarted(coroutine: Any) -> None:
    """Close a coroutine that nothing runs any more, if it has not begun: Python would complain that it never did."""
    if inspect.iscoroutine(coroutine) and inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED:
        coroutine.close()
