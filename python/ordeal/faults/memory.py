"""Faults of memory: an allocation of Python fails, as it does when no memory is left.

``target`` is the dotted path of the function in whose calls it fails. Allocations of ordeal and Hypothesis never fail.
"""

from __future__ import annotations

import functools
import gc
import inspect
from collections.abc import Callable
from mmap import mmap
from types import CodeType
from typing import Any, Literal, override

import msgspec

import ordeal._native as _native
from ordeal._base.formatting import describe_error, one_line
from ordeal._base.imports import machinery_places
from ordeal._base.live_threads import has_gil
from ordeal._engine.isolation.child import Limits, call_in_fork, can_supervise
from ordeal.errors import FaultError
from ordeal.faults.arguments import check_count
from ordeal.faults.call_faults import CallFault
from ordeal.faults.fault import made_again
from ordeal.faults.randomness import fault_bytes, fault_chance

__all__ = ["fail_nth"]

#: Where chance decides which allocation fails, the number is below this, and mostly small.
_NUMBER_MAX = 2**14
#: How many allocations fail in one process: their leftovers must not add up, but each fork takes milliseconds.
_PER_PROCESS = 100


@made_again
def fail_nth(target: str, n: int | None = None) -> CallFault:
    """Make the ``n``-th allocation in each call of ``target`` raise MemoryError.

    Without ``n``, the tape of the run decides which. A call with fewer allocations is not hit. Raises FaultError for an
    ``n`` below 1, and in a Python without the GIL.
    """
    if n is not None:
        check_count("fail_nth", "n", n, 1)
    if not has_gil():
        raise FaultError(
            "fail_nth() needs the GIL, and this Python has none", hint="use a build of Python with the GIL"
        )
    return _AllocationFault(target, n)


class _AllocationFault(CallFault):
    """Counts the allocations of calls, and makes one fail."""

    def __init__(self, target: str, n: int | None) -> None:
        super().__init__(target, f"fail_nth({target}{'' if n is None else f', {n}'})")
        self._n = n

    @override
    def _around(self, original: Any) -> Any:
        super()._around(original)  # refuses what is no function
        if inspect.iscoroutinefunction(original):
            raise FaultError(
                f"fault {self.name!r} acts on plain functions, and `{self.target}` is `async def`",
                hint="aim at a function that it calls",
            )

        @functools.wraps(original)
        def faulty(*args: Any, **kwargs: Any) -> Any:
            number = self._meet()
            if not number:
                return original(*args, **kwargs)
            nth = self._n or _drawn(f"{self.name} #{number}")
            try:
                _start(nth)
            except _native.CoreError:  # a call within a call, which is part of that
                return original(*args, **kwargs)
            try:
                return original(*args, **kwargs)
            finally:
                struck = _native.stop_allocations()[1]
                if struck is not None:
                    self.observe_change(f"allocation {nth}, at {_place(*struck)}")

        return faulty


def _start(nth: int) -> None:
    # Objects from a free list, kept from earlier ones of their type, would shift the numbers.
    gc.collect()
    _native.start_allocations(machinery_places(), nth)


def _drawn(occasion: str) -> int:
    size = 1
    while size < _NUMBER_MAX and fault_chance(0.8, occasion=f"{occasion}, {size}"):
        size *= 2
    return size + int.from_bytes(fault_bytes(2, occasion=occasion)) % size


def _place(code: CodeType, line: int) -> str:
    return one_line(f"{code.co_filename}:{line}")


type _Kind = Literal["raised", "another", "same", "differs", "broken", "ended"]


class AllocationOutcome(msgspec.Struct, frozen=True, array_like=True):
    """What a call did when its allocation ``number`` failed, at ``place``.

    Attributes:
        outcome: it ``raised`` MemoryError, raised ``another`` error, returned the ``same`` as ever or something that
            ``differs``. With ``broken``, the next call fails or returns something else, though no allocation of it
            fails. With ``ended``, it ended its process, or hung; the place is not known.
        error: what was raised, or how the process ended.
    """

    number: int
    place: str
    outcome: _Kind
    error: str = ""


def fail_each(call: Callable[[], object], *, seconds: float = 30.0) -> list[AllocationOutcome]:
    """Run ``call()`` once for each of its allocations, with that one failing, in separate processes.

    CPython itself does not survive each failure: what ends the process, or breaks later calls, need not be a bug of the
    program.

    Args:
        call: the function to test, without arguments. It must do the same each time.
        seconds: the time limit of one process, for all its calls.

    Raises:
        FaultError: this system or Python cannot do it, or ``call()`` raises although no allocation fails.
    """
    if not can_supervise() or not has_gil():
        raise FaultError("fail_each() needs Linux and the GIL", hint="use Linux, and a build of Python with the GIL")
    reached = mmap(-1, 8)
    without = call_in_fork(functools.partial(_outcomes, call, reached, 1, 0), seconds, Limits())
    if without.problem:
        raise FaultError(f"the call {without.problem} although no allocation fails", hint="make it work first")
    found: list[AllocationOutcome] = []
    many, is_over = _PER_PROCESS, False
    while not is_over:
        first = len(found) + 1
        reached[:] = first.to_bytes(8)
        called = call_in_fork(functools.partial(_outcomes, call, reached, first, many), seconds, Limits())
        if isinstance(called.answer, bytes):
            outcomes, is_over = msgspec.json.decode(called.answer, type=tuple[list[AllocationOutcome], bool])
            found += outcomes
            many = _PER_PROCESS
        elif many := int.from_bytes(reached[:]) - first:
            pass  # what came before the end is asked again
        else:
            found.append(AllocationOutcome(first, "", "ended", called.problem))
            many = _PER_PROCESS
    return found


def _outcomes(call: Callable[[], object], reached: mmap, first: int, many: int) -> bytes:
    """Return as JSON the outcomes for the allocations from ``first`` on, and whether these were the last."""
    expected = call()
    gc.freeze()  # then the collector looks only through what the calls make
    found: list[AllocationOutcome] = []
    for number in range(first, first + many):
        reached[:] = number.to_bytes(8)
        _start(number)
        answer, raised = _done(call)
        struck = _native.stop_allocations()[1]
        if struck is None:
            return msgspec.json.encode((found, True))
        kind: _Kind = "same" if raised is None else "raised" if isinstance(raised, MemoryError) else "another"
        if raised is None and answer != expected:
            kind = "differs"
        again, broken = _done(call)
        if broken is not None or again != expected:
            kind, raised = "broken", broken
        found.append(AllocationOutcome(number, _place(*struck), kind, "" if raised is None else describe_error(raised)))
        if kind == "broken":
            break
    return msgspec.json.encode((found, False))


def _done(call: Callable[[], object]) -> tuple[object, BaseException | None]:
    try:
        return call(), None
    except BaseException as error:  # noqa: BLE001 - the program may do anything
        return None, error
