"""Ends a rule that runs for too long, and runs coroutine rules on an event loop of their machine."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ordeal._base.interrupts import Alarm, ends_call_within, without_complaints

if TYPE_CHECKING:
    import asyncio

    from ordeal._base.world_reach import WorldReach
    from ordeal._native import Interleaving

#: See ``ordeal.chaos``.
__tracebackhide__ = True


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

    The time is not limited when ``timeout_s`` is 0 or less, outside the main thread, or when the time of an outer call
    ends earlier anyway. Code cannot escape by catching the exception: once the time is over, the outcome is
    RuleTimeoutError.
    """
    if timeout_s <= 0 or ends_call_within(timeout_s):
        return call()
    rung = False
    muted = ExitStack()

    def error() -> RuleTimeoutError:
        muted.enter_context(without_complaints())
        return timeout_error(rule_name, timeout_s)

    def due() -> Callable[[], RuleTimeoutError]:
        nonlocal rung
        rung = True
        return error

    alarm = Alarm(due, ends_call=True)

    def clear() -> None:
        muted.close()
        alarm.clear()

    try:
        # The alarm rings again: code under test may have caught the first exception together with its own.
        alarm.set(timeout_s, max(timeout_s, 1.0))
        result = call()
    except RuleTimeoutError:
        raise
    except Exception as raised:
        if rung:
            raise timeout_error(rule_name, timeout_s) from raised
        raise
    finally:
        try:
            clear()
        finally:
            # The alarm may have interrupted the line above. It does not ring again for at least a second.
            clear()
    if rung:
        raise timeout_error(rule_name, timeout_s)
    return result


#: Receives what a simulation decided, for which task or node, where, and as what it counts, such as "crash". The first
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
