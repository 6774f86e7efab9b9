"""The recorded runs that judge: drawn by explorations, run twice on the original, with the lines and reads of each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, override

import msgspec
from hypothesis.stateful import RuleBasedStateMachine

import ordeal._native as _native
from ordeal._base.limits import FILES_MAX
from ordeal._base.monitoring_tools import needed_tool, take_tool
from ordeal._base.trace_file import Trace
from ordeal._engine.execution.class_path import load_class
from ordeal._engine.execution.recorder import Observer
from ordeal._engine.replay.loading import tape_of
from ordeal._engine.trace_view.values import StateReader
from ordeal._hypothesis.machines import Invariant, Rule, holds
from ordeal._native import monotonic
from ordeal._tools.mutation.forks import Say
from ordeal._tools.mutation.interpreters.sitecustomize import watch
from ordeal._tools.mutation.machines.bench import Step, StepWatch, TraceReplayer
from ordeal._tools.mutation.machines.evidence import attribute_of
from ordeal._tools.mutation.machines.turns import TurnLimit
from ordeal._tools.mutation.swap import LiveFunctions
from ordeal.errors import TraceError
from ordeal.explore import Explorer
from ordeal.faults import Fault

#: How many states are looked at in all, evenly over the steps of the traces.
STATES_MAX = 600


Lines = set[tuple[str, int]]


class ReadWatch(Observer):
    """Evaluates the invariants once more after each nth step, and notes what they read."""

    def __init__(self, bench: TraceReplayer, each: int) -> None:
        definition = bench.definition
        self._invariants = definition.invariants
        self._reader = StateReader(definition.cls)
        self._machine: RuleBasedStateMachine | None = None
        self._each, self._step = each, 0
        self.reads: dict[str, dict[str, None]] = {each.name: {} for each in self._invariants}
        self.attributes: dict[str, None] = {}

    @override
    def started(self, machine: RuleBasedStateMachine) -> None:
        self._machine = machine

    @override
    def rule_done(self, rule: Rule, result: Any, names: list[list[str]]) -> None:
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
    """Call ``note`` with each attribute that is read of objects of these types during the block."""
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


def reads_of(bench: TraceReplayer, tapes: list[_native.Tape]) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
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


class StepLines(StepWatch):
    """Notes the lines from ``start`` to ``stop``; ``hits`` has the steps of each, as bits."""

    def __init__(self, paths: set[str]) -> None:
        super().__init__()
        self._paths = paths
        self._tool = needed_tool("`ordeal mutate`")
        self._ran: Lines = set()
        self.hits: dict[tuple[str, int], int] = {}

    def start(self) -> None:
        """Begin."""
        take_tool(self._tool, "ordeal mutate")
        watch(self._tool, self._paths, lambda path, line: self._ran.add((path, line)), every=True)

    def stop(self) -> None:
        """Note the lines of the last step, and of the teardown; leave nothing behind."""
        self._take()
        sys.monitoring.set_events(self._tool, 0)
        sys.monitoring.free_tool_id(self._tool)

    @override
    def rule(self, rule: Rule, initialize: bool, values: dict[str, Any], resolved: dict[str, Any]) -> None:
        self._take()
        super().rule(rule, initialize, values, resolved)

    @override
    def fault(self, fault: Fault, on: bool) -> None:
        self._take()
        super().fault(fault, on)

    @override
    def ending(self) -> None:
        self._take()  # the lines that follow tear the machine down

    def _take(self) -> None:
        ran, self._ran = self._ran, set()
        step = 1 << len(self.rules) - 1
        for place in ran:
            self.hits[place] = self.hits.get(place, 0) | step


#: Different seeds lead into different parts of a machine.
EXPLORATIONS = 3


class JudgingTrace(msgspec.Struct):
    """A trace that judges.

    Attributes:
        number: its place among all, those with the fewest steps first.
        hits: the steps in which each line runs, as bits.
        seconds, turns: its cost on the original; the turns are those of ``TurnLimit``.
        sketches: the rule and the number of the state after each step.
    """

    number: int
    machine: int
    trace: Trace
    tape: _native.Tape
    hits: dict[tuple[str, int], int]
    seconds: float
    sketches: list[Step]
    turns: int = 0


def drawn(path: str, targets: Sequence[str], *, runs: int, seconds: float, seed: int, say: Say) -> None:
    """Explore a machine, and report the traces that reached something new.

    The number of runs is the limit, so that each search finds the same. The limit in seconds is for machines that take
    very long; a search that it ended is reported as such.
    """
    given = load_class(path)
    for number in range(EXPLORATIONS):
        explorer = Explorer(given, target_modules=targets, seed=seed + number, workers=1)
        result = explorer.run(
            max_runs=max(1, runs // EXPLORATIONS), max_time=seconds / EXPLORATIONS, shrink=False, record_traces=True
        )
        if result.stopped_reason == "time":
            say({"cut short": True})
        for trace in [*result.traces, *(failure.trace for failure in result.failures if failure.trace is not None)]:
            say({"trace": trace.to_json().decode()})


def saved(path: str, folders: Sequence[str]) -> Iterator[Trace]:
    """Yield the traces of a machine in the files below some folders; what cannot be read is left alone."""
    files = [file for folder in folders for file in sorted(Path(folder).rglob("*.json*"))[:FILES_MAX]]
    for file in files:
        try:
            trace = Trace.load(file)
        except TraceError:
            continue
        if trace.test_class == path:
            yield trace


def tapes_of(trace: Trace, bench: TraceReplayer) -> list[_native.Tape]:
    """Return the tape of a trace, and of one that fails a second one without the step that did.

    An old failure may pass today, to its last step. There is none where the trace does not fit the machine.
    """
    try:
        steps = tape_of(trace, bench.driver).steps()
    except TraceError:
        return []
    return [_native.Tape.from_steps(each) for each in (steps, steps[:-1] if trace.failure else []) if each]


def measured(
    bench: TraceReplayer, tapes: Sequence[_native.Tape], paths: set[str], live: LiveFunctions, say: Say
) -> None:
    """Report which tapes run the same way twice, with their lines and times; then what the invariants read.

    Before all, say which attributes are not the same twice: they are not compared.
    """
    good: list[_native.Tape] = []
    turns = TurnLimit(live)
    with bench.running():
        say({"unsteady": bench.unsteady(tapes)})
        for number, tape in enumerate(tapes):
            watch = StepLines(paths)
            watch.start()
            first = bench.sketches(tape, watch)
            watch.stop()
            if first is None or not bench.repeats(tape, first):
                continue
            turns.begin(None)
            began = monotonic()
            if not bench.passes(tape):
                continue
            good.append(tape)
            lines = [[*line, hits] for line, hits in sorted(watch.hits.items())]
            found = {"tape": number, "lines": lines, "seconds": monotonic() - began, "steps": len(first) - 1}
            say({**found, "turns": turns.count, "sketches": first})
        reads, attributes = reads_of(bench, good)
    say({"reads": reads, "attributes": attributes})
