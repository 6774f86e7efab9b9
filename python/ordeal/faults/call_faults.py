"""The faults on calls: the two kinds from which users and the families build their own."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any

import ordeal._native as _native
from ordeal.errors import FaultError
from ordeal.faults.attributes import Wrap, direct, keeps_nothing, mark_like
from ordeal.faults.fault import CallLimits, MultiPatchFault, check_function


class PatchFault(MultiPatchFault):
    """Replaces what ``target`` names by ``wrapper_fn(original)`` while it is on.

    ``target`` is a dotted path to a function, a method of any kind, a property or another attribute. It is looked up
    when the fault is first switched on. If it does not exist, a UserWarning says so once and the fault stays off.

    A function of a module is replaced under every name that an imported module has for it, so code that did ``from
    shop.api import charge`` meets the fault too. Left out are the standard library, unless the target is in the same
    package of it, and test runners. A target in another package than the one that defines the function
    (``shop.orders.sleep``) means only that name. References kept elsewhere are not reached: in containers, default
    arguments, closures, attributes of objects.

    ``wrapper_fn`` is called once in a run, and may be called again whenever another fault on the same target is
    switched, so state such as a counter belongs outside it. If what it returns can hold no state, it is called once.
    """

    def __init__(self, target: str, wrapper_fn: Wrap, name: str | None = None) -> None:
        """The default name is ``patch(target)``.

        Raises FaultError, a ValueError, when the target is not a dotted path or ``wrapper_fn`` is not a function.
        """
        self.target = target
        super().__init__(f"patch({target})" if name is None else name, [(target, self._counting)])
        check_function(self.name, "wrapper_fn", wrapper_fn)
        self._wrapper_fn = wrapper_fn
        self._keeps_nothing = True

    @property
    def _lasts(self) -> bool:
        return self._keeps_nothing

    def _counting(self, original: Any) -> Any:
        """Return ``wrapper_fn(original)``, with every call of it counted as a hit."""
        replacement = self._wrapper_fn(original)
        self._keeps_nothing = self._keeps_nothing and keeps_nothing(replacement, original)
        if not inspect.isfunction(replacement):
            if self._limits != CallLimits():
                raise FaultError(
                    f"fault {self.name!r} limits calls, and puts {replacement!r} in place of `{self.target}`",
                    hint="return a function from wrapper_fn, or leave the fault without limits",
                )
            return replacement
        if not self._counts_itself:
            counted = direct(
                _native.struck_call(self._fault_switch, original, replacement=replacement, admits=self._admits())
            )
            return mark_like(replacement, functools.update_wrapper(counted, replacement))

        @functools.wraps(replacement)
        def struck(*args: Any, **kwargs: Any) -> Any:
            return (replacement if self.strike() else original)(*args, **kwargs)

        return mark_like(replacement, struck)


class CallFault(MultiPatchFault):
    """A fault called ``name`` on the calls of ``target``, which stays a coroutine function if it is one.

    Each call runs ``before(number)``, with the number of the call since ``reset()`` from 1, which may raise; then waits
    ``pause_s`` seconds; then makes the original call, or takes the result of ``answer()`` instead; and returns
    ``after(result)``. If ``after`` returns its argument, it has changed nothing. A generator function is struck when it
    is called.
    """

    def __init__(
        self,
        target: str,
        name: str,
        *,
        before: Callable[[int], None] | None = None,
        pause_s: float = 0.0,
        answer: Callable[[], Any] | None = None,
        after: Callable[[Any], Any] | None = None,
    ) -> None:
        """Raise FaultError if the target is not a dotted path; whether it is a function is checked later."""
        super().__init__(name, [(target, self._around)])
        self.target = target
        self._before = before
        self._pause_s = pause_s
        self._answer = answer
        self._after = after

    @property
    def _lasts(self) -> bool:
        return True

    def _around(self, original: Any) -> Any:
        if isinstance(original, type):
            # A function in its place would break isinstance() and subclassing in the program under test.
            raise FaultError(
                f"fault {self.name!r} acts on functions, and `{self.target}` is a class",
                hint=f'aim at what makes its objects fail, "{self.target}.__init__" or a method',
            )
        if not callable(original):
            raise FaultError(f"fault {self.name!r} acts on functions, and `{self.target}` is {original!r}")
        if inspect.iscoroutinefunction(original):

            @functools.wraps(original)
            async def faulty_coroutine(*args: Any, **kwargs: Any) -> Any:
                number = self._meet()
                call = functools.partial(original, *args, **kwargs)
                return await (self._struck_coroutine(number, call) if number else call())

            return faulty_coroutine
        if not (self._counts_itself or self._pause_s > 0):
            struck_call = _native.struck_call(  # does in C++ what `_struck` and `_meet` do
                self._fault_switch,
                original,
                admits=self._admits(),
                before=self._before,
                answer=self._answer,
                after=self._after,
            )
            return functools.update_wrapper(direct(struck_call), original)

        @functools.wraps(original)
        def faulty(*args: Any, **kwargs: Any) -> Any:
            number = self._meet()
            call = functools.partial(original, *args, **kwargs)
            return self._struck(number, call) if number else call()

        return faulty

    def _struck(self, number: int, call: Callable[[], Any]) -> Any:
        """Return the result of ``call``, the call with this number, under the fault."""
        self._begin(number)
        if self._pause_s > 0:
            time.sleep(self._pause_s)
        return self._end(call() if self._answer is None else self._answer())

    async def _struck_coroutine(self, number: int, call: Callable[[], Awaitable[Any]]) -> Any:
        """Do the same for a coroutine function."""
        self._begin(number)
        if self._pause_s > 0:
            import asyncio  # noqa: PLC0415 - who awaits this has imported it

            await asyncio.sleep(self._pause_s)
        return self._end(await call() if self._answer is None else self._answer())

    def _begin(self, number: int) -> None:
        if self._pause_s > 0 or self._answer is not None:
            self.observe_change()
        if self._before is not None:
            try:
                self._before(number)
            except BaseException:
                self.observe_change()
                raise

    def _end(self, result: Any) -> Any:
        """Return the changed result. Returning the same object means no change."""
        made = result if self._after is None else self._after(result)
        if made is not result:
            self.observe_change()
        return made
