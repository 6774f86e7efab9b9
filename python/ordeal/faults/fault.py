"""Fault: a failure that can be switched on and off, and the two kinds from which users build their own."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import inspect
import threading
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self, SupportsIndex

from ordeal.errors import FaultError, OrdealError
from ordeal.faults import randomness
from ordeal.faults.function_kinds import async_generator_like, changed_items, generator_like, mark_like
from ordeal.faults.limits import CallLimits, make_limits
from ordeal.faults.patching import Patch, UnresolvedTargetError, Wrap, is_of_program, kept_elsewhere

# A warning points at the user's line that switched the fault on.
_PACKAGE_FOLDER = str(Path(__file__).parents[1])


@dataclass(slots=True)
class FaultUse:
    """What a fault has done: the ``runs`` in which it was on, the ``calls`` that met it then, and ``hits``.

    Hits are the calls that it diverted, or whose results it changed.
    """

    runs: int = 0
    calls: int = 0
    hits: int = 0


class Fault(ABC):
    """A failure to inject, known by its ``name``.

    A subclass implements ``_do_activate`` and ``_do_deactivate``. Thread-safe. All instances of a ChaosTest share the
    fault objects of their class, so copying a fault returns the same fault.
    """

    #: Whether the fault knows which calls it meets.
    counts_calls: ClassVar[bool] = False

    def __init__(self, name: str | None = None) -> None:
        """The default name is the class's. Raises FaultError when the name is not a text or is empty."""
        given: object = name
        if name == "" or not isinstance(given, (str, type(None))):
            raise FaultError(f"a fault got the name {name!r}", hint="write a text that is not empty")
        self.name = name if name is not None else type(self).__name__
        self._active = False
        self._made_by: tuple[Callable[..., Fault], tuple[Any, ...], dict[str, Any]] | None = None
        self._lock = threading.RLock()
        self._hits = 0
        self._hits_lock = threading.Lock()
        self._use = FaultUse()
        self._was_on = False
        self._listener: Callable[[str], object] | None = None

    @property
    def active(self) -> bool:
        """Whether the fault is on."""
        return self._active

    @property
    def observation_hits(self) -> int:
        """How many calls met the fault while it was on, since the last ``reset()``."""
        return self._hits

    def observe(self) -> int:
        """Count a call that met the fault; return its number, from 1."""
        with self._hits_lock:
            self._hits += 1
            self._use.calls += 1
            return self._hits

    def observe_change(self, call: str = "") -> None:
        """Count a call that the fault diverted, or whose result it changed.

        ``call`` names it, for programs and replays.
        """
        with self._hits_lock:
            self._use.hits += 1
        if call and self._listener is not None:
            self._listener(f"{self.name} hits {call}")

    def tell_hits(self, listener: Callable[[str], object]) -> None:
        """Call ``listener`` with each call that the fault names and changes, until ``reset()``."""
        self._listener = listener

    @property
    def observed(self) -> FaultUse:
        """Return what the fault has done in this process so far, regardless of resets."""
        return dataclasses.replace(self._use)

    def forget_observed(self) -> None:
        """Count the current run as one in which the fault was on only if it is on now, or will be."""
        self._was_on = self._active

    @property
    def runs_on(self) -> int:
        """In how many runs the fault was on in this process so far, the current one included."""
        return self._use.runs + self._was_on

    def check_targets(self) -> None:  # noqa: B027 - most kinds have nothing to check
        """Check that the fault can act, before anything runs. Raises FaultError when it cannot."""

    def activate(self) -> None:
        """Switch the fault on, unless it is on.

        Raises FaultError, with the fault off, when its effect cannot be put in place.
        """
        with self._lock:
            if not self._active:
                self._active = self._run("on", self._do_activate) is not False
                self._was_on = self._was_on or self._active

    def deactivate(self) -> None:
        """Switch the fault off, unless it is off.

        Raises FaultError when its effect cannot be taken back. The fault then still counts as off.
        """
        with self._lock:
            if self._active:
                self._active = False
                self._run("off", self._do_deactivate)

    def reset(self) -> None:
        """Return to the state of a new fault: off, nothing counted, and the default random source restarted."""
        try:
            self.deactivate()
        finally:
            self._hits = 0
            self._listener = None
            self._use.runs += self._was_on
            self._was_on = False
            randomness.reset_default()

    def enter_run(self) -> None:  # noqa: B027 - most kinds act only while they are on
        """Prepare at the start of a run what the fault needs to act later in it. A second call does nothing."""

    def leave_run(self) -> None:  # noqa: B027 - as above
        """Undo ``enter_run``, if it did anything; ``reset()`` does so too."""

    def resume(self, hits: int) -> None:
        """Restore ``observation_hits`` from an earlier point of a run, from which the run continues."""
        with self._hits_lock:
            self._hits = hits

    @property
    def is_unwound(self) -> bool:
        """Return whether nothing of the fault's effect is left in the program."""
        return not self._active

    @abstractmethod
    def _do_activate(self) -> bool | None:
        """Put the effect in place; return False when it has none and the fault must stay off."""

    @abstractmethod
    def _do_deactivate(self) -> None:
        """Take the effect back."""

    def _run(self, switch: str, action: Callable[[], bool | None]) -> bool | None:
        try:
            return action()
        except (OrdealError, Warning):
            # A warning is an error if the user configured it so, and explains itself.
            raise
        except Exception as error:
            raise FaultError(
                f"fault {self.name!r} could not be switched {switch}: {type(error).__name__}: {error}"
            ) from error

    def __enter__(self) -> Self:
        self.activate()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.deactivate()

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """Pickle it as the call that made it, or its attributes; in the other process it is off and new."""
        if self._made_by is None:
            return super().__reduce_ex__(protocol)
        return _make_again, (*self._made_by, self._limits_in_words())

    def __getstate__(self) -> dict[str, Any]:
        state = {"_active": False, "_hits": 0, "_lock": None, "_hits_lock": None, "_use": FaultUse(), "_was_on": False}
        return {**vars(self), **state, "_listener": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock(), _hits_lock=threading.Lock())

    def _limits_in_words(self) -> dict[str, Any]:
        """Return the arguments of ``limited`` that give the fault its limits."""
        return {}

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        return f"{self.name}({'ON' if self._active else 'OFF'})"


class MultiPatchFault(Fault):
    """A fault that wraps several targets at once; all of them or none.

    ``patches`` holds pairs of a dotted path and a function from the original to its replacement. That function is
    called again whenever another fault on the same target is switched, so lasting state belongs outside it. Its
    replacements call ``strike()`` in each call that the fault is meant for.
    """

    counts_calls = True

    def __init__(self, name: str, patches: Iterable[tuple[str, Wrap]]) -> None:
        """Raises FaultError when a target is not a dotted path."""
        super().__init__(name)
        self._unlimited_name = name
        self._limits = CallLimits()
        self._wraps = list(patches)
        self._patches = [Patch(name, target, wrap) for target, wrap in self._wraps]
        self._is_warned = False
        self._has_told = False

    def limited(self, *, probability: float | None = None, calls: tuple[int, int | None] | None = None) -> Self:
        """Act on some calls only, and say so in the name; returns this fault, so that it can follow a factory.

        ``calls`` is the first and the last call to act on (None: no end), of those that meet the fault while it is on,
        counted from 1 since ``reset()``. On each of these it acts with ``probability``, decided by the tape of the run.
        Other calls pass as if the fault were off, but are counted.

        Raises FaultError when the fault is on, or when the limits are invalid.
        """
        limits = make_limits(self._unlimited_name, probability, calls)
        with self._lock:
            if self._active:
                raise FaultError(f"fault {self.name!r} is on", hint="set its limits before it is switched on")
            self._limits = limits
            self.name = f"{self._unlimited_name}{limits}"
            self._patches = [Patch(self.name, target, wrap) for target, wrap in self._wraps]
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_patches": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._patches = [Patch(self.name, target, wrap) for target, wrap in self._wraps]

    def _limits_in_words(self) -> dict[str, Any]:
        limits = self._limits
        return {"probability": limits.probability, "calls": (limits.first, limits.last)}

    def strike(self) -> int:
        """Count a call that the fault is meant for; return its number, from 1, or 0 when the limits let it pass."""
        number = self._meet()
        if number:
            self.observe_change()
        return number

    def _meet(self) -> int:
        """Do the same when only ``observe_change()`` will later report whether the fault changes something."""
        number = self.observe()
        return number if self._limits.admits(self.name, number) else 0

    @property
    def is_unwound(self) -> bool:
        """Return whether the fault is off and no target carries its wrapper."""
        return super().is_unwound and not any(patch.is_applied for patch in self._patches)

    def check_targets(self) -> None:
        """Check that the targets exist, before anything runs.

        A target that an object of the program lacks now may come to exist in a run, and is no mistake yet.

        Raises:
            FaultError: one does not exist; the hint suggests a similar name.
        """
        for patch in self._patches:
            try:
                patch.check()
            except UnresolvedTargetError as error:
                if error.lasts:
                    raise self._unresolved(error) from None

    def _unresolved(self, error: UnresolvedTargetError) -> FaultError:
        hint = "write the module and the attribute as they are imported, for example `shop.api.charge`"
        if error.meant:
            hint = f"did you mean `{error.meant}`?"
        return FaultError(f"fault {self.name!r} cannot resolve target {error}", hint=hint)

    def _do_activate(self) -> bool:
        self._warn_once()
        try:
            for patch in self._patches:
                patch.apply()
        except UnresolvedTargetError as error:
            self._undo_all()
            if error.lasts:
                raise self._unresolved(error) from None
            if not self._is_warned:
                self._is_warned = True
                _warn(f"Skipping fault {self.name!r}: cannot resolve target {error}")
            return False
        except BaseException:
            self._undo_all()
            raise
        return True

    def _do_deactivate(self) -> None:
        self._undo_all()

    def _undo_all(self) -> None:
        errors: list[FaultError] = []
        for patch in reversed(self._patches):
            try:
                patch.undo()
            except FaultError as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def _warn_once(self) -> None:
        """Warn of what a fault cannot reach; finding it takes too long to do at every switch."""
        if self._has_told:
            return
        try:
            kept = {target: kept_elsewhere(target) for target, _ in self._wraps if is_of_program(target)}
        except FaultError:
            # What cannot be resolved now may be resolvable later.
            return
        self._has_told = True
        for target, places in kept.items():
            if places:
                _warn(f"Fault {self.name!r} does not act where `{target}` is kept elsewhere: {', '.join(places)}")


class PatchFault(MultiPatchFault):
    """Replaces what ``target`` names by ``wrapper_fn(original)`` while it is on.

    ``target`` is a dotted path to a function, a method of any kind, a property or another attribute. It is looked up
    when the fault is first switched on. If it does not exist, a UserWarning says so once and the fault stays off.

    A function of a module is replaced under every name that an imported module has for it, so code that did ``from
    shop.api import charge`` meets the fault too; ``bound_elsewhere`` lists these names and says what is left out.
    References kept elsewhere are not reached: in containers, default arguments, closures, attributes of objects.

    ``wrapper_fn`` may be called again whenever another fault on the same target is switched, so state such as a counter
    belongs outside it.
    """

    def __init__(self, target: str, wrapper_fn: Wrap, name: str | None = None) -> None:
        """The default name is ``patch(target)``.

        Raises FaultError, a ValueError, when the target is no dotted path or ``wrapper_fn`` is not a function.
        """
        self.target = target
        super().__init__(f"patch({target})" if name is None else name, [(target, self._counting)])
        _check_function(self.name, "wrapper_fn", wrapper_fn)
        self._wrapper_fn = wrapper_fn

    def _counting(self, original: Any) -> Any:
        """Return ``wrapper_fn(original)``, with every call of it counted as a hit."""
        replacement = self._wrapper_fn(original)
        if not inspect.isfunction(replacement):
            if self._limits != CallLimits():
                raise FaultError(
                    f"fault {self.name!r} limits calls, and puts {replacement!r} in place of `{self.target}`",
                    hint="return a function from wrapper_fn, or leave the fault without limits",
                )
            return replacement

        @functools.wraps(replacement)
        def counted(*args: Any, **kwargs: Any) -> Any:
            return (replacement if self.strike() else original)(*args, **kwargs)

        return mark_like(replacement, counted)


class CallFault(MultiPatchFault):
    """A fault on the calls of ``target``, which keeps its kind: a plain, coroutine or generator function.

    Each call runs ``before(number)``, with the number of the call since ``reset()`` from 1, which may raise; then waits
    ``pause_s`` seconds; then makes the original call, or takes the result of ``answer()`` instead; and returns
    ``after(result)``. A call of a generator function begins when its first item is requested, and ``after`` changes
    each of its items; an ``answer()`` of None means no items. If ``after`` returns its argument, it has changed
    nothing.
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
        """Raises FaultError when the target is not a dotted path; that it is not a function is found out later."""
        super().__init__(name, [(target, self._around)])
        self.target = target
        self._before = before
        self._pause_s = pause_s
        self._answer = answer
        self._after = after

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
            return self._around_coroutine(original)
        if inspect.isasyncgenfunction(original):
            return self._around_async_generator(original)
        return self._around_call(original)

    def _around_call(self, original: Any) -> Any:
        def faulty(*args: Any, **kwargs: Any) -> Any:
            number = self._meet()
            call = functools.partial(original, *args, **kwargs)
            return self._struck(number, call) if number else call()

        is_generator = inspect.isgeneratorfunction(original)
        return generator_like(original, faulty) if is_generator else functools.wraps(original)(faulty)

    def _around_coroutine(self, original: Any) -> Any:
        @functools.wraps(original)
        async def faulty(*args: Any, **kwargs: Any) -> Any:
            number = self._meet()
            call = functools.partial(original, *args, **kwargs)
            return await (self._struck_coroutine(number, call) if number else call())

        return faulty

    def _around_async_generator(self, original: Any) -> Any:
        async def faulty(*args: Any, **kwargs: Any) -> Any:
            async def call() -> Any:
                return original(*args, **kwargs)

            number = self._meet()
            return await (self._struck_coroutine(number, call) if number else call())

        return async_generator_like(original, faulty)

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
        return result if self._after is None else changed_items(result, self._after_one)

    def _after_one(self, result: Any) -> Any:
        """Return the changed result, or item of a generator. Returning the same object means no change."""
        assert self._after is not None
        made = self._after(result)
        if made is not result:
            self.observe_change()
        return made


class LambdaFault(Fault):
    """A fault made from two functions, called when it is switched on and off.

    When one of them raises, FaultError names the fault and the fault is off.
    """

    def __init__(self, name: str, on_activate: Callable[[], object], on_deactivate: Callable[[], object]) -> None:
        """Raises FaultError when one of them is not a function."""
        super().__init__(name)
        _check_function(name, "on_activate", on_activate)
        _check_function(name, "on_deactivate", on_deactivate)
        self._on_activate = on_activate
        self._on_deactivate = on_deactivate

    def _do_activate(self) -> None:
        self._on_activate()

    def _do_deactivate(self) -> None:
        self._on_deactivate()


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=2, skip_file_prefixes=(_PACKAGE_FOLDER,))


def _check_function(fault_name: str, argument: str, function: object) -> None:
    if not callable(function):
        raise FaultError(f"fault {fault_name!r} got the {argument} {function!r}", hint="write a function")


def made_again[**P, F: Fault](factory: Callable[P, F]) -> Callable[P, F]:
    """Let the faults that ``factory`` makes remember how, so that they can be sent to other processes."""

    @functools.wraps(factory)
    def make(*args: P.args, **kwargs: P.kwargs) -> F:
        fault = factory(*args, **kwargs)
        fault._made_by = (make, args, dict(kwargs))
        return fault

    return make


def _make_again(
    make: Callable[..., Fault], args: tuple[Any, ...], kwargs: dict[str, Any], limits: dict[str, Any]
) -> Fault:
    fault = make(*args, **kwargs)
    return fault.limited(**limits) if isinstance(fault, MultiPatchFault) else fault


def release(faults: Sequence[Fault]) -> None:
    """Reset all faults, the last one first, and check that nothing of them is left.

    Raises FaultError for the first that cannot be taken back, after all the others have been.
    """
    if not faults:
        return  # most machines have none, and each run calls this twice
    errors: list[FaultError] = []
    for fault in reversed(faults):
        try:
            fault.reset()
        except FaultError as error:
            errors.append(error)
        else:
            if not fault.is_unwound:
                errors.append(_leak(fault))
    if errors:
        raise errors[0]


def begin_run(faults: Sequence[Fault]) -> None:
    """Release all faults, and let them prepare for a run.

    Raises FaultError for the first one that cannot.
    """
    release(faults)
    for fault in faults:
        fault.enter_run()


def _leak(fault: Fault) -> FaultError:
    return FaultError(
        f"fault {fault.name!r} is still in effect after reset()",
        hint=f"reset() and _do_deactivate() of {type(fault).__name__} must call those of the class they override",
    )
