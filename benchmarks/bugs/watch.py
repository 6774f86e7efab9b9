"""What happens in one cell, whatever the engine: calls counted and logged, failures seen, replayed and timed."""

import copy
import functools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

Machine = type[RuleBasedStateMachine]
Fault = tuple[str, Callable[[], object], Callable[[], object]]

# Where Hypothesis leaves on a function that it is a rule, and of which kind.
RULE = "hypothesis_stateful_rule"
INITIALIZE = "hypothesis_stateful_initialize_rule"
INVARIANT = "hypothesis_stateful_invariant"


class LimitPassed(KeyboardInterrupt):
    """Ends an engine that takes no limit of time: what a user would do, and what no engine takes for a failure."""


class Call:
    """A logged rule call, linked to the one before. Copies of a machine share it, so logging costs them nothing."""

    __slots__ = ("active", "arguments", "before", "name")

    def __init__(self, before: "Call | None", name: str, arguments: dict[str, Any], active: tuple[str, ...]) -> None:
        self.before = before
        self.name = name
        self.arguments = arguments
        self.active = active

    def __deepcopy__(self, _memo: dict[int, Any]) -> "Call":
        return self

    def __copy__(self) -> "Call":
        return self


@dataclass(frozen=True, slots=True)
class Sequence:
    """The calls up to a failure, each with the faults that were active, and the faults active at the end."""

    calls: list[Call]
    active: tuple[str, ...]

    def __len__(self) -> int:
        """Calls and toggled faults."""
        toggles, before = 0, set[str]()
        for active in [*(call.active for call in self.calls), self.active]:
            toggles += len(before ^ set(active))
            before = set(active)
        return len(self.calls) + toggles


@dataclass(frozen=True, slots=True)
class Finding:
    """A failure, and where the search was by then."""

    error: Exception
    sequence: Sequence
    cpu_s: float
    wall_s: float
    machines: int
    calls: int


@dataclass(slots=True)
class Watch:
    """Counts and clocks of one cell; belongs to one thread."""

    module: ModuleType
    limit_s: float
    machines: int = 0
    calls: int = 0
    found: Finding | None = None
    false_failures: int = 0
    false_example: str = ""
    _pending: Finding | None = None
    _started: tuple[float, float] = field(default=(0.0, 0.0))

    def start(self) -> None:
        """The engine begins: clocks run from here, so imports are not in the time."""
        self._started = (time.process_time(), time.perf_counter())

    def cpu_s(self) -> float:
        """Processor time since the start; other programs cannot slow it down much."""
        return time.process_time() - self._started[0]

    def wall_s(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self._started[1]

    def is_over(self) -> bool:
        """Whether a bug is found, or the limit of processor time is passed: what a busy machine does not change."""
        self.settle()
        return self.found is not None or self.cpu_s() > self.limit_s

    def called(self) -> None:
        """An engine calls a rule."""
        self.calls += 1

    def made_machine(self, *, stop: bool) -> None:
        """An engine makes a machine: the failure before it can be judged, and with ``stop`` the limit is kept."""
        self.settle()
        self.machines += 1
        if stop and self.found is None and self.cpu_s() > self.limit_s:
            raise LimitPassed

    def failed(self, machine: RuleBasedStateMachine, error: Exception) -> None:
        """A rule or an invariant raised."""
        if self._pending is None and self.found is None:
            sequence = Sequence(list(logged_calls(machine)), active_faults(machine))
            self._pending = Finding(error, sequence, self.cpu_s(), self.wall_s(), self.machines, self.calls)

    def settle(self) -> None:
        """Replay the failure seen last on a fresh machine without an engine: one that does not fail again is false."""
        pending, self._pending = self._pending, None
        if pending is None:
            return
        again = replay(self.module, pending.sequence)
        if type(again) is type(pending.error):
            self.found = pending
            return
        self.false_failures += 1
        self.false_example = self.false_example or f"{type(pending.error).__name__}: {str(pending.error)[:160]}"


def logged_calls(machine: RuleBasedStateMachine) -> Iterator[Call]:
    """The calls of a machine, in order."""
    chain = []
    call: Call | None = machine.__dict__.get("_logged")
    while call is not None:
        chain.append(call)
        call = call.before
    return reversed(chain)


def active_faults(machine: Any) -> tuple[str, ...]:
    """Names of the faults that are active, as toggled by a rule or by the nemesis of ordeal."""
    toggled: set[str] | None = machine.__dict__.get("_toggled")
    if toggled is not None:
        return tuple(sorted(toggled))
    return tuple(sorted(fault.name for fault in getattr(machine, "active_faults", None) or ()))


def faults_of(module: ModuleType) -> list[Fault]:
    """Name, what switches it on and what switches it off, of each fault that a target has."""
    return list(getattr(module, "FAULTS", []))


def replay(module: ModuleType, sequence: Sequence) -> Exception | None:
    """Run a sequence on a plain machine, with the invariants after each call, and return what it raises."""
    switches = {name: (on, off) for name, on, off in faults_of(module)}
    active: set[str] = set()

    def toggle_to(wanted: tuple[str, ...]) -> None:
        for name in [*active - set(wanted)]:
            switches[name][1]()
            active.discard(name)
        for name in wanted:
            if name not in active:
                switches[name][0]()
                active.add(name)

    machine = None
    try:
        machine = module.Machine()
        invariants = [getattr(machine, name) for name in marked(module.Machine, INVARIANT)]
        for invariant in invariants:
            invariant()
        for call in sequence.calls:
            toggle_to(call.active)
            getattr(machine, call.name)(**call.arguments)
            for invariant in invariants:
                invariant()
        toggle_to(sequence.active)
        for invariant in invariants:
            invariant()
    except Exception as error:  # noqa: BLE001  Whatever the library raises is the answer.
        return error
    finally:
        toggle_to(())
        if machine is not None:
            machine.teardown()
    return None


def marked(machine: Machine, *kinds: str) -> list[str]:
    """The names of the machine's functions of these kinds."""
    return [name for name in dir(machine) if any(hasattr(getattr(machine, name, None), kind) for kind in kinds)]


def _is_control(error: Exception) -> bool:
    """Whether Hypothesis raised it to steer the run."""
    return type(error).__module__.startswith("hypothesis.")


def watched(watch: Watch, *, base: type | None = None, faults: list[Any] | None = None, stop_at_limit: bool) -> Machine:
    """The class that an engine runs: the target's machine, whose calls are counted and logged.

    Args:
        watch: where they are counted.
        base: a class of the engine to mix in.
        faults: what the engine's nemesis toggles; without any, a rule toggles the faults of the target.
        stop_at_limit: whether making a machine past the limit raises ``LimitPassed``.
    """
    plain: Machine = watch.module.Machine
    body: dict[str, Any] = {"__module__": plain.__module__, "__qualname__": "Watched"}
    for kind in (RULE, INITIALIZE, INVARIANT):
        for name in marked(plain, kind):
            body[name] = _marked_as(getattr(plain, name), kind, watch, logs=kind != INVARIANT)
    toggled = faults_of(watch.module) if faults is None else []

    def begin(self: RuleBasedStateMachine) -> None:
        watch.made_machine(stop=stop_at_limit)
        if toggled:
            self.__dict__["_toggled"] = set()
        super(made, self).__init__()

    body["__init__"] = begin
    if toggled:
        body |= _toggling(toggled, watch, plain)
    elif faults:
        body["faults"] = faults
    bases = (plain,) if base is None else (plain, base)
    metaclass: Any = type(plain)
    made: Machine = metaclass("Watched", bases, body)
    setattr(watch.module, "Watched", made)  # noqa: B010  Engines look a class up by its module and name.
    return made


def _marked_as(function: Any, kind: str, watch: Watch, *, logs: bool) -> Any:
    @functools.wraps(function)
    def call(self: RuleBasedStateMachine, **arguments: Any) -> Any:
        if logs:
            watch.called()
            state = self.__dict__
            state["_logged"] = Call(state.get("_logged"), function.__name__, arguments, active_faults(self))
        try:
            return function(self, **arguments)
        except Exception as error:
            if not _is_control(error):
                watch.failed(self, error)
            raise

    marker = copy.copy(getattr(function, kind))
    object.__setattr__(marker, "function", call)  # The marker may be frozen.
    for cached in ("_cached_hash", "_cached_repr"):
        if hasattr(marker, cached):
            object.__setattr__(marker, cached, None)
    setattr(call, kind, marker)
    return call


def _toggling(faults: list[Fault], watch: Watch, plain: Machine) -> dict[str, Any]:
    """A rule that toggles one fault, and the end of all faults at the end of a run."""
    switches = {name: (on, off) for name, on, off in faults}

    def toggle_fault(self: Any, which: str) -> None:
        watch.called()
        on, off = switches[which]
        if which in self._toggled:
            self._toggled.discard(which)
            off()
        else:
            self._toggled.add(which)
            on()

    def teardown(self: Any) -> None:
        for _, off in switches.values():
            off()
        plain.teardown(self)

    return {"toggle_fault": rule(which=st.sampled_from(sorted(switches)))(toggle_fault), "teardown": teardown}
