"""The process that makes runs and counts: it answers a request on stdin with the figures as JSON on stdout."""

from __future__ import annotations

import gc
import importlib
import inspect
import sys
import types
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from itertools import starmap
from typing import Any, override

import msgspec
from hypothesis.stateful import RuleBasedStateMachine

import ordeal._native as _native
from ordeal._base.formatting import one_line
from ordeal._base.imports import machinery_places
from ordeal._base.interpreter import send_and_exit, take_request
from ordeal._base.limits import CHILD_MEMORY_MIB, PARTS_MAX
from ordeal._base.live_threads import has_gil
from ordeal._base.memory_limit import limited_memory
from ordeal._base.monitoring_tools import needed_tool, take_tool
from ordeal._base.outside import outside
from ordeal._base.records_used import records
from ordeal._base.trace_file import Trace
from ordeal._engine.execution.bucket import Bucketer
from ordeal._engine.execution.class_path import load_class, load_object, trust
from ordeal._engine.execution.driver import Driver
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.execution.own_names import own_names
from ordeal._engine.execution.recorder import Observer
from ordeal._engine.replay.loading import tape_of
from ordeal._engine.replay.replayer import Replayer
from ordeal._hypothesis.machines import Rule
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal._tools.profile.figures import StepFigures, TestProfile
from ordeal._tools.profile.growth import growth
from ordeal._tools.profile.memory import leaks, trace_memory
from ordeal.errors import OrdealError

_EVENTS = sys.monitoring.events
#: The numbers of steps of a machine's runs, in turn: some leave a small state, others a large one.
LENGTHS = (10, 20, 40, 80, 160)
_SIZED = (list, tuple, dict, set, frozenset)
#: The functions that send over the simulated network, by module and name.
_SENDERS = (("network.transport", "StreamTransport._send"), ("network.datagrams", "DatagramEndpoint.sendto"))
#: Types that lead out of a program's state: their objects are no part of it.
_OUTSIDE = (type, types.ModuleType, types.FunctionType, types.CodeType, types.FrameType)


def main() -> None:
    """Profile the test of the request, and send the answer."""
    request, answers = take_request()
    path = request["test"]
    try:
        answer = _profile(path, request)
    except OrdealError as error:
        answer = TestProfile(path, error=one_line(error.message, limit=500), hint=one_line(error.hint or "", limit=500))
    except Exception as error:  # noqa: BLE001 - code of the user's may raise anything
        answer = TestProfile(path, error=one_line(f"{type(error).__name__}: {error}", limit=500))
    answers.write(msgspec.json.encode(answer))
    send_and_exit(answers)


def _profile(path: str, request: Mapping[str, Any]) -> TestProfile:
    if request["trusted"]:
        trust(path)
    trace = Trace.of_request(request["trace"]) if request["trace"] else None
    if request["memory"]:
        trace_memory()
    found, test, seed = load_object(path), None, request["seed"]
    if not isinstance(found, type):
        # Imported late: most classes have no simulation.
        test = importlib.import_module("ordeal.simulate.runtime.testing").test_of(found)
    subject: _MachineRuns | _SimulationRuns
    subject = _SimulationRuns(test, seed, trace) if test else _MachineRuns(make_driver(load_class(path)), seed, trace)
    runs = 1 if trace else request["runs"]
    with subject.running(), limited_memory(CHILD_MEMORY_MIB), records.replaying(trace) if trace else nullcontext():
        made = TestProfile(path, seed=request["seed"], runs=runs)
        if request["memory"]:
            made.leaks = leaks(lambda: subject.all_runs(Meter(), runs))
            return made
        # The first pass fills caches: its counts are dropped.
        _, instructions, again = [_counted(subject, runs, Instructions()) for _ in range(3)]
        # Without a GIL, nobody can count allocations.
        counted = [_counted(subject, runs, Allocations()) for _ in range(3 if has_gil() else 0)][1:]
    made.steps, made.events, made.messages = instructions.steps, instructions.events, instructions.messages
    for name, costs in instructions.costs.items():
        figures = made.figures[one_line(name)] = StepFigures(calls=len(costs))
        if again.costs[name] != costs or any(each.costs[name] != counted[0].costs[name] for each in counted):
            continue
        figures.instructions = sum(costs)
        figures.allocations = sum(counted[0].costs[name]) if counted else None
        ordered = sorted(instructions.latencies[name])
        p50, p90, p99 = (
            round(ordered[int(share * (len(ordered) - 1))], 9) if ordered else 0.0 for share in (0.5, 0.9, 0.99)
        )
        figures.latency = (p50, p90, p99) if any(ordered) else None
        # A size that is missing before some calls, such as that of a later attribute, explains nothing.
        sizes = {of: each for of, each in instructions.sizes[name].items() if len(each) == len(costs)}
        figures.growth = growth({of: [*zip(each, costs, strict=True)] for of, each in sizes.items()})
    return made


def _counted[M: Meter](subject: _MachineRuns | _SimulationRuns, runs: int, meter: M) -> M:
    # Frozen objects are not looked through again; finalizers that a garbage collection runs would count.
    gc.collect()
    gc.freeze()
    gc.disable()
    with meter.counting():
        subject.all_runs(meter, runs)
    return meter


# -- what counts


class Meter(Observer):
    """The interface of meters, which count what steps cost; this one counts nothing."""

    def __init__(self) -> None:
        self.costs = defaultdict[str, list[int]](list)
        self.sizes = defaultdict[str, dict[str, list[int]]](lambda: defaultdict(list))
        self.latencies = defaultdict[str, list[float]](list)
        self.steps = self.events = self.messages = 0
        self.now: Callable[[], float] | None = None
        """The simulated time, where there is one."""
        self._machine: RuleBasedStateMachine | None = None
        self._step = ""
        self._loop: Any = None

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count during the block."""
        yield

    def start(self) -> None:
        """Begin a step."""

    def stop(self) -> int:
        """End a step, and return what it cost."""
        return 0

    def begin(self, name: str) -> None:
        """Begin a step of this name."""
        self._step = name
        self.steps += 1
        self.start()

    def end(self) -> None:
        """End the step that runs, if one does."""
        if self._step:
            self.costs[self._step].append(self.stop())
            self._step = ""

    @override
    def started(self, machine: RuleBasedStateMachine) -> None:
        self._machine = machine

    @override
    def rule(self, rule: Rule, initialize: bool, values: dict[str, Any], resolved: dict[str, Any]) -> None:
        self._find_clock()
        self.begin(rule.name)

    @override
    def rule_done(self, rule: Rule, result: Any, names: list[list[str]]) -> None:
        self.end()

    @override
    def ending(self) -> None:
        self.end()
        self._find_clock()

    def run_done(self) -> None:
        """Note what the loop of the run has done."""
        self.events += getattr(self._loop, "steps", 0)
        self._loop = self._machine = self.now = None
        gc.collect()

    def _find_clock(self) -> None:
        if self._loop is None:
            self._loop = getattr(getattr(self._machine, "_rule_loop", None), "_loop", None)
            self.now = getattr(self._loop, "time", None)


class Instructions(Meter):
    """Counts instructions of Python code that is not of ordeal or Hypothesis, messages, and how long calls take."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: dict[types.CodeType, str] = {}
        """The code whose simulated time is taken, with the names of the steps."""
        self._counter = _native.LoopCounter(lambda: None)
        self._before = 0
        self._since: dict[int, float] = {}
        self._senders: set[types.CodeType] = set()
        self._beginning: types.CodeType | None = None

    @override
    def rule(self, rule: Rule, initialize: bool, values: dict[str, Any], resolved: dict[str, Any]) -> None:
        sizes = self.sizes[rule.name]
        for name, value in resolved.items():
            # A cost may depend on the number of a value's parts, or on everything inside them.
            if type(value) in _SIZED:
                sizes[f"`{name}`"].append(len(value))
                sizes[f"what `{name}` holds"].append(size_of([value]))
            else:
                sizes[f"`{name}`"].append(value if type(value) is int and value >= 0 else size_of([value]))
        machine = self._machine
        assert machine is not None
        own = own_names(type(machine))
        state = {name: value for name, value in vars(machine).items() if name not in own}
        for name, value in state.items():
            sizes[f"`self.{name}`"].append(size_of([value]))
        sizes["the state"].append(size_of([*state.values()]))
        super().rule(rule, initialize, values, resolved)

    @override
    def start(self) -> None:
        self._before = self._counter.count

    @override
    def stop(self) -> int:
        return self._counter.count - self._before

    @override
    @contextmanager
    def counting(self) -> Iterator[None]:
        self._tool = tool = needed_tool("a profile")
        self._senders = {*filter(None, starmap(_code, _SENDERS))}
        self._beginning = _code("runtime.loop", "SimulationLoop.begin_main")
        monitoring = sys.monitoring
        take_tool(tool, "ordeal profile")
        self._counter.start(0)
        monitoring.register_callback(tool, _EVENTS.INSTRUCTION, self._counter.callback)
        monitoring.register_callback(tool, _EVENTS.PY_START, self._entered)
        for ending in (_EVENTS.PY_RETURN, _EVENTS.PY_UNWIND):
            monitoring.register_callback(tool, ending, self._left)
        monitoring.set_events(tool, _EVENTS.PY_START | (_EVENTS.PY_UNWIND if self.operations else 0))
        try:
            yield
        finally:
            monitoring.set_events(tool, 0)
            monitoring.free_tool_id(tool)

    def _entered(self, code: types.CodeType, _offset: int) -> object:
        if code in self._senders:
            self.messages += 1
            return None
        if code is self._beginning:
            self.events += sys._getframe(1).f_locals["self"].steps  # the loop counts from 0 again
            return None
        if code in self.operations and self.now is not None:
            self._since[id(sys._getframe(1))] = self.now()
        if not code.co_filename.startswith(machinery_places()):
            returns = _EVENTS.PY_RETURN if code in self.operations else 0
            sys.monitoring.set_local_events(self._tool, code, _EVENTS.INSTRUCTION | returns)
        return None if code in self.operations else sys.monitoring.DISABLE

    def _left(self, code: types.CodeType, _offset: int, _value: object) -> None:
        since = self._since.pop(id(sys._getframe(1)), None) if code in self.operations else None
        if since is not None and self.now is not None:
            self.latencies[self.operations[code]].append(self.now() - since)


class Allocations(Meter):
    """Counts the allocations of code that is not of ordeal or Hypothesis."""

    @override
    def start(self) -> None:
        # Objects from a free list, kept from earlier ones of their type, would be missing from the count.
        gc.collect()
        _native.start_allocations(machinery_places())

    @override
    def stop(self) -> int:
        return _native.stop_allocations()[0]


def _code(module: str, name: str) -> types.CodeType | None:
    """Return the code of a function of simulations, None if there are none."""
    holder: Any = sys.modules.get(f"ordeal.simulate.{module}")
    for part in name.split(".") if holder is not None else ():
        holder = getattr(holder, part)
    return getattr(holder, "__code__", None)


def size_of(values: list[object]) -> int:
    """Return how many objects and characters some values hold, without running their code."""
    size, left, seen = 0, list(values), set[int]()
    while left and size < PARTS_MAX:
        each = left.pop()
        if isinstance(each, (str, bytes, bytearray)):
            size += len(each)
        elif id(each) not in seen and not issubclass(type(each), _OUTSIDE):
            seen.add(id(each))
            parts = gc.get_referents(each)
            size += len(parts)
            left += parts
    return size


# -- what runs


class _MachineRuns:
    """The runs of a machine: random ones that follow from a seed, or the run of a trace."""

    def __init__(self, driver: Driver, seed: int, trace: Trace | None) -> None:
        driver.isolated = True
        self._driver, self._seed = driver, seed
        self._randoms = GlobalRandoms()
        self._replayer = Replayer(driver, Bucketer([]), self._randoms)
        self._tape = None if trace is None else tape_of(trace, driver)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Prepare for runs in the block. No watchdog runs, as its signals would count; the process has a time limit."""
        with self._randoms.managed(), outside.watching(self._driver.outside):
            yield

    def all_runs(self, meter: Meter, runs: int) -> None:
        """Make the runs, the same each time."""
        definition = self._driver.definition
        if isinstance(meter, Instructions):
            for each in (*definition.initializers, *definition.rules):
                code = getattr(inspect.unwrap(each.function), "__code__", None)
                if code is not None:
                    meter.operations[code] = each.name
        shape = len(definition.rules), len(definition.initializers), len(self._driver.faults)
        for number in range(runs):
            if self._tape is not None:
                followed = _native.Replay(self._tape)
            else:
                length, seed = LENGTHS[number % len(LENGTHS)], self._seed + number
                followed = _native.Replay(_native.Tape.from_steps([]), _native.Continuation(shape, (), length, seed))
            outcome = self._replayer.follow(followed, meter).outcome
            self._driver.release_error(outcome)
            meter.run_done()


class _SimulationRuns:
    """The runs of a simulated test; each counts as one step."""

    def __init__(self, test: Any, seed: int, trace: Trace | None) -> None:
        self._test, self._seed, self._trace = test, seed, trace

    @contextmanager
    def running(self) -> Iterator[None]:
        """Prepare for runs in the block."""
        yield

    def all_runs(self, meter: Meter, runs: int) -> None:
        """Make the runs, the same each time."""
        name = self._test.name.rpartition(":")[2]
        for number in range(runs):
            meter.begin(name)
            try:
                outcome = self._test.replay(self._trace) if self._trace else self._test.run_seed(self._seed + number)
            finally:
                meter.end()
            meter.latencies[name].append(outcome.simulated_s)
            meter.events += outcome.steps
