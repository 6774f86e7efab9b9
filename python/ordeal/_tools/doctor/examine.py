"""Runs a machine and reports what it did, in a separate process that answers one request."""

from __future__ import annotations

import inspect
import json
import linecache
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from time import thread_time
from types import CodeType
from typing import Any, override

from hypothesis.errors import UnsatisfiedAssumption
from msgspec import to_builtins

from ordeal._base.interpreter import send_and_exit, take_request
from ordeal._base.limits import ITEMS_MAX, ROWS_MAX, SHOWN_DEPTH_MAX
from ordeal._base.monitoring_tools import needed_tool, take_tool
from ordeal._base.property_text import json_properties
from ordeal._base.untrusted import bounded_call
from ordeal._engine.coverage.targets import compiled_modules
from ordeal._engine.execution.class_path import load_class, trust
from ordeal._engine.execution.machine import make_driver, returns_nothing
from ordeal._engine.execution.recorder import PLAIN
from ordeal._engine.trace_view.values import SEQUENCES, SETS, StateParts, StateReader
from ordeal._hypothesis.machines import MachineDefinition
from ordeal._native import deep_copy, monotonic
from ordeal._tools.doctor.checks import called_faults
from ordeal.errors import OrdealError
from ordeal.explore import Explorer
from ordeal.result.exploration import line_ranges

_EVENTS = sys.monitoring.events


@dataclass(slots=True)
class Uses:
    """How often a rule, a precondition or an invariant ran, how long that took in all, and how it ended."""

    name: str
    starts: int = 0
    returns: int = 0
    true: int = 0
    rejected: int = 0
    raised: Counter[str] = field(default_factory=Counter)
    swallowed: Counter[str] = field(default_factory=Counter)
    states: set[int] = field(default_factory=set)
    opaque: bool = False
    lacks_return: bool = False
    source: str = ""
    pending: str = ""
    seconds: float = 0.0
    processor: float = 0.0
    """The part of the seconds in which the processor worked for it."""
    began: float = 0.0
    processor_began: float = 0.0

    def begin(self) -> None:
        """Note when a call begins."""
        self.began, self.processor_began = monotonic(), thread_time()

    def end(self) -> None:
        """Add what the call took."""
        self.processor += thread_time() - self.processor_began
        self.seconds += monotonic() - self.began


@dataclass(slots=True)
class Counts:
    """What was counted for one machine; ``last`` is the machine that ran last."""

    rules: dict[CodeType, Uses] = field(default_factory=dict)
    preconditions: dict[str, list[Uses]] = field(default_factory=dict)
    invariants: dict[CodeType, Uses] = field(default_factory=dict)
    last: Any = None


def _code_of(function: Any) -> CodeType | None:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code if isinstance(code, CodeType) else None


@contextmanager
def counted(definition: MachineDefinition) -> Iterator[Counts]:
    """Count during the block what the functions of a machine do."""
    counts = Counts()
    known: dict[CodeType, Uses] = {}
    for rule in (*definition.initializers, *definition.rules):
        code = _code_of(rule.function)
        if code is None or str(getattr(rule.function, "__module__", "")).partition(".")[0] == "ordeal":
            continue
        known[code] = counts.rules[code] = Uses(rule.name)
        known[code].lacks_return = bool(rule.targets) and returns_nothing(rule.function)
        counts.preconditions[rule.name] = []
        for precondition in rule.preconditions:
            own = _code_of(precondition)
            if own is not None and str(getattr(precondition, "__module__", "")).partition(".")[0] != "ordeal":
                known[own] = Uses(rule.name, source=linecache.getline(own.co_filename, own.co_firstlineno).strip())
                counts.preconditions[rule.name].append(known[own])
    for invariant in definition.invariants:
        code = _code_of(invariant.function)
        if code is not None and not code.co_filename.startswith("<") and code not in known:
            known[code] = counts.invariants[code] = Uses(invariant.name)
    with _monitoring(known, counts):
        yield counts


@contextmanager
def _monitoring(known: dict[CodeType, Uses], counts: Counts) -> Iterator[None]:
    monitoring = sys.monitoring
    tool = needed_tool("`ordeal doctor`")
    take_tool(tool, "ordeal doctor")
    callbacks = _callbacks(known, counts)
    try:
        for event, callback in callbacks.items():
            monitoring.register_callback(tool, event, callback)
        for code in known:
            monitoring.set_local_events(tool, code, _EVENTS.PY_START | _EVENTS.PY_RETURN)
        monitoring.set_events(tool, _EVENTS.PY_UNWIND | _EVENTS.EXCEPTION_HANDLED)
        yield
    finally:
        monitoring.set_events(tool, 0)
        for event in callbacks:
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)


def _callbacks(known: dict[CodeType, Uses], counts: Counts) -> dict[int, Callable[..., Any]]:
    def started(code: CodeType, _offset: int) -> None:
        uses = known.get(code)
        if uses is None:
            return
        uses.starts += 1
        uses.pending = ""
        if code in counts.rules or code in counts.invariants:
            machine: Any = next(iter(sys._getframe(1).f_locals.values()), None)
            counts.last = machine
            if code in counts.invariants and len(uses.states) < 2 and uses.starts <= ROWS_MAX:
                state = _State()
                StateReader(type(machine)).walk(state, machine)
                uses.states.add(state.number())
                uses.opaque |= state.is_opaque
        uses.begin()

    def returned(code: CodeType, _offset: int, value: object) -> None:
        uses = known.get(code)
        if uses is not None:
            uses.end()
            uses.returns += 1
            uses.true += value is True or (value is not None and value is not False)
            if uses.pending:
                uses.swallowed[uses.pending] += 1

    def unwound(code: CodeType, _offset: int, error: BaseException) -> None:
        uses = known.get(code)
        if uses is not None:
            uses.end()
            if isinstance(error, UnsatisfiedAssumption):
                uses.rejected += 1
            else:
                uses.raised[type(error).__name__] += 1

    def handled(code: CodeType, _offset: int, error: BaseException) -> None:
        uses = counts.rules.get(code)
        if uses is not None:
            uses.pending = type(error).__name__

    return {
        _EVENTS.PY_START: started,
        _EVENTS.PY_RETURN: returned,
        _EVENTS.PY_UNWIND: unwound,
        _EVENTS.EXCEPTION_HANDLED: handled,
    }


class _State(StateParts):
    """The parts of a state, and whether one of them cannot be looked into."""

    def __init__(self) -> None:
        super().__init__()
        self.is_opaque = False

    @override
    def leaf(self, path: str, value: Any) -> None:
        kind = type(value)
        self.is_opaque |= kind not in PLAIN and not issubclass(kind, (Enum, dict, *SEQUENCES, *SETS))
        super().leaf(path, value)


def main() -> None:
    """Examine the class of a request, and send the answer."""
    request, answers = take_request()
    try:
        answer = examined(request)
    except OrdealError as error:
        answer = {"error": {"message": error.message, "hint": error.hint or ""}}
    answers.write(json.dumps(answer).encode())
    send_and_exit(answers)


def examined(order: Mapping[str, Any]) -> dict[str, Any]:
    """Run the class of an order in this process, and return what it did."""
    trust(order["class"])
    given = load_class(order["class"])
    definition = make_driver(given).definition
    explorer = Explorer(given, target_modules=order["targets"], seed=order["seed"], workers=1)
    with counted(definition) as counts:
        result = explorer.run(max_runs=order["max_runs"], max_time=order["max_time"], shrink=False)
    preconditions = {
        name: [{"source": each.source, "starts": each.starts, "true": each.true} for each in found]
        for name, found in counts.preconditions.items()
    }
    return {
        "error": None,
        "rules": [_uses(each) | {"preconditions": preconditions[each.name]} for each in counts.rules.values()],
        "invariants": [_uses(each) for each in counts.invariants.values()],
        "copies": list(islice(_not_copied(counts.last), 5)) if counts.last is not None else [],
        "result": {
            "total_runs": result.total_runs,
            "total_steps": result.total_steps,
            "seconds": result.duration_seconds,
            "stopped_reason": result.stopped_reason,
            "unique_edges": result.unique_edges,
            "failures": len(result.failures),
            "inconclusive": None if result.inconclusive is None else to_builtins(result.inconclusive),
            "target_modules": list(result.target_modules or ()),
            "imported_modules": list(result.imported_modules),
            "snapshot_kind": result.snapshot_kind,
            "faults": [to_builtins(use) for use in result.faults],
            "properties": json_properties(result.properties),
            "covered_lines": {file: ",".join(line_ranges(lines)) for file, lines in result.covered_lines.items()},
            "calling": called_faults(result),
            "compiled": compiled_modules(explorer.targets),
        },
    }


def _uses(uses: Uses) -> dict[str, Any]:
    return {
        "name": uses.name,
        "starts": uses.starts,
        "returns": uses.returns,
        "rejected": uses.rejected,
        "raised": dict(uses.raised),
        "swallowed": dict(uses.swallowed),
        "states": len(uses.states),
        "lacks_return": uses.lacks_return,
        "opaque": uses.opaque,
        "seconds": uses.seconds,
        "processor": uses.processor,
    }


def _not_copied(machine: Any) -> Iterator[dict[str, str]]:
    """Yield the parts of a machine that cannot be copied, each as deep inside as it can be named."""
    for name, value in vars(machine).items():
        reason = _why_not(value, [])
        if reason:
            yield _deepest(value, f"self.{name}", reason, [])


def _deepest(value: Any, path: str, reason: str, around: list[Any]) -> dict[str, str]:
    around = [*around, value]
    if len(around) <= SHOWN_DEPTH_MAX:
        for inner, part in _parts(value):
            deeper = _why_not(part, around)
            if deeper:
                return _deepest(part, f"{path}{inner}", deeper, around)
    return {"path": path, "reason": reason}


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"[{key!r:.40}]", each) for key, each in islice(value.items(), ITEMS_MAX))
    elif isinstance(value, list | tuple):
        yield from ((f"[{number}]", each) for number, each in enumerate(value[:ITEMS_MAX]))
    attributes = getattr(value, "__dict__", None)
    if isinstance(attributes, dict):
        yield from ((f".{name}", each) for name, each in islice(attributes.items(), ITEMS_MAX))


def _why_not(value: Any, around: Sequence[Any]) -> str:
    """Return why a value cannot be copied, or nothing. What is around it counts as copied: it may lead back."""
    copied = {id(each): each for each in around}
    return bounded_call(
        lambda: (deep_copy(value, copied), "")[1], lambda error: str(error)[:200] or "copying takes too long"
    )
