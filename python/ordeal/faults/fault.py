"""Fault: a failure that can be switched on and off, and the kinds that patch targets or call two functions."""

from __future__ import annotations

import functools
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self, SupportsIndex

import msgspec

import ordeal._native as _native
from ordeal.errors import FaultError, OrdealError
from ordeal.faults import randomness
from ordeal.faults.arguments import is_number, is_whole
from ordeal.faults.attributes import Wrap
from ordeal.faults.patching import Patch, UnresolvedTargetError
from ordeal.faults.randomness import fault_chance


class CallLimits(msgspec.Struct, frozen=True):
    """Calls are counted from 1, from ``first`` to ``last`` (None: no end); each is met with ``probability``."""

    probability: float | None = None
    first: int = 1
    last: int | None = None

    def admits(self, fault_name: str, number: int) -> bool:
        """Return True if the fault acts on call ``number``. Draws only when that decides."""
        if number < self.first or (self.last is not None and number > self.last):
            return False
        return self.probability is None or fault_chance(self.probability, occasion=f"{fault_name} #{number}")

    def __str__(self) -> str:
        """Format it as in the name of a fault; empty without limits."""
        parts = [] if self.probability is None else [f"p={self.probability}"]
        if self.first > 1 or self.last is not None:
            parts.append(f"calls {self.first}..{'' if self.last is None else self.last}")
        return f"[{', '.join(parts)}]" if parts else ""


# A warning points at the user's line that switched the fault on.
_PACKAGE_FOLDER = str(Path(__file__).parents[1])


class FaultCounts(msgspec.Struct):
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
        self._made_by: tuple[Callable[..., Fault], tuple[Any, ...], dict[str, Any]] | None = None
        self._lock = threading.RLock()
        self._fault_switch = _native.FaultSwitch()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Note whether the class switches, counts and resets in its own way."""
        super().__init_subclass__(**kwargs)
        cls._switches_itself = _has_own(cls, *_SWITCHES)
        cls._counts_itself = _has_own(cls, *_COUNTS)
        cls._resets_itself = _has_own(cls, "reset", "deactivate", "is_unwound")

    #: Whether code of the class, and not of ordeal, decides what happens then.
    _switches_itself: ClassVar[bool] = True
    _counts_itself: ClassVar[bool] = False
    _resets_itself: ClassVar[bool] = True

    @property
    def active(self) -> bool:
        """Whether the fault is on."""
        return self._fault_switch.on

    @property
    def observation_hits(self) -> int:
        """How many calls met the fault while it was on, since the last ``reset()``."""
        return self._fault_switch.hits

    def observe(self) -> int:
        """Count a call that met the fault; return its number, from 1."""
        return self._fault_switch.meet()

    def observe_change(self, call: str = "") -> None:
        """Count a call that the fault diverted, or whose result it changed.

        ``call`` names it, for programs and replays.
        """
        self._fault_switch.count_change()
        if call and self._fault_switch.listener is not None:
            self._fault_switch.listener(f"{self.name} hits {call}")

    def tell_hits(self, listener: Callable[[str], object]) -> None:
        """Call ``listener`` with each call that the fault names and changes, until ``reset()``."""
        self._fault_switch.listener = listener

    @property
    def observed(self) -> FaultCounts:
        """Return what the fault has done in this process so far, regardless of resets."""
        return FaultCounts(*self._fault_switch.uses)

    def pause_observed(self) -> None:
        """Let ``observed`` stay as it is until ``resume_observed()``."""
        self._fault_switch.pause()

    def resume_observed(self) -> None:
        """Resume counting: the current run counts as one with the fault if it is on now, or will be."""
        self._fault_switch.resume()

    @property
    def runs_on(self) -> int:
        """In how many runs the fault was on in this process so far, the current one included."""
        return self._fault_switch.runs_on

    @property
    def remarks(self) -> Sequence[str]:
        """Sentences on what the fault has been found not to reach in the program, when it was first switched on."""
        return ()

    def check_targets(self) -> None:  # noqa: B027 - most kinds have nothing to check
        """Check that the fault can act, before anything runs. Raises FaultError when it cannot."""

    def activate(self) -> None:
        """Switch the fault on, unless it is on.

        Raises FaultError, with the fault off, when its effect cannot be put in place.
        """
        with self._lock:
            if not self._fault_switch.on and not self._put_on_as_planned():
                self._fault_switch.set_on(self._run("on", self._do_activate) is not False)

    def deactivate(self) -> None:
        """Switch the fault off, unless it is off.

        Raises FaultError when its effect cannot be undone. The fault then still counts as off.
        """
        with self._lock:
            if self._fault_switch.on and not self._fault_switch.take_off():
                self._before_switching_off()
                self._fault_switch.set_on(False)
                self._run("off", self._do_deactivate)

    def _put_on_as_planned(self) -> bool:
        """Switch the fault on by its plan, without ``_do_activate``, if it has one; return whether it is on."""
        return False

    def _before_switching_off(self) -> None:  # noqa: B027 - most kinds have no other way
        """Take over what a plan switched on without ``_do_activate``."""

    def reset(self) -> None:
        """Return to the state of a new fault: off, nothing counted, and the default random source restarted."""
        try:
            self.deactivate()
        finally:
            self._fault_switch.reset(lasts=self._lasts)
            randomness.reset_default()

    @property
    def _lasts(self) -> bool:
        """Whether what the fault puts in place has no state that a run might leave in it."""
        return True

    def enter_run(self) -> None:  # noqa: B027 - most kinds act only while they are on
        """Prepare at the start of a run what the fault needs to act later in it. A second call does nothing."""

    def leave_run(self) -> None:  # noqa: B027 - as above
        """Undo ``enter_run``, if it did anything; ``reset()`` does so too."""

    def resume(self, hits: int) -> None:
        """Set ``observation_hits`` to ``hits``, as they were at the point from which the run continues."""
        self._fault_switch.hits = hits

    @property
    def is_unwound(self) -> bool:
        """Return True if nothing of the fault's effect is left in the program."""
        return not self._fault_switch.on

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
        if not self._lasts:
            self._fault_switch.forget()

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """Pickle the fault as the call that made it, or its attributes; the copy is off and new."""
        if self._made_by is None:
            return super().__reduce_ex__(protocol)
        return _make_again, (*self._made_by, self._limits_in_words())

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_lock": None, "_fault_switch": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock(), _fault_switch=_native.FaultSwitch())

    def _limits_in_words(self) -> dict[str, Any]:
        """Return the arguments of ``limited`` that give the fault its limits."""
        return {}

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        return f"{self.name}({'ON' if self._fault_switch.on else 'OFF'})"


#: The modules whose methods the switch stands for.
_OWN = (__name__, "ordeal.faults.call_faults")
#: The methods by which a fault is switched, and those by which calls are counted.
_SWITCHES = ("activate", "deactivate", "_do_activate", "_do_deactivate")
_COUNTS = ("observe", "observe_change", "strike", "_meet", "_struck", "_struck_coroutine", "_begin", "_end")


def _has_own(cls: type[Fault], *methods: str) -> bool:
    """Return True if ``cls`` or a base of it outside this module defines one of ``methods``."""
    definers = (next((base for base in cls.__mro__ if method in vars(base)), Fault) for method in methods)
    return any(definer.__module__ not in _OWN for definer in definers)


class MultiPatchFault(Fault):
    """A fault called ``name`` that wraps several targets at once; all of them or none.

    ``patches`` holds pairs of a dotted path and a function from the original to its replacement. That function is
    called again whenever another fault on the same target is switched, so lasting state belongs outside it. Its
    replacements call ``strike()`` in each call that the fault is meant for.
    """

    counts_calls = True

    def __init__(self, name: str, patches: Iterable[tuple[str, Wrap]]) -> None:
        """Raise FaultError if a target is not a dotted path."""
        super().__init__(name)
        self._unlimited_name = name
        self._limits = CallLimits()
        self._wraps = list(patches)
        self._patches = [Patch(name, target, wrap) for target, wrap in self._wraps]
        self._remarks: list[str] = []

    @property
    def remarks(self) -> Sequence[str]:
        """Sentences on what the fault has been found not to reach in the program, when it was first switched on."""
        return tuple(self._remarks)

    def limited(self, *, probability: float | None = None, calls: tuple[int, int | None] | None = None) -> Self:
        """Let the fault act on some calls only, which its name shows; return the fault itself.

        ``calls`` is the first and the last call to act on (None: no end), of those that meet the fault while it is on,
        counted from 1 since ``reset()``. On each of these it acts with ``probability``, decided by the tape of the run.
        Other calls pass as if the fault were off, but are counted.

        Raises FaultError when the fault is on, or when the limits are invalid.
        """
        name: str = self._unlimited_name
        given: Any = (1, None) if calls is None else calls
        if probability is not None and not (is_number(probability) and 0 <= probability <= 1):
            raise FaultError(f"fault {name!r} got the probability {probability!r}", hint="write a number from 0 to 1")
        first, last = given if isinstance(given, tuple) and len(given) == 2 else (0, None)
        if not (is_whole(first) and first >= 1 and (last is None or (is_whole(last) and last >= first))):
            hint = "write the first and the last call it acts on, such as calls=(1, 3), or calls=(4, None) for no end"
            raise FaultError(f"fault {name!r} got the calls {calls!r}", hint=hint)
        limits = CallLimits(probability, first, last)
        with self._lock:
            if self._fault_switch.on:
                raise FaultError(f"fault {self.name!r} is on", hint="set its limits before it is switched on")
            self._limits = limits
            self.name = f"{name}{limits}"
            self._fault_switch.drop_plan()
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

    def _admits(self) -> Callable[[int], bool] | None:
        """Return a function that says by the number of a call if the fault acts on it; None for all calls."""
        return None if self._limits == CallLimits() else functools.partial(self._limits.admits, self.name)

    @property
    def is_unwound(self) -> bool:
        """Return True if the fault is off and no target carries its wrapper."""
        return super().is_unwound and not any(patch.is_applied for patch in self._patches)

    def check_targets(self) -> None:
        """Check that the targets exist, before anything runs.

        A target that an object of the program lacks now may come to exist in a run, and is not a mistake yet.

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
        try:
            for patch in self._patches:
                patch.apply()
            # The next switch goes by a plan of this one.
            self._fault_switch.drop_plan()
            planned = [] if self._switches_itself else [plan for patch in self._patches if (plan := patch.plan())]
            sites = [id(site) for _, part in planned for site in part[1]]
            # One attribute may be reached by two patches; what a switch does there depends on the order.
            if len(planned) == len(self._patches) and len(set(sites)) == len(sites):
                steps = [step for steps, _ in planned for step in steps]
                self._fault_switch.set_plan(_native.modules_mark(), steps, [part for _, part in planned])
        except UnresolvedTargetError as error:
            self._undo_all()
            if error.lasts:
                raise self._unresolved(error) from None
            if not self._remarks:
                # Also kept for the report: what a worker prints is dropped.
                self._remarks.append(f"Skipping fault {self.name!r}: cannot resolve target {error}")
                warnings.warn(self._remarks[0], UserWarning, stacklevel=2, skip_file_prefixes=(_PACKAGE_FOLDER,))
            return False
        except BaseException:
            self._undo_all()
            raise
        return True

    def _put_on_as_planned(self) -> bool:
        switch = self._fault_switch
        if switch.put_on():
            return True
        if self._lasts or not switch.has_plan:
            return False
        # Its wrappers are called again in each run.
        return all(patch.wrap_again() for patch in self._patches) and switch.put_on()

    def _before_switching_off(self) -> None:
        if self._fault_switch.by_plan:
            for patch in self._patches:
                patch.take_over()

    def _do_deactivate(self) -> None:
        self._undo_all()

    @property
    def _lasts(self) -> bool:
        return self._made_by is not None

    def _undo_all(self) -> None:
        errors: list[FaultError] = []
        for patch in reversed(self._patches):
            try:
                patch.undo()
            except FaultError as error:
                errors.append(error)
        if errors:
            raise errors[0]


class LambdaFault(Fault):
    """A fault called ``name``, made from two functions: ``on_activate`` switches it on and ``on_deactivate`` off.

    When one of them raises, FaultError names the fault and the fault is off.
    """

    def __init__(self, name: str, on_activate: Callable[[], object], on_deactivate: Callable[[], object]) -> None:
        """Raise FaultError if one of them is not a function."""
        super().__init__(name)
        check_function(name, "on_activate", on_activate)
        check_function(name, "on_deactivate", on_deactivate)
        self._on_activate = on_activate
        self._on_deactivate = on_deactivate

    def _do_activate(self) -> None:
        self._on_activate()

    def _do_deactivate(self) -> None:
        self._on_deactivate()


def check_function(fault_name: str, argument: str, function: object) -> None:
    """Check that an argument of a fault is a function. Raises FaultError."""
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

    Raises FaultError for the first that cannot be undone, after all the others have been.
    """
    if not faults:
        return  # most machines have none, and each run calls this twice
    errors: list[FaultError] = []
    for fault in reversed(faults):
        if not fault._resets_itself and fault._fault_switch.reset(lasts=fault._lasts):
            continue
        try:
            fault.reset()
        except FaultError as error:
            errors.append(error)
        else:
            if not fault.is_unwound:
                whose = f"reset() and _do_deactivate() of {type(fault).__name__}"
                hint = f"{whose} must call those of the class they override"
                errors.append(FaultError(f"fault {fault.name!r} is still in effect after reset()", hint=hint))
    randomness.reset_default()
    if errors:
        raise errors[0]


def switch_of(fault: Fault) -> _native.FaultSwitch | None:
    """Return what may be switched in place of the fault; None if its class has its own code for that."""
    return None if fault._switches_itself else fault._fault_switch


def begin_run(faults: Sequence[Fault]) -> None:
    """Release all faults, and let them prepare for a run.

    Raises FaultError for the first one that cannot.
    """
    release(faults)
    for fault in faults:
        fault.enter_run()
