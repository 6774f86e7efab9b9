"""Which attributes of the state the invariants of a machine read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine

import ordeal._native as _native
from ordeal._engine.trace_view.values import StateReader
from ordeal._hypothesis import Invariant, Rule, holds
from ordeal._tools.mutation.machines.bench import Bench
from ordeal._tools.mutation.machines.evidence import attribute_of
from ordeal.faults import Fault

#: So many states are looked at in all, evenly over the steps of the traces.
STATES_MAX = 600


class ReadWatch:
    """An observer that evaluates the invariants once more after each nth step, and notes what they read."""

    def __init__(self, bench: Bench, each: int) -> None:
        definition = bench.definition
        self._invariants = definition.invariants
        self._reader = StateReader(definition.cls)
        self._machine: RuleBasedStateMachine | None = None
        self._each, self._step = each, 0
        self.reads: dict[str, dict[str, None]] = {each.name: {} for each in self._invariants}
        self.attributes: dict[str, None] = {}

    def making(self, cls: type[RuleBasedStateMachine]) -> None:
        """Nothing is there yet."""

    def started(self, machine: RuleBasedStateMachine) -> None:
        """Remember the machine."""
        self._machine = machine

    def rule(self, rule: Rule, initialize: bool, values: dict[str, Any], resolved: dict[str, Any]) -> None:
        """Nothing has changed since the last step."""

    def rule_done(self, rule: Rule, result: Any, names: list[list[str]]) -> None:
        """Look at the state that the rule left."""
        del rule, result, names
        self._look()

    def fault(self, fault: Fault, on: bool) -> None:
        """A switch changes no state."""

    def ending(self) -> None:
        """The last state was looked at."""

    def _look(self) -> None:
        self._step += 1
        if self._machine is None or self._step % self._each:
            return
        places, types, aliases = self._reader.places(self._machine)
        paths = [path for path in self._reader.read(self._machine) if path not in aliases]
        self.attributes |= dict.fromkeys(map(attribute_of, paths))
        for invariant in self._invariants:
            noted: dict[tuple[int, str], None] = {}
            with noting(types, lambda owner, name, noted=noted: noted.setdefault((id(owner), name))):  # type: ignore[misc]
                self._evaluate(invariant)
            for owner, name in noted:
                if owner in places:
                    prefix = attribute_of(places[owner])
                    starred = ".*" if places[owner].endswith("]") else ""
                    path = f"{prefix}{starred}.{name}" if places[owner] else name
                    self.reads[invariant.name][path] = None

    def _evaluate(self, invariant: Invariant) -> None:
        with suppress(BaseException):
            assert self._machine is not None
            if holds(invariant.preconditions, self._machine):
                invariant.function(self._machine)


@contextmanager
def noting(types: set[type], note: Callable[[Any, str], object]) -> Iterator[None]:
    """Tell ``note`` each attribute that is read of objects of these types during the block."""
    before: list[tuple[type, Any]] = []
    for each in types:
        inherited = each.__getattribute__

        def look(self: Any, name: str, inherited: Any = inherited) -> Any:
            note(self, name)
            return inherited(self, name)

        own = vars(each).get("__getattribute__")
        with suppress(TypeError, AttributeError):
            type.__setattr__(each, "__getattribute__", look)
            before.append((each, own))
    try:
        yield
    finally:
        for each, own in reversed(before):
            if own is None:
                type.__delattr__(each, "__getattribute__")
            else:
                type.__setattr__(each, "__getattribute__", own)


def reads_of(bench: Bench, tapes: list[_native.Tape]) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return by invariant the attributes of the state that it reads, and all attributes, as runs of tapes show."""
    reads: dict[str, dict[str, None]] = {each.name: {} for each in bench.definition.invariants}
    attributes: dict[str, None] = {}
    each = 1 + sum(map(len, tapes)) // STATES_MAX
    for tape in tapes:
        watch = ReadWatch(bench, each)
        bench.watched(tape, watch)
        attributes |= watch.attributes
        for name, found in watch.reads.items():
            reads[name] |= found
    known = {name: tuple(each for each in found if each in attributes) for name, found in reads.items()}
    return known, tuple(each for each in attributes if each != "..." and not each.startswith("bundle "))
