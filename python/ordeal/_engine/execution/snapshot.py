"""Saves the state of a machine in the middle of a run and restores machines from it: a cache of a tape's prefix."""

from __future__ import annotations

import dis
import importlib
import signal
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType, MemberDescriptorType
from typing import Any

import msgspec
from hypothesis.stateful import RuleBasedStateMachine

from ordeal._base import interrupts
from ordeal._base.formatting import describe_error
from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._hypothesis.bundles import ENGINE_ATTRIBUTES, BundleState
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal._hypothesis.run_context import RunContext
from ordeal._native import deep_copy, judge_finalizers, store_attributes
from ordeal.chaos import ChaosTest, overrides
from ordeal.faults import Fault
from ordeal.faults.fault import begin_run

_SIGNALS = sorted(signal.valid_signals() - {getattr(signal, "SIGALRM", signal.SIGINT), *interrupts.SIGNALS})

#: What a snapshot keeps besides the copy.
_NOT_COPIED = frozenset({*ENGINE_ATTRIBUTES, *BundleState.__struct_fields__})
#: The function in C alone: the one around it makes an enum of each answer, 154 µs for all signals where this takes 1.
_getsignal = importlib.import_module("_signal").getsignal


class Snapshot(msgspec.Struct, frozen=True):
    """The state of a machine. Immutable by convention: every restored machine gets its own copy."""

    shared_attributes: dict[str, Any]
    bundles: BundleState
    copied: dict[str, Any]  # "attributes", "shared" (values of st.shared), and "custom" where the class clones itself
    shared_strategies: dict[Any, Any]
    randoms: list[tuple[Any, Any]]
    length: int
    fault_hits: list[tuple[Fault, int]]


class SnapshotError(Exception):
    """A machine cannot be copied; the cause says why."""


class Snapshots:
    """Takes and restores snapshots of machines of one class by a single deep copy each.

    One copy with one memo keeps aliasing: an object that is reachable in two ways stays one object. A class may
    override ``clone_checkpoint_state`` and ``restore_checkpoint_state`` to change that, or leave attributes out with
    ``checkpoint_snapshot_filter``; then restoring starts from a fresh machine.
    """

    def __init__(
        self,
        cls: type[RuleBasedStateMachine],
        factory: Callable[[], RuleBasedStateMachine],
        faults: Sequence[Fault],
        randoms: GlobalRandoms,
    ) -> None:
        self._cls = cls
        self._factory = factory
        self._faults = faults
        self._randoms = randoms
        self._found_receivers = _received_by()
        self._slots: dict[type, str | None] = {}  # by type of machine
        is_chaos = issubclass(cls, ChaosTest)
        self._clones_itself = is_chaos and all(
            overrides(cls, f"{verb}_checkpoint_state") for verb in ("clone", "restore")
        )
        self._filters = is_chaos and any(
            overrides(cls, hook) for hook in ("checkpoint_snapshot_filter", "snapshot_filter", "restore_snapshot")
        )

    def take(self, run: RunContext) -> Snapshot:
        """Copy the state of ``run``'s machine.

        Raises:
            SnapshotError: some object in it cannot be copied.
        """
        machine = run.machine
        kind = type(machine)
        if kind not in self._slots:
            owners = (each.__name__ for each in kind.__mro__ if each is not object and vars(each).get("__slots__"))
            self._slots[kind] = next(owners, None)
        slots = self._slots[kind]
        if _received_by() != self._found_receivers:
            # A copy is made without the constructor: a signal could end this process.
            raise SnapshotError("it has set a handler of a signal")
        if slots is not None:
            raise SnapshotError(f"{slots} has __slots__")
        state: dict[str, Any] = {"shared": {key: value for key, (value, _) in run.shared.items()}}
        signals_before = interrupts.signal_count()
        memo: dict[int, Any] = {id(strategy): strategy for _, strategy in run.shared.values()}
        try:
            if self._clones_itself:
                state["custom"] = machine.clone_checkpoint_state()
                state["attributes"] = {"names_to_values": machine.names_to_values}
            else:
                own = {name: value for name, value in vars(machine).items() if name not in _NOT_COPIED}
                if self._filters:
                    kept = machine.checkpoint_snapshot_filter
                    own = {name: value for name, value in own.items() if name == "names_to_values" or kept(name, value)}
                state["attributes"] = own
            # The machine itself stands for the machine into which the copy is restored.
            memo[id(machine)] = _MACHINE
            copied = deep_copy(state, memo)
        except OutOfTime:
            raise
        except BaseException as error:
            if interrupts.is_from_user(error, signals_before):
                raise
            raise SnapshotError(describe_error(error)) from error
        return Snapshot(
            shared_attributes={k: v for k, v in vars(machine).items() if k in ENGINE_ATTRIBUTES},
            bundles=BundleState.of(machine),
            copied=copied,
            shared_strategies={key: strategy for key, (_, strategy) in run.shared.items()},
            randoms=self._randoms.changed(),
            length=run.length,
            fault_hits=[(fault, fault.observation_hits) for fault in self._faults if fault.observation_hits],
        )

    def restore(self, snapshot: Snapshot, run: RunContext) -> RuleBasedStateMachine:
        """Make a machine in the state of ``snapshot`` and give ``run`` the values drawn so far from ``st.shared``."""
        begin_run(self._faults)
        fresh = self._clones_itself or self._filters
        machine = self._factory() if fresh else self._cls.__new__(self._cls)
        copied = deep_copy(snapshot.copied, {id(_MACHINE): machine})
        if not fresh:
            store_attributes(machine, snapshot.shared_attributes)
        store_attributes(machine, copied["attributes"])
        snapshot.bundles.restore_into(machine)
        run.length = snapshot.length
        if self._clones_itself:
            machine.restore_checkpoint_state(copied["custom"])  # type: ignore[attr-defined]
        elif self._filters and isinstance(machine, ChaosTest):
            machine.restore_snapshot(copied["attributes"])
        if copied["shared"]:
            run.share({key: (value, snapshot.shared_strategies[key]) for key, value in copied["shared"].items()})
        for generator, state in snapshot.randoms:
            generator.setstate(state)
        for fault, hits in snapshot.fault_hits:
            fault.resume(hits)
        return machine


def _received_by() -> list[Any]:
    """Return the handler of each signal, except those that a search itself handles."""
    return [_getsignal(number) for number in _SIGNALS]


class _Machine:
    """Stands in a snapshot for the machine into which it will be restored."""

    __slots__ = ("__weakref__",)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return memo.get(id(self), self)


_MACHINE = _Machine()


# ---------------------------------------------------------------------------------------------------------------------
# Finalizers that only set attributes of their own object. A copy of an object goes away sooner than the object. If its
# ``__del__`` closed a file or deleted a folder, the object would lose what it still uses. One that only notes that the
# object is closed does no harm.

#: What passes values on, decides, or returns.
_PASSIVE = frozenset(
    {
        "CACHE",
        "COPY_FREE_VARS",
        "COPY",
        "IS_OP",
        "JUMP_FORWARD",
        "LOAD_COMMON_CONSTANT",
        "LOAD_CONST",
        "LOAD_SMALL_INT",
        "NOP",
        "NOT_TAKEN",
        "POP_JUMP_IF_FALSE",
        "POP_JUMP_IF_NONE",
        "POP_JUMP_IF_NOT_NONE",
        "POP_JUMP_IF_TRUE",
        "POP_TOP",
        "PUSH_NULL",
        "RESUME",
        "RETURN_CONST",
        "RETURN_VALUE",
        "SWAP",
        "TO_BOOL",
        "UNARY_NOT",
    }
)
_OF_SELF = frozenset({"LOAD_ATTR", "STORE_ATTR", "DELETE_ATTR"})
_SELF = frozenset({"LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK"})
_HOOKS = ("__getattribute__", "__setattr__", "__delattr__")
#: What loads the method that the next call is of.
_METHODS = frozenset({"LOAD_METHOD", "LOAD_SUPER_ATTR"})


def touches_only_itself(cls: type) -> bool:
    """Return True if the ``__del__`` of a class only reads and sets attributes of its object, as its code says."""
    if any(_member(cls, hook) is not getattr(object, hook) for hook in _HOOKS) or _member(cls, "__getattr__"):
        return False
    return _is_harmless(cls, "__del__", None, 8)  # calls of methods are followed this deep


def _is_harmless(cls: type, name: str, after: type | None, depth: int) -> bool:
    """Return True if a method, found behind ``after`` in the order of classes if given, touches only its object."""
    owner = next(_owners(cls, name, after), None)
    method = vars(owner)[name] if owner is not None else None
    if not isinstance(method, FunctionType) or depth == 0 or method.__code__.co_argcount != 1:
        return False
    code = method.__code__
    before = ""
    for instruction in dis.get_instructions(code):
        kind, what = instruction.opname, instruction.argval
        if kind in _OF_SELF:
            # Of no other object, and called only if it is a method of the class.
            is_call = kind == "LOAD_ATTR" and bool((instruction.arg or 0) & 1)
            member = _member(cls, what)
            if isinstance(member, FunctionType):
                is_harmless = is_call and _is_harmless(cls, what, None, depth - 1)
            else:
                is_slot = isinstance(member, MemberDescriptorType)
                is_harmless = not is_call and (is_slot or not hasattr(type(member), "__get__"))
            if before not in _SELF or not is_harmless:
                return False
        elif kind == "LOAD_SUPER_ATTR":
            if not (instruction.arg or 0) & 1 or not _is_harmless(cls, what, owner, depth - 1):
                return False
        elif kind == "LOAD_GLOBAL":
            if what not in {"super", owner.__name__ if owner is not None else ""}:
                return False
        elif kind in _SELF:
            if what != code.co_varnames[0]:
                return False
        elif kind == "CALL":
            # What an attribute, a closure or a global holds may do anything. Methods are looked at as they are loaded.
            if instruction.arg or before not in _METHODS:
                return False
        elif kind == "LOAD_DEREF":
            if what != "__class__":
                return False
        elif kind not in _PASSIVE:
            return False
        before = "LOAD_METHOD" if kind == "LOAD_ATTR" and (instruction.arg or 0) & 1 else kind
    return True


def _member(cls: type, name: str) -> Any:
    return next((vars(owner)[name] for owner in _owners(cls, name, None)), None)


def _owners(cls: type, name: str, after: type | None) -> Iterator[type]:
    order = cls.__mro__
    yield from (owner for owner in order[order.index(after) + 1 if after else 0 :] if name in vars(owner))


judge_finalizers(touches_only_itself)
