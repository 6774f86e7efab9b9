"""Faults of time and of luck: calls that time out, drag, crash now and then, or give unsteady numbers.

``target`` is the dotted path of the function whose calls are hit. Times are in seconds.
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

from ordeal.faults.arguments import check_error, check_every_n, check_number, check_seconds, real_seconds
from ordeal.faults.call_faults import CallFault
from ordeal.faults.fault import made_again

__all__ = ["intermittent_crash", "jitter", "slow", "timeout"]


@made_again
def timeout(target: str, delay: float = 30.0, error: type[Exception] = TimeoutError) -> CallFault:
    """Make calls of ``target`` raise ``error`` at once, as if ``delay`` seconds had passed. Nothing sleeps.

    Raises FaultError for a negative delay, or when ``error`` is not a class of exceptions that are made from a text.
    """
    check_seconds("timeout", "delay", delay)
    check_error("timeout", error)

    def time_out(_number: int) -> None:
        raise error(f"Simulated timeout after {delay}s in {target}")

    return CallFault(target, f"timeout({target}, {delay}s)", before=time_out)


@made_again
def slow(target: str, delay: float = 1.0, mode: str = "simulate") -> CallFault:
    """Slow calls of ``target`` down by ``delay`` seconds.

    ``mode="simulate"`` only counts the calls; ``mode="real"`` sleeps before each (on the event loop for a coroutine
    function). Raises FaultError for another mode or a negative delay.
    """
    pause_s = real_seconds("slow", "delay", delay, mode)
    return CallFault(target, f"slow({target}, {delay}s, {mode})", pause_s=pause_s)


@made_again
def intermittent_crash(target: str, every_n: int = 3, error: type[Exception] = RuntimeError) -> CallFault:
    """Make every ``every_n``-th call of ``target`` raise ``error``; ``reset()`` starts the count again.

    Raises FaultError when ``every_n`` is below 1, or ``error`` is not a class of exceptions that are made from a text.
    """
    check_every_n("intermittent_crash", every_n)
    check_error("intermittent_crash", error)

    def crash(number: int) -> None:
        if number % every_n == 0:
            raise error(f"Simulated crash in {target} (call #{number})")

    return CallFault(target, f"intermittent_crash({target}, every {every_n})", before=crash)


@made_again
def jitter(target: str, magnitude: float = 0.01) -> CallFault:
    """Move a numeric result by ``magnitude`` times its size, up and down in turn (by ``magnitude`` itself at 0).

    Booleans and results that are not real numbers are left alone. Raises FaultError when ``magnitude`` is not a number.
    """
    check_number("jitter", "magnitude", magnitude)
    fault: CallFault

    def shift(result: Any) -> Any:
        if isinstance(result, bool) or not isinstance(result, (Real, Decimal)):
            return result
        share: Any = Decimal(str(magnitude)) if isinstance(result, Decimal) else magnitude
        distance = share * abs(result or 1)
        return result + distance if fault.observation_hits % 2 == 1 else result - distance

    fault = CallFault(target, f"jitter({target}, {magnitude})", after=shift)
    return fault
