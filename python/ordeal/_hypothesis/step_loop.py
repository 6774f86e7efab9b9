"""Makes the step loop of a machine class, which makes its machines in a tenth of the time.

Attributes that only Hypothesis' own loop needs are made on first use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from io import StringIO
from types import FunctionType, SimpleNamespace
from typing import Any

from hypothesis.stateful import Bundle, RuleBasedStateMachine
from hypothesis.strategies import SearchStrategy

from ordeal._base.outside import outside
from ordeal._hypothesis.machines import MachineDefinition
from ordeal._hypothesis.private import private, unwrap
from ordeal._hypothesis.run_context import LENGTH_MAX
from ordeal._native import FaultSwitch, StepLoop

_RuleStrategy: Any = private("hypothesis.stateful:RuleStrategy", None)
_Printer: Any = private("hypothesis.vendor.pretty:RepresentationPrinter", None)
_context: Any = private("hypothesis.control:_current_build_context", None)

_STREAM = "_RuleBasedStateMachine__stream"
_PRINTER = "_RuleBasedStateMachine__printer"
_STRATEGY = "_rules_strategy"

#: What the constructor sets in known versions of Hypothesis, in its order.
_KNOWN = {
    "rules": list,
    "invariants": list,
    "_initialize_rules_to_run": list,
    "bundles": dict,
    "names_counters": Counter,
    "names_list": list,
    "names_to_values": dict,
    _STREAM: StringIO,
    _PRINTER: _Printer,
    _STRATEGY: _RuleStrategy,
}

_make_slowly = RuleBasedStateMachine.__init__


class _Late:
    """An attribute that is made on first use. A value that the machine sets itself takes precedence."""

    def __init__(self, name: str, make: Callable[[Any], Any]) -> None:
        self._name = name
        self._make = make

    def __get__(self, machine: Any, cls: type) -> Any:
        if machine is None:
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {self._name!r}")
        value = machine.__dict__[self._name] = self._make(machine)
        return value


def make_machines_quick() -> None:
    """From now on, make machines of this process quickly, if this version of Hypothesis is known.

    Only the ``__dict__`` of such a machine differs from others. This is never undone: each change of a class with so
    many subclasses makes the interpreter drop its caches for all of them.
    """
    if RuleBasedStateMachine.__init__ is not _make_slowly or not _is_known():
        return
    setattr(RuleBasedStateMachine, _STREAM, _Late(_STREAM, lambda _machine: StringIO()))
    setattr(RuleBasedStateMachine, _PRINTER, _Late(_PRINTER, _make_printer))
    setattr(RuleBasedStateMachine, _STRATEGY, _Late(_STRATEGY, _RuleStrategy))
    RuleBasedStateMachine.__init__ = _make_quickly  # type: ignore[method-assign]


def _make_printer(machine: Any) -> Any:
    return _Printer(getattr(machine, _STREAM), context=_context.value)


def _make_quickly(self: RuleBasedStateMachine) -> None:
    cls = type(self)
    state = cls.setup_state()
    if not state.rules or "settings" in cls.__dict__:
        # The constructor may raise an error about the class.
        _make_slowly(self)
        return
    self.rules = state.rules
    self.invariants = state.invariants
    self._initialize_rules_to_run = state.initializers.copy()
    self.bundles = {}
    # Without its own constructor, which would take as long as everything else together.
    self.names_counters = Counter.__new__(Counter)
    self.names_list = []
    self.names_to_values = {}


class _Smallest(RuleBasedStateMachine):
    """A minimal machine, which shows what the constructor sets."""

    @classmethod
    def setup_state(cls) -> Any:
        """Return what is otherwise read from all attributes of the class."""
        return SimpleNamespace(rules=[None], invariants=[], initializers=[])


class _Strategy:
    """Stands for ``RuleStrategy``, which takes longer to make than all else in a machine."""

    def __init__(self, machine: Any) -> None:
        """Take what ``RuleStrategy`` takes."""


def _is_known() -> bool:
    """Return True if the constructor sets what is known, by running it once, among other names."""
    if None in (_RuleStrategy, _Printer, _context):
        return False
    plain: Any = _make_slowly
    names = {**plain.__globals__, _RuleStrategy.__name__: _Strategy}
    make = FunctionType(plain.__code__, names, plain.__name__, plain.__defaults__, plain.__closure__)
    machine = _Smallest.__new__(_Smallest)
    try:
        make(machine)
    except Exception:  # noqa: BLE001  That of another version may want what this machine has not.
        return False
    found = [(name, type(value)) for name, value in vars(machine).items()]
    return found == [(name, _Strategy if made is _RuleStrategy else made) for name, made in _KNOWN.items()]


def make_loop(
    definition: MachineDefinition, faults: list[Any], switches: list[FaultSwitch | None], *, hashes_state: bool
) -> StepLoop:
    """Make the loop that runs machines of ``definition`` in C++, and have them made quickly.

    ``switches`` has for each fault what the loop may switch in its place, or None.
    """
    make_machines_quick()
    return StepLoop(
        definition, faults, switches, _bundle_of, outside.failed, hashes_state=hashes_state, length_max=LENGTH_MAX
    )


def _bundle_of(strategy: SearchStrategy[Any]) -> tuple[str, bool] | None:
    """Return the bundle whose values ``strategy`` gives unchanged, and whether it consumes them; else None."""
    plain = unwrap(strategy)
    if type(plain) is not Bundle or getattr(plain, "_transformations", None):
        return None
    return plain.name, plain.consume
