"""What a restore owes: the same state, the same bytes again, and the future of the program that was not restored."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import ordeal._native as _native
from ordeal._base import untrusted
from ordeal._base.formatting import one_line
from ordeal._hypothesis import ENGINE_ATTRIBUTES
from ordeal.simulate.errors import NotRestored, SimulationError, SimulationWarning
from ordeal.simulate.ticks.world import Original, TickWorld


def snapshot_of(machine: Any, world: TickWorld) -> bytes:
    """Return what ``snapshot()`` returns.

    Raises:
        SimulationError: it is not bytes.
    """
    blob = world.run(machine.snapshot)
    if not isinstance(blob, bytes | bytearray | memoryview):
        raise SimulationError(f"snapshot() returned {type(blob).__name__}", hint="return bytes")
    return bytes(blob)


def restore(machine: Any, world: TickWorld) -> None:
    """Start the program anew and let it restore its own snapshot; compare it with what it was.

    Raises:
        NotRestored: its state or its next snapshot is another one.
    """
    blob = snapshot_of(machine, world)
    state = _state(machine, world)
    world.original = None
    original = _copied(machine)
    world.run(machine.start)
    world.run(machine.restore, blob)
    restored = _state(machine, world)
    if restored != state:
        raise NotRestored(
            f"a restore changes the state\n  before: {_shown(state)}\n  after:  {_shown(restored)}", site="state"
        )
    again = snapshot_of(machine, world)
    if again != blob:
        raise NotRestored(f"the snapshot after a restore is another one\n{_difference(blob, again)}", site="snapshot()")
    if original is not None:
        world.original = Original(original)


def _state(machine: Any, world: TickWorld) -> Any:
    state = getattr(machine, "state", None)
    return world.run(state) if callable(state) else None


def _copied(machine: Any) -> Any:
    """Return a copy of a machine with its program; None where it cannot be copied, which is told."""
    kept = {name: value for name, value in vars(machine).items() if name in ENGINE_ATTRIBUTES}
    own = {name: value for name, value in vars(machine).items() if name not in (*ENGINE_ATTRIBUTES, "_tell")}
    cls: Any = type(machine)
    twin = cls.__new__(cls)
    try:
        copied = _native.deep_copy(own, {id(machine): twin})
    except Exception as error:  # noqa: BLE001 - whatever the program's objects raise
        why = f"{untrusted.type_name(type(error))}: {untrusted.error_message(error)}"
        warnings.warn(
            SimulationWarning(f"the future of a restored program is not compared, as it cannot be copied: {why}"),
            stacklevel=2,
        )
        return None
    twin.__dict__.update(kept)
    twin.__dict__.update(copied)
    twin.world.leave()
    return twin


def in_step(machine: Any, world: TickWorld, what: str, step: Callable[[Any], object]) -> None:
    """Do ``step(machine)``; do it with the program that was not restored as well, and compare the two.

    Raises:
        NotRestored: it ends in another way, or leads to another snapshot.
    """
    original = world.original
    if original is None or machine.active_faults:
        # What a fault does to one of the two is not what it does to the other.
        world.original = None
        step(machine)
        return
    begin = random.getstate()
    expected = _outcome(original.machine, step)
    after = random.getstate()
    random.setstate(begin)
    try:
        step(machine)
    except Exception as error:
        if _ending(error) != expected:
            raise NotRestored(
                f"after a restore, {what} ends with {_ending(error)}; without the restore, {expected or 'it does not'}",
                site=what,
            ) from error
        world.original = None
        raise
    random.setstate(after)
    if expected:
        raise NotRestored(f"after a restore, {what} ends well; without the restore, it ends with {expected}", site=what)
    _compare(machine, world, original, what)


def _compare(machine: Any, world: TickWorld, original: Original, what: str) -> None:
    twin = original.machine
    wanted, found = snapshot_of(twin, twin.world), snapshot_of(machine, world)
    if wanted != found:
        raise NotRestored(
            f"after a restore, {what} leads to another snapshot than without it\n{_difference(wanted, found)}",
            site=what,
        )
    original.steps_left -= 1
    if not original.steps_left:
        world.original = None


def _outcome(machine: Any, step: Callable[[Any], object]) -> str:
    try:
        step(machine)
    except Exception as error:  # noqa: BLE001 - compared with what the other one raises
        return _ending(error)
    return ""


def _ending(error: Exception) -> str:
    return f"{untrusted.type_name(type(error))}: {untrusted.error_message(error)}"


#: How many bytes around the first that differs are shown.
_SHOWN = 60


def _difference(wanted: bytes, found: bytes) -> str:
    first = next((at for at, pair in enumerate(zip(wanted, found, strict=False)) if pair[0] != pair[1]), None)
    at = min(len(wanted), len(found)) if first is None else first
    begin = max(at - _SHOWN // 2, 0)
    dots = "..." if begin else ""
    shown = [_shown(each[begin : begin + _SHOWN]) for each in (wanted, found)]
    return "\n".join(
        [
            f"  they differ from byte {at}:",
            f"  without the restore: {dots}{shown[0]}",
            f"  restored:            {dots}{shown[1]}",
        ]
    )


def _shown(value: Any) -> str:
    text = untrusted.bounded_call(lambda: repr(value), lambda _: f"<{type(value).__name__}>")
    return one_line(text, limit=200)
