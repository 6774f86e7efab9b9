"""Check 37: a run of the Explorer is a choice sequence that Hypothesis replays step by step, up to its failure."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import __version__, reproduce_failure, settings
from hypothesis import strategies as st
from hypothesis.core import encode_failure
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ordeal.chaos import ChaosTest
from ordeal.errors import TraceError
from ordeal.explore import Explorer
from ordeal.faults import Fault, LambdaFault
from ordeal.trace import Trace, lower, replay, shrink

from . import landmarks, lowering_audit
from .drawn.machines import AUDIT_ERRORS, fail_by_lot, random_machine
from .lowering_audit import STEP_LIMIT, Audit, Replayed, replay_in_hypothesis
from .machines import LoggedMachine
from .runners import RNG_SEED, TIME_LIMIT_S

RUNS = 30
FAILURES = 35
SHRUNK = 4
STEPS = 12


class Market(LoggedMachine):
    """Everything whose layout is easy to get wrong, with each value written into the history."""

    a: Bundle[int] = Bundle("a")
    b: Bundle[int] = Bundle("b")

    def __init__(self) -> None:
        super().__init__()
        self.limit = 0

    def write(self, entry: str) -> None:
        """Add one entry; the letter on top of it only marks the depth."""
        self.history += f"{entry};"
        landmarks.reach(self.history.count(";"))

    @initialize(limit=st.integers(1, 50), label=st.text(max_size=3))
    def open(self, limit: int, label: str) -> None:
        self.limit = limit
        self.write(f"open {limit} {label!r}")

    @initialize(target=a)
    def first(self) -> int:
        self.write("first")
        return -1

    @rule(targets=(a, b), count=st.integers(0, 3))
    def make(self, count: int) -> MultipleResults[int]:
        self.write(f"make {count}")
        return multiple(*range(count))

    @rule(x=consumes(a), y=b)
    def spend(self, x: int, y: int) -> None:
        self.write(f"spend {x} {y}")

    @rule(xs=st.lists(st.one_of(a, st.booleans(), st.none()), max_size=4), ratio=st.floats())
    def mix(self, xs: list[Any], ratio: float) -> None:
        self.write(f"mix {xs} {ratio!r}")

    @rule(data=st.data(), key=st.binary(max_size=3))
    def ask(self, data: st.DataObject, key: bytes) -> None:
        number = data.draw(st.integers(0, self.limit + random.randrange(5)))
        word = data.draw(st.sampled_from("abc")) if number % 2 else None
        self.write(f"ask {number} {word} {key!r}")

    @precondition(lambda self: self.history.count(";") % 3 == 0)
    @rule(x=a, even=st.integers().filter(lambda number: number % 2 == 0))
    def third(self, x: int, even: int) -> None:
        self.write(f"third {x} {even}")


def nothing() -> None:
    """What a fault does that is only looked at."""


class FaultyMarket(Market, ChaosTest):
    """A market with faults that are switched on and off in between."""

    faults: ClassVar[list[Fault]] = [LambdaFault(name, nothing, nothing) for name in ("north", "south", "east")]

    @rule()
    def look(self) -> None:
        self.write(f"look {sorted(fault.name for fault in self.active_faults)}")


class SwarmMarket(FaultyMarket):
    """A faulty market where each run has some of the faults only."""

    swarm = True


class Unlucky(LoggedMachine):
    """Fails within a rule or an invariant."""

    def write(self, entry: str) -> None:
        """Write the entry; it may be the last."""
        self.history += f"{entry};"
        landmarks.reach(self.history.count(";"))
        if entry[0] in "mso":
            fail_by_lot(self.history)

    @invariant(check_during_init=True)
    def lucky(self) -> None:
        fail_by_lot(f"invariant {self.history}")


class UnluckyMarket(Unlucky, Market):
    """Bundles, initialize rules, preconditions, draws in a body, random numbers."""


class UnluckyFaultyMarket(Unlucky, FaultyMarket):
    """The same with three faults."""


class UnluckySwarmMarket(Unlucky, SwarmMarket):
    """Initialize rules on both sides of the one that draws the faults, in Hypothesis' order, which is that of names."""

    @initialize(height=st.floats(0, 1), width=st.floats(0, 1), depth=st.binary(max_size=2))
    def Zone(self, height: float, width: float, depth: bytes) -> None:
        self.write(f"o {height!r} {width!r} {depth!r}")

    @initialize()
    def zoned(self) -> None:
        self.write("o")


class UnluckyWalk(Unlucky):
    """One rule, so that there is none to choose."""

    @rule(far=st.one_of(st.none(), st.integers(), st.tuples(st.booleans(), st.text())))
    def step(self, far: Any) -> None:
        self.write(f"step {far!r}")


class UnluckySwitch(Unlucky, ChaosTest):
    """No rule but one without arguments, and one fault, so that there is none to choose."""

    faults: ClassVar[list[Fault]] = [LambdaFault("only", nothing, nothing)]

    @rule()
    def step(self) -> None:
        self.write(f"step {len(self.active_faults)}")


class UnluckyRunner(Unlucky):
    """Strategies that look at the machine, keep a value for the run, or build on a bundle's values."""

    a: Bundle[list[int]] = Bundle("a")

    @initialize(target=a, numbers=st.lists(st.integers(0, 9), min_size=1), unique=st.sets(st.integers(0, 9)))
    def begin(self, numbers: list[int], unique: set[int]) -> list[int]:
        self.write(f"begin {numbers} {unique}")
        return numbers

    @rule(target=a, numbers=a, size=st.runner().flatmap(lambda self: st.integers(0, len(self.history))))
    def more(self, numbers: list[int], size: int) -> list[int]:
        self.write(f"more {size}")
        return [*numbers, size]

    @rule(one=a.flatmap(st.sampled_from), key=st.shared(st.text(max_size=2), key="key"))
    def some(self, one: int, key: str) -> None:
        self.write(f"some {one} {key!r}")

    @rule(few=st.lists(a, min_size=1, max_size=2), data=st.data())
    def several(self, few: list[list[int]], data: st.DataObject) -> None:
        self.write(f"several {data.draw(st.permutations(few[0]))}")


class Leaking(Market):
    """A market whose bundle must not grow beyond four."""

    @invariant()
    def small(self) -> None:
        if len(self.values("a")) > 4:
            raise LookupError("too many")


def explored(machine: type[LoggedMachine], wanted: int = RUNS) -> list[Trace]:
    """Traces of as many runs as ``wanted``, about half of them from a checkpoint.

    An exploration keeps the traces of those runs that reached something new, so it takes several.
    """
    traces: list[Trace] = []
    for rng_seed in range(RUNS):
        explorer = Explorer(machine, target_modules=[landmarks.__name__], checkpoint_prob=0.5, seed=rng_seed)
        result = explorer.run(
            max_runs=RUNS, max_time=TIME_LIMIT_S, steps_per_run=STEPS, shrink=False, record_traces=True
        )
        assert result.failures == []
        traces += result.traces
        if len(traces) >= wanted:
            break
    return traces


@pytest.mark.parametrize(
    "base", [Market, *(pytest.param(base, marks=pytest.mark.slow) for base in (FaultyMarket, SwarmMarket))]
)
def test_37_every_run_replays_in_hypothesis_with_the_same_history(base: type[Market]) -> None:
    class Machine(base):  # type: ignore[valid-type, misc]
        """One whose histories are its own."""

    traces = explored(Machine)
    original = set(Machine.histories)
    assert len(traces) >= RUNS
    assert any(trace.from_checkpoint is not None for trace in traces)
    for trace in traces:
        assert replay(trace, Machine) is None
        native = Machine.histories[-1]
        choices = lower(trace, Machine)
        assert replay_in_hypothesis(Machine, choices) == Replayed(None, is_exact=True)
        assert native in original
        assert Machine.histories[-1] == native


@pytest.mark.slow
def test_37_the_runs_use_everything_that_must_lower() -> None:
    class Machine(FaultyMarket):
        """One whose histories are its own."""

    explored(Machine)
    text = ";".join(Machine.histories)
    assert all(f"{name} " in text for name in ("open", "make", "spend", "mix", "ask", "third"))
    assert "look ['east', 'north', 'south']" in text
    assert any(history.startswith("first") for history in Machine.histories)
    assert any(history.startswith("open") for history in Machine.histories)


def test_37_a_failure_reproduces_through_the_decorator_of_hypothesis() -> None:
    class Machine(Leaking):
        """One whose histories are its own."""

    explorer = Explorer(Machine, target_modules=[landmarks.__name__], seed=RNG_SEED)
    result = explorer.run(max_runs=200, max_time=TIME_LIMIT_S, steps_per_run=STEPS)
    (failure,) = result.failures
    assert failure.trace is not None
    assert isinstance(replay(failure.trace, Machine), LookupError)
    native = Machine.histories[-1]
    blob = encode_failure(lower(failure.trace, Machine))
    decorated = reproduce_failure(__version__, blob)(Machine)
    with pytest.raises(LookupError, match="too many"):
        run_state_machine_as_test(decorated, settings=settings(stateful_step_count=STEP_LIMIT, database=None))
    assert Machine.histories[-1] == native


def failing(machine: type[LoggedMachine]) -> list[Trace]:
    """Traces of failures, as many as wanted, some of them shrunk as well."""
    traces: list[Trace] = []
    for rng_seed in range(RUNS):
        explorer = Explorer(machine, target_modules=[landmarks.__name__], checkpoint_prob=0.5, seed=rng_seed)
        result = explorer.run(max_runs=RUNS, max_time=TIME_LIMIT_S, steps_per_run=STEPS, shrink=False)
        traces += [failure.trace for failure in result.failures if failure.trace is not None]
        if len(traces) >= FAILURES:
            break
    return [*traces, *(shrink(trace, machine) for trace in traces[:SHRUNK])]


@pytest.mark.parametrize(
    "base", [UnluckyMarket, UnluckyFaultyMarket, UnluckySwarmMarket, UnluckyWalk, UnluckySwitch, UnluckyRunner]
)
def test_37_every_failure_happens_in_hypothesis_alike(base: type[LoggedMachine]) -> None:
    class Machine(base):  # type: ignore[valid-type, misc]
        """One whose histories are its own."""

    traces = failing(Machine)
    assert len(traces) >= FAILURES + SHRUNK
    for trace in traces:
        native = replay(trace, Machine)
        history = Machine.histories[-1]
        replayed = replay_in_hypothesis(Machine, lower(trace, Machine))
        assert replayed.is_exact
        assert (type(replayed.error), Machine.histories[-1]) == (type(native), history)
        assert isinstance(native, AUDIT_ERRORS)


AUDITED = 160
PARTS = 8


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.nightly) for part in range(1, PARTS))])
def test_37_what_machines_made_by_chance_did_happens_in_hypothesis_alike(part: int) -> None:
    audit = Audit()
    for seed in range(part, AUDITED, PARTS):
        audit.add(seed)
    assert audit.mismatches == []
    assert audit.runs >= 3 * AUDITED / PARTS
    assert audit.failures >= AUDITED / PARTS


@pytest.mark.slow
def test_37_a_run_without_a_step_is_none_of_hypothesis() -> None:
    class Machine(Market):
        """One whose histories are its own."""

    trace = explored(Machine, 1)[0]
    with pytest.raises(TraceError, match="the run has no step"):
        lower(replace(trace, steps=[], failure=None), Machine)


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("law", [False, "sizes", "coins"])
def test_37_a_failure_before_the_first_step_happens_in_hypothesis_alike(law: bool | str, early: bool) -> None:
    class Machine(LoggedMachine, ChaosTest):
        swarm = law
        faults: ClassVar[list[Fault]] = [LambdaFault(name, nothing, nothing) for name in ("one", "two")]

        @rule()
        def step(self) -> None:
            self.log("s")

        @invariant(check_during_init=early)
        def holds(self) -> None:
            raise AUDIT_ERRORS[0]

    (failure,) = Explorer(Machine).run(max_runs=3).failures
    assert failure.trace is not None
    replayed = replay_in_hypothesis(Machine, lower(failure.trace, Machine))
    assert replayed.is_exact
    assert type(replayed.error) is AUDIT_ERRORS[0]


def nested(tuples: int) -> st.SearchStrategy[Any]:
    strategy: st.SearchStrategy[Any] = st.booleans()
    for _ in range(tuples):
        strategy = st.tuples(strategy)
    return strategy


@pytest.mark.parametrize(("seeds", "least"), [(20, 10), pytest.param(60, 30, marks=pytest.mark.nightly)])
def test_37_what_nests_too_deeply_for_hypothesis_is_no_run(seeds: int, least: int) -> None:
    @st.composite
    def deep(draw: st.DrawFn) -> Any:
        return draw(nested(draw(st.integers(76, 98))))

    class Machine(LoggedMachine):
        @initialize(value=deep())
        def begin(self, value: Any) -> None:
            self.log("b")

        @initialize(value=deep())
        def prepare(self, value: Any) -> None:
            self.log("p")

        @rule(value=st.integers(76, 98).flatmap(nested))
        def step(self, value: Any) -> None:
            self.log("s")

        @rule(value=deep())
        def leap(self, value: Any) -> None:
            self.log("l")

    replayed = 0
    for seed in range(seeds):
        for trace in lowering_audit.explored(Machine, seed, steps=3):
            assert lowering_audit.compare(Machine, trace, set(Machine.histories)) == ""
            replayed += 1
    assert replayed >= least


def test_37_the_audit_sees_what_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    # A run that ends one choice too soon.
    monkeypatch.setattr(lowering_audit, "lower", lambda trace, machine: lower(trace, machine)[:-1])
    audit = Audit()
    for seed in range(3):
        audit.add(seed)
    assert len(audit.mismatches) == audit.runs > 0


def test_37_a_seed_makes_the_same_machine() -> None:
    made = [random_machine(5).setup_state() for _ in range(2)]
    first, second = ([(rule.function.__name__, sorted(rule.arguments)) for rule in state.rules] for state in made)
    assert first == second
