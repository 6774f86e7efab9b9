"""How plans are compiled, checked and given up, and what a run sees of them. What they draw is in tests/contract."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.control import BuildContext
from hypothesis.errors import StopTest, UnsatisfiedAssumption
from hypothesis.stateful import Bundle, RuleBasedStateMachine, VarReference, consumes, rule
from hypothesis.strategies import DrawFn, SearchStrategy
from hypothesis.strategies._internal.numbers import FloatStrategy

from ordeal import _native
from ordeal._hypothesis import plan_checks, plans
from ordeal._hypothesis.draws import plan_draw
from ordeal._hypothesis.provider import TapeProvider
from ordeal._hypothesis.tape_data import TapeData
from ordeal.explore import Explorer

DRAWS_BEFORE_COMPILING = 16
DRAWS_PER_AUDIT = 1000


class Context:
    """What a plan asks of a run."""

    def __init__(self, source: _native.ChoiceSource, machine: Any = None) -> None:
        self.data = TapeData(TapeProvider(source))
        self.machine = machine
        if machine is not None:
            self.data.hypothesis_runner = machine


@pytest.fixture(autouse=True)
def build_context() -> Iterator[None]:
    """The context that strategies ask for while they draw."""
    data = TapeData(TapeProvider(_native.Rehearsal(0).source))
    with BuildContext(data, is_final=False, wrapped_test=lambda: None):
        yield


class Run:
    """A run in which plans draw."""

    def __init__(self, seed: int = 0, machine: Any = None) -> None:
        self.rehearsal = _native.Rehearsal(seed)
        self.context = Context(self.rehearsal.source, machine)
        self.plans = _native.PlanRun()
        self.plans.begin(self.rehearsal.source, self.context)


def _plan(strategy: SearchStrategy[Any]) -> _native.Plan:
    plan, _ = plan_draw(strategy)
    assert isinstance(plan, _native.Plan)
    return plan


def _is_planned(plan: _native.Plan) -> bool:
    return plan.planned  # which changes while it draws


def _compiled(strategy: SearchStrategy[Any]) -> _native.Plan:
    plan = _plan(strategy)
    assert plan.compile()
    return plan


def test_one_plain_choice_is_planned_from_the_start_and_takes_no_room() -> None:
    run = Run()
    for strategy in (st.integers(0, 9), st.booleans(), st.just(3), st.sampled_from("abc")):
        plan = _plan(strategy)
        assert plan.planned
        plan(run)
    assert run.plans.length == 0


def test_a_strategy_is_compiled_once_it_has_been_drawn_a_few_times() -> None:
    plan, run = _plan(st.lists(st.integers())), Run()
    for _ in range(DRAWS_BEFORE_COMPILING):
        plan(run)
    assert not _is_planned(plan)
    plan(run)
    assert _is_planned(plan)
    assert run.plans.length == run.context.data.length > 0


@pytest.mark.parametrize("strategy", [st.lists(st.integers()), st.text(), st.tuples(st.floats(), st.booleans())])
def test_it_does_not_matter_when_a_strategy_is_compiled(strategy: SearchStrategy[Any]) -> None:
    late, early = _plan(strategy), _compiled(strategy)
    one, other = Run(7), Run(7)
    for _ in range(3 * DRAWS_BEFORE_COMPILING):
        assert plan_checks.same(late(one), early(other))
    assert one.plans.length == other.plans.length
    assert one.rehearsal.source.raw_bits() == other.rehearsal.source.raw_bits()


def test_without_a_run_of_plans_the_fallback_draws() -> None:
    class Elsewhere:
        plans = None

    plan = _native.new_plan(st.text(), lambda run: ("fallback", run))
    elsewhere = Elsewhere()
    assert plan(elsewhere) == ("fallback", elsewhere)


def test_a_plan_refuses_what_is_no_run() -> None:
    plan, run = _compiled(st.text()), Run()
    run.plans.end()
    with pytest.raises(RuntimeError, match="after its run had ended"):
        plan(run.plans)
    with pytest.raises(AttributeError):
        plan(3)
    with pytest.raises(TypeError, match="takes a run"):
        plan()  # type: ignore[call-arg]


# -- what the user wrote ----------------------------------------------------------------------------------------------


def _called(strategy_of: Callable[[list[Any]], SearchStrategy[Any]], draws: int = 60) -> tuple[list[Any], list[Any]]:
    """What is called with what, by Hypothesis and by the plan."""
    calls = []
    for compiled in (False, True):
        seen: list[Any] = []
        strategy = strategy_of(seen)
        run = Run(3)
        plan = _compiled(strategy) if compiled else None
        for _ in range(draws):
            try:
                plan(run) if plan is not None else run.context.data.draw(strategy)
            except (StopTest, UnsatisfiedAssumption) as ending:
                seen.append(type(ending).__name__)
                break
        calls.append(seen)
    return calls[0], calls[1]


def _noting(seen: list[Any], answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def note(value: Any) -> Any:
        seen.append(value)
        return answer(value)

    return note


def _failing_assumption(number: int) -> int:
    assume(number > 4)
    return number


@pytest.mark.parametrize(
    "strategy_of",
    [
        lambda seen: st.integers(0, 9).map(_noting(seen, str)),
        lambda seen: st.integers(0, 9).filter(_noting(seen, lambda n: n > 4)),
        lambda seen: st.integers(0, 9).map(_noting(seen, _failing_assumption)),
        lambda seen: st.sampled_from(range(20)).filter(_noting(seen, lambda n: n > 15)),
        lambda seen: st.lists(st.integers(0, 500), unique_by=_noting(seen, lambda n: n % 5), max_size=4),
        lambda seen: st.lists(st.integers(0, 5), unique_by=_noting(seen, lambda n: n % 5), max_size=4),
        lambda seen: st.builds(_noting(seen, list), st.tuples(st.booleans())),
        lambda seen: st.integers(0, 3).flatmap(_noting(seen, lambda n: st.integers(0, n))),
    ],
    ids=["map", "filter", "assume", "sampled", "unique", "unique sampled", "builds", "flatmap"],
)
def test_functions_of_the_user_are_called_as_hypothesis_calls_them(
    strategy_of: Callable[[list[Any]], SearchStrategy[Any]],
) -> None:
    by_hypothesis, by_plan = _called(strategy_of)
    assert by_plan == by_hypothesis
    assert by_plan


def test_an_error_of_the_user_comes_out_as_it_is() -> None:
    def fail(number: int) -> int:
        raise LookupError(number)

    with pytest.raises(LookupError):
        _compiled(st.integers(0, 3).map(fail))(Run())


def test_the_draw_of_a_composite_is_of_no_use_after_the_run() -> None:
    kept: list[DrawFn] = []

    @st.composite
    def keeping(draw: DrawFn) -> int:
        kept.append(draw)
        return draw(st.integers(0, 3), label="number")

    run = Run()
    _compiled(keeping())(run)
    assert kept[0](st.just(5)) == 5
    run.plans.end()
    with pytest.raises(RuntimeError, match="after the run"):
        kept[0](st.just(5))


def test_a_draw_refuses_what_it_does_not_know() -> None:
    @st.composite
    def odd(draw: Any) -> Any:
        return draw(st.booleans(), labels="x")

    with pytest.raises(TypeError, match="takes a strategy"):
        _compiled(odd())(Run())


def test_values_are_not_shared_between_draws() -> None:
    run = Run()
    for strategy in (
        st.lists(st.none()),
        st.sets(st.integers()),
        st.dictionaries(st.text(), st.none()),
        st.builds(list),
    ):
        plan = _compiled(strategy)
        values = [plan(run) for _ in range(20)]
        assert len({id(value) for value in values}) == len(values)


def test_each_nan_is_a_value_of_its_own() -> None:
    plan, run = _compiled(st.lists(st.floats(), min_size=100)), Run()
    nans = [value for value in plan(run) if value != value]
    assert len(nans) > 1
    assert len({id(value) for value in nans}) == len(nans)


# -- what cannot be planned -------------------------------------------------------------------------------------------


class Mine(SearchStrategy[int]):
    """A strategy of a user's own."""

    def do_draw(self, data: Any) -> int:
        return int(data.draw_integer(0, 9))


@pytest.mark.parametrize(
    "strategy",
    [Mine(), st.shared(st.integers()), st.randoms(), st.recursive(st.none(), st.lists), st.data()],
    ids=["own", "shared", "randoms", "recursive", "data"],
)
def test_others_are_drawn_through_hypothesis(strategy: SearchStrategy[Any]) -> None:
    plan = _plan(strategy)
    assert not plan.compile()
    plan(Run())


def test_a_part_that_cannot_be_planned_goes_through_hypothesis_within_the_plan() -> None:
    strategy = st.tuples(Mine(), st.lists(Mine(), min_size=1))
    run, by_hypothesis = Run(1), Run(1)
    plan = _compiled(strategy)
    assert [plan(run) for _ in range(20)] == [by_hypothesis.context.data.draw(strategy) for _ in range(20)]
    assert run.plans.length == by_hypothesis.context.data.length


# -- machines ---------------------------------------------------------------------------------------------------------


def _explored(with_plans: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[list[list[Any]], int]:
    """What the rules of a machine with bundles inside strategies drew, run by run, and how many plans were made."""
    runs: list[list[Any]] = []
    made: list[object] = []
    compile_really = plans.compile_plan

    def compile_plan(strategy: SearchStrategy[Any]) -> Any:
        compiled = compile_really(strategy) if with_plans else None
        made.append(compiled)
        return compiled

    class Store(RuleBasedStateMachine):
        names = Bundle("names")

        def __init__(self) -> None:
            super().__init__()
            self.drawn: list[Any] = []
            runs.append(self.drawn)

        @rule(target=names, name=st.text("ab", min_size=1, max_size=2))
        def add(self, name: str) -> str:
            self.drawn.append(name)
            return name

        @rule(some=st.lists(names, min_size=1, max_size=2), other=st.one_of(names, st.just("none")))
        def look(self, some: list[str], other: str) -> None:
            self.drawn.append((some, other))

        @rule(pair=st.tuples(consumes(names), st.runner(), st.none() | st.binary(max_size=3)))
        def take(self, pair: tuple[str, Any, Any]) -> None:
            assert pair[1] is self
            self.drawn.append((pair[0], pair[2]))

    with monkeypatch.context() as patch:
        patch.setattr(plans, "compile_plan", compile_plan)
        result = Explorer(Store, seed=5, checkpoint_prob=0.0).run(max_runs=60, steps_per_run=12)
    assert not result.failures
    return runs, sum(compiled is not None for compiled in made)


def test_plans_change_nothing_that_a_seed_explores(monkeypatch: pytest.MonkeyPatch) -> None:
    with_plans, made = _explored(True, monkeypatch)
    without, none = _explored(False, monkeypatch)
    assert made >= 4
    assert none == 0
    assert with_plans == without


class Named:
    """A machine as far as draws from its bundle see it."""

    def __init__(self, count: int) -> None:
        # Strings of their own, which nothing else keeps alive.
        names = [f"names_{number}" for number in range(count)]
        self.bundles = {"names": [VarReference(name) for name in names]}
        self.names_to_values = {name: [name] for name in names}


@pytest.mark.parametrize("consumes", [False, True])
@pytest.mark.parametrize("left", [0, 1, 4])
@pytest.mark.parametrize("draws_references", [False, True])
def test_a_filter_may_take_values_out_of_its_bundle(consumes: bool, left: int, draws_references: bool) -> None:
    for seed in range(20):
        machine = Named(6)
        references = machine.bundles["names"]

        def shrink(value: list[str], bundle: list[VarReference] = references, seed: int = seed) -> bool:
            del bundle[left:]
            return (len(value[0]) + int(value[0][-1]) + seed) % 3 == 0

        run = Run(seed, machine)
        node = _native.plan_bundle("names", consumes, draws_references, [(True, shrink)])
        try:
            drawn = node.draw(run.plans)
        except StopTest:  # nothing was left to draw
            continue
        assert isinstance(drawn, VarReference) if draws_references else drawn[0].startswith("names_")
        assert len(references) <= left
        if consumes and draws_references:
            assert all(each is not drawn for each in references)


def test_a_bundle_that_is_no_list_is_an_error() -> None:
    machine = Named(1)
    machine.bundles["names"] = ("names_0",)  # type: ignore[assignment]
    with pytest.raises(TypeError, match="bundle 'names' is not a list"):
        _native.plan_bundle("names", False, False, []).draw(Run(0, machine).plans)


def test_a_plan_may_be_compiled_anew_while_it_draws() -> None:
    def again(number: int) -> int:
        assert plan.compile()
        return number

    plan = _compiled(st.lists(st.integers(0, 9).map(again), min_size=3, max_size=3))
    assert len(plan(Run())) == 3


class Unreadable:
    """Hypothesis' data object of a run, in which the length cannot be read."""

    depth, frozen = 0, False

    @property
    def length(self) -> int:
        raise ValueError("unreadable")

    @length.setter
    def length(self, length: int) -> None:
        """Take it."""


def test_the_end_of_a_run_leaves_the_exception_that_ended_it() -> None:
    rehearsal = _native.Rehearsal(1)

    def begun() -> _native.PlanRun:
        plans = _native.PlanRun()
        plans.begin(rehearsal.source, SimpleNamespace(data=Unreadable(), machine=None))
        plans.adopt_data(Unreadable())
        _compiled(st.integers(0, 9))(plans)
        return plans

    def fail() -> NoReturn:
        raise LookupError

    with pytest.raises(LookupError):
        _ = [begun(), fail()]  # the run ends while the exception is on its way


class Owner:
    """Has a plan, and is where its parts lead."""

    plan: _native.Plan

    def use(self, *values: object, **named: object) -> object:
        return values or named


NODES: dict[str, Callable[[Owner], _native.PlanNode]] = {
    "constant": _native.plan_constant,
    "sampled": lambda owner: _native.plan_sampled((owner, 1), False),
    "position": lambda owner: _native.plan_sampled((owner, 1), True),
    "filtered": lambda owner: _native.plan_filtered_sample((1, 2), [(True, owner.use)]),
    "transformed": lambda owner: _native.plan_transformed(1, [(False, owner.use)]),
    "one of": lambda owner: _native.plan_one_of([(_native.plan_constant(owner), None)], True),
    "bundles": lambda owner: _native.plan_one_of([(_native.plan_constant(owner), "names")], True),
    "list": lambda owner: _native.plan_list(_native.plan_constant(owner), (1, 1, 0.5)),
    "unique": lambda owner: _native.plan_unique_list(
        _native.plan_integers(0, 9), [owner.use], (0, 1, 0.5), [owner.use], _native.plan_tuple([])
    ),
    "unique sample": lambda owner: _native.plan_unique_sample((1,), [], (0, 1, 0.5), [owner.use], None, False),
    "tuple": lambda owner: _native.plan_tuple([_native.plan_booleans(), _native.plan_constant(owner)]),
    "permutation": lambda owner: _native.plan_permutation((owner, 1)),
    "dictionary": lambda owner: _native.plan_fixed_dictionary(
        dict, [("a", _native.plan_constant(owner))], [("b", _native.plan_booleans())], (0, 1, 0.5), False
    ),
    "map": lambda owner: _native.plan_map(_native.plan_booleans(), owner.use),
    "filter": lambda owner: _native.plan_filter(_native.plan_constant(owner), [owner.use]),
    "builds": lambda owner: _native.plan_builds(owner.use, [_native.plan_booleans()], [("a", _native.plan_booleans())]),
    "flatmap": lambda owner: _native.plan_flatmap(_native.plan_booleans(), owner.use, 1),
    "composite": lambda owner: _native.plan_composite(owner.use, (1,), {"a": owner}, 1),
    "runner": lambda owner: _native.plan_runner(_native.plan_constant(owner)),
    "bundle": lambda owner: _native.plan_bundle("names", False, False, [(True, owner.use)]),
    "generic": lambda owner: _native.plan_generic(st.just(owner), 1),
}


@pytest.mark.parametrize("kind", NODES)
def test_a_plan_that_leads_to_itself_is_freed(kind: str) -> None:
    owner = Owner()
    owner.plan = _native.new_plan(st.none(), owner.use, NODES[kind](owner))
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_a_part_that_two_plans_share_outlives_the_first() -> None:
    owner = Owner()
    node = _native.plan_map(_native.plan_booleans(), owner.use)
    one, other = (_native.new_plan(st.none(), print, node) for _ in range(2))
    del node, owner
    gc.collect()
    assert one(Run()) in ((False,), (True,))
    del one
    gc.collect()
    assert other(Run()) in ((False,), (True,))


# -- checks -----------------------------------------------------------------------------------------------------------


def test_an_audit_sees_a_plan_that_went_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    given_up: list[str] = []
    monkeypatch.setattr(plan_checks, "given_up", given_up)
    monkeypatch.setattr(plans, "passes_probe", lambda *_: True)
    monkeypatch.setitem(plans._MAKERS, FloatStrategy, lambda *_: _native.plan_integers(0, 9))
    plan, run = _compiled(st.floats()), Run()
    for _ in range(DRAWS_PER_AUDIT - 1):
        run.plans.length = 0
        plan(run)
    assert _is_planned(plan)
    plan(run)
    assert not _is_planned(plan)
    assert len(given_up) == 1


def test_an_audit_is_not_seen_by_the_run() -> None:
    plan, run = _compiled(st.integers()), Run(5)
    other = Run(5)
    for _ in range(DRAWS_PER_AUDIT + 1):
        run.plans.length = other.context.data.length = 0
        assert plan(run) == other.context.data.draw(st.integers())
    assert run.plans.length == other.context.data.length
    assert run.rehearsal.source.raw_bits() == other.rehearsal.source.raw_bits()


def test_what_calls_the_user_is_not_audited() -> None:
    calls: list[int] = []
    plan, run = _compiled(st.integers(0, 3).map(calls.append)), Run()
    for _ in range(DRAWS_PER_AUDIT + 1):
        run.plans.length = 0
        plan(run)
    assert len(calls) == DRAWS_PER_AUDIT + 1


def test_a_run_of_plans_is_collected() -> None:
    class Target:
        pass

    run, target = Run(), Target()
    run.context.machine = target
    run.context.plans = run.plans  # type: ignore[attr-defined]
    gone = weakref.ref(target)
    _compiled(st.tuples(st.runner(), st.booleans()))(run)
    del run, target
    gc.collect()
    assert gone() is None
