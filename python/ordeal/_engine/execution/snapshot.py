"""Saves the state of a machine in the middle of a run and restores machines from it: a cache of a tape's prefix."""

from __future__ import annotations

import importlib
import signal
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from hypothesis.stateful import RuleBasedStateMachine

from ordeal._base import interrupts
from ordeal._base.formatting import describe_error
from ordeal._engine.execution.finalizers import touches_only_itself
from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._hypothesis.bundles import ENGINE_ATTRIBUTES, BundleState
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal._hypothesis.run_context import RunContext
from ordeal._native import ALARM_SIGNAL, deep_copy, judge_finalizers, store_attributes
from ordeal.chaos import ChaosTest, overrides
from ordeal.faults import Fault
from ordeal.faults.fault import begin_run

_SIGNALS = sorted(signal.valid_signals() - {ALARM_SIGNAL, *interrupts.SIGNALS})

#: What a snapshot keeps besides the copy.
_NOT_COPIED = frozenset({*ENGINE_ATTRIBUTES, *BundleState.__struct_fields__})
#: The function in C alone: the one around it makes an enum of each answer, 154 µs for all signals where this takes 1.
_getsignal = importlib.import_module("_signal").getsignal

judge_finalizers(touches_only_itself)


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
