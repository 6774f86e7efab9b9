"""Strategies are compiled, checked and given up, and a run sees little of it. What they draw is in tests/contract."""

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
from hypothesis.errors import InvalidArgument, StopTest, UnsatisfiedAssumption
from hypothesis.stateful import Bundle, RuleBasedStateMachine, VarReference, consumes, rule
from hypothesis.strategies import DrawFn, SearchStrategy

import ordeal._native as _native
from ordeal._hypothesis import strategy_compiler
from ordeal._hypothesis.draws import compile_argument
from ordeal._hypothesis.provider import TapeProvider
from ordeal._hypothesis.strategy_compiler import compile_strategy
from ordeal._hypothesis.tape_data import TapeData
from ordeal.explore import Explorer

DRAWS_BEFORE_COMPILING = 16
DRAWS_PER_AUDIT = 1000


class Context:
    """What a compiled strategy asks of a run."""

    def __init__(self, source: _native.ChoiceSource, machine: Any = None) -> None:
        self.data = TapeData(TapeProvider(source))
        self.machine = machine
        if machine is not None:
            self.data.hypothesis_runner = machine


@pytest.fixture(autouse=True)
def build_context() -> Iterator[None]:
    """The context that strategies ask for while they draw."""
    data = TapeData(TapeProvider(_native.Redraw(0).source))
    with BuildContext(data, is_final=False, wrapped_test=lambda: None):
        yield


class Run:
    """A run in which compiled strategies draw."""

    def __init__(self, seed: int = 0, machine: Any = None) -> None:
        self.redraw = _native.Redraw(seed)
        self.context = Context(self.redraw.source, machine)
        self.draw_context = _native.DrawContext()
        self.draw_context.begin(self.redraw.source, self.context)


def _uncompiled(strategy: SearchStrategy[Any]) -> _native.CompiledStrategy:
    compiled_strategy, _ = compile_argument(strategy)
    assert isinstance(compiled_strategy, _native.CompiledStrategy)
    return compiled_strategy


def _is_compiled(compiled_strategy: _native.CompiledStrategy) -> bool:
    return compiled_strategy.is_compiled  # which changes while it draws


def _compiled(strategy: SearchStrategy[Any]) -> _native.CompiledStrategy:
    compiled_strategy = _uncompiled(strategy)
    assert compiled_strategy.compile()
    return compiled_strategy


def test_a_strategy_is_compiled_once_it_has_been_drawn_a_few_times() -> None:
    compiled_strategy, run = _uncompiled(st.lists(st.integers())), Run()
    for _ in range(DRAWS_BEFORE_COMPILING):
        compiled_strategy(run)
    assert not _is_compiled(compiled_strategy)
    compiled_strategy(run)
    assert _is_compiled(compiled_strategy)
    assert run.draw_context.length == run.context.data.length > 0


# -- what the user wrote ----------------------------------------------------------------------------------------------


def _called(strategy_of: Callable[[list[Any]], SearchStrategy[Any]], draws: int = 60) -> tuple[list[Any], list[Any]]:
    """What is called with what, by Hypothesis and by the compiled strategy."""
    calls = []
    for compiled in (False, True):
        seen: list[Any] = []
        strategy = strategy_of(seen)
        run = Run(3)
        compiled_strategy = _compiled(strategy) if compiled else None
        for _ in range(draws):
            try:
                compiled_strategy(run) if compiled_strategy is not None else run.context.data.draw(strategy)
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
    run.draw_context.end()
    with pytest.raises(RuntimeError, match="after the run"):
        kept[0](st.just(5))


# -- what cannot be compiled ------------------------------------------------------------------------------------------


class Mine(SearchStrategy[int]):
    """A strategy of a user's own."""

    def do_draw(self, data: Any) -> int:
        return int(data.draw_integer(0, 9))


def test_a_part_that_cannot_be_planned_goes_through_hypothesis_within_the_plan() -> None:
    strategy = st.tuples(Mine(), st.lists(Mine(), min_size=1))
    run, by_hypothesis = Run(1), Run(1)
    compiled_strategy = _compiled(strategy)
    assert [compiled_strategy(run) for _ in range(20)] == [by_hypothesis.context.data.draw(strategy) for _ in range(20)]
    assert run.draw_context.length == by_hypothesis.context.data.length


# -- machines ---------------------------------------------------------------------------------------------------------


def _explored(with_plans: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[list[list[Any]], int]:
    """What the rules of a machine with bundles inside strategies drew, by run, and how many were compiled."""
    runs: list[list[Any]] = []
    made: list[object] = []
    compile_really = strategy_compiler.compile_strategy

    def compile_strategy(strategy: SearchStrategy[Any]) -> Any:
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
        patch.setattr(strategy_compiler, "compile_strategy", compile_strategy)
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
        node = _native.bundle_node("names", consumes, draws_references, [(True, shrink)])
        try:
            drawn = node.draw(run.draw_context)
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
        _native.bundle_node("names", False, False, []).draw(Run(0, machine).draw_context)


def test_a_plan_may_be_compiled_anew_while_it_draws() -> None:
    def again(number: int) -> int:
        assert compiled_strategy.compile()
        return number

    compiled_strategy = _compiled(st.lists(st.integers(0, 9).map(again), min_size=3, max_size=3))
    assert len(compiled_strategy(Run())) == 3


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
    redraw = _native.Redraw(1)

    def begun() -> _native.DrawContext:
        strategy_compiler = _native.DrawContext()
        strategy_compiler.begin(redraw.source, SimpleNamespace(data=Unreadable(), machine=None))
        strategy_compiler.set_data(Unreadable())
        _compiled(st.integers(0, 9))(strategy_compiler)
        return strategy_compiler

    def fail() -> NoReturn:
        raise LookupError

    with pytest.raises(LookupError):
        _ = [begun(), fail()]  # the run ends while the exception is on its way


class Owner:
    """Has a compiled strategy, and is where its parts lead."""

    compiled_strategy: _native.CompiledStrategy

    def use(self, *values: object, **named: object) -> object:
        return values or named


NODES: dict[str, Callable[[Owner], _native.StrategyNode]] = {
    "constant": _native.constant_node,
    "sampled": lambda owner: _native.sampled_node((owner, 1), False),
    "position": lambda owner: _native.sampled_node((owner, 1), True),
    "filtered": lambda owner: _native.filtered_sample_node((1, 2), [(True, owner.use)]),
    "transformed": lambda owner: _native.transformed_node(1, [(False, owner.use)]),
    "one of": lambda owner: _native.one_of_node([(_native.constant_node(owner), None)], True),
    "bundles": lambda owner: _native.one_of_node([(_native.constant_node(owner), "names")], True),
    "list": lambda owner: _native.list_node(_native.constant_node(owner), (1, 1, 0.5)),
    "unique": lambda owner: _native.unique_list_node(
        _native.integers_node(0, 9), [owner.use], (0, 1, 0.5), [owner.use], _native.tuple_node([])
    ),
    "unique sample": lambda owner: _native.unique_sample_node((1,), [], (0, 1, 0.5), [owner.use], None, False),
    "tuple": lambda owner: _native.tuple_node([_native.booleans_node(), _native.constant_node(owner)]),
    "permutation": lambda owner: _native.permutation_node((owner, 1)),
    "dictionary": lambda owner: _native.fixed_dictionary_node(
        dict, [("a", _native.constant_node(owner))], [("b", _native.booleans_node())], (0, 1, 0.5), False
    ),
    "map": lambda owner: _native.map_node(_native.booleans_node(), owner.use),
    "filter": lambda owner: _native.filter_node(_native.constant_node(owner), [owner.use]),
    "builds": lambda owner: _native.builds_node(owner.use, [_native.booleans_node()], [("a", _native.booleans_node())]),
    "flatmap": lambda owner: _native.flatmap_node(_native.booleans_node(), owner.use, 1),
    "composite": lambda owner: _native.composite_node(owner.use, (1,), {"a": owner}, 1),
    "runner": lambda owner: _native.runner_node(_native.constant_node(owner)),
    "bundle": lambda owner: _native.bundle_node("names", False, False, [(True, owner.use)]),
    "generic": lambda owner: _native.generic_node(st.just(owner), 1),
}


@pytest.mark.parametrize("kind", NODES)
def test_a_compiled_strategy_that_leads_to_itself_is_freed(kind: str) -> None:
    owner = Owner()
    owner.compiled_strategy = _native.new_compiled_strategy(st.none(), owner.use, NODES[kind](owner))
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_a_part_that_two_plans_share_outlives_the_first() -> None:
    owner = Owner()
    node = _native.map_node(_native.booleans_node(), owner.use)
    one, other = (_native.new_compiled_strategy(st.none(), print, node) for _ in range(2))
    del node, owner
    gc.collect()
    assert one(Run()) in ((False,), (True,))
    del one
    gc.collect()
    assert other(Run()) in ((False,), (True,))


# -- checks -----------------------------------------------------------------------------------------------------------


def test_an_audit_sees_a_plan_that_went_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    given_up: list[str] = []
    monkeypatch.setattr(strategy_compiler, "given_up", given_up)
    monkeypatch.setattr(strategy_compiler, "passes_probe", lambda *_: True)
    monkeypatch.setitem(strategy_compiler._MAKERS, "FloatStrategy", lambda *_: _native.integers_node(0, 9))
    compiled_strategy, run = _compiled(st.floats()), Run()
    for _ in range(DRAWS_PER_AUDIT - 1):
        run.draw_context.length = 0
        compiled_strategy(run)
    assert _is_compiled(compiled_strategy)
    compiled_strategy(run)
    assert not _is_compiled(compiled_strategy)
    assert len(given_up) == 1


def test_an_audit_is_not_seen_by_the_run() -> None:
    compiled_strategy, run = _compiled(st.integers()), Run(5)
    other = Run(5)
    for _ in range(DRAWS_PER_AUDIT + 1):
        run.draw_context.length = other.context.data.length = 0
        assert compiled_strategy(run) == other.context.data.draw(st.integers())
    assert run.draw_context.length == other.context.data.length
    assert run.redraw.source.raw_bits() == other.redraw.source.raw_bits()


def test_what_calls_the_user_is_not_audited() -> None:
    calls: list[int] = []
    compiled_strategy, run = _compiled(st.integers(0, 3).map(calls.append)), Run()
    for _ in range(DRAWS_PER_AUDIT + 1):
        run.draw_context.length = 0
        compiled_strategy(run)
    assert len(calls) == DRAWS_PER_AUDIT + 1


def test_a_run_of_plans_is_collected() -> None:
    class Target:
        pass

    run, target = Run(), Target()
    run.context.machine = target
    run.context.draw_context = run.draw_context  # type: ignore[attr-defined]
    gone = weakref.ref(target)
    _compiled(st.tuples(st.runner(), st.booleans()))(run)
    del run, target
    gc.collect()
    assert gone() is None


def test_a_node_that_does_otherwise_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    given_up: list[str] = []
    monkeypatch.setattr(strategy_compiler, "given_up", given_up)
    assert not strategy_compiler.passes_probe(st.integers(0, 1000), _native.integers_node(0, 999_999))
    (why,) = given_up
    assert why.startswith("integers(min_value=0, max_value=1000) is drawn through Hypothesis")


def test_same_tells_bits_and_types_apart() -> None:
    nan = float("nan")
    assert strategy_compiler.same([nan, {1: (0.0,)}], [float("nan"), {1: (0.0,)}])
    assert not strategy_compiler.same(0.0, -0.0)
    assert not strategy_compiler.same(1, True)
    assert not strategy_compiler.same([1], (1,))
    assert not strategy_compiler.same({1: 2, 3: 4}, {3: 4, 1: 2})
    assert strategy_compiler.same({1, 2}, {2, 1})
    assert not strategy_compiler.same({1, 2}, {1, 3})


np = pytest.importorskip("numpy")
npst = pytest.importorskip("hypothesis.extra.numpy")

RECORD = np.dtype([("number", "i4"), ("flag", "?")])
STRATEGIES: dict[str, SearchStrategy[Any]] = {
    "sparse": npst.arrays(np.int64, 40),
    "two dimensions": npst.arrays(np.float32, (3, 4), elements=st.floats(0, 1, width=32)),
    "one place": npst.arrays(np.uint8, ()),
    "no places": npst.arrays(np.int8, (2, 0)),
    "dense": npst.arrays(np.int16, 5, fill=st.nothing()),
    "another fill": npst.arrays("U4", 6, elements=st.text("ab", max_size=4), fill=st.just("")),
    "unique": npst.arrays(np.int8, 4, unique=True),
    "objects": npst.arrays(object, 4, elements=st.tuples(st.integers(), st.booleans())),
    "records": npst.arrays(RECORD, 3),
    "dates": npst.arrays("M8[s]", 3),
    "some shape": npst.arrays(np.int32, npst.array_shapes(max_dims=2, max_side=4)),
    "some type": npst.arrays(npst.scalar_dtypes(), 3),
    "shapes": npst.array_shapes(),
    "scalars": npst.from_dtype(np.dtype("complex64")),
}
#: Parts of these depend on a choice, and are made in the draw.
MADE_IN_THE_DRAW = {"some shape", "some type"}


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_plan_draws_what_hypothesis_draws(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given_up: list[str] = []
    monkeypatch.setattr(strategy_compiler, "given_up", given_up)
    monkeypatch.setattr(strategy_compiler, "PROBES", 30)
    compiled = compile_strategy(STRATEGIES[name])
    assert compiled is not None
    if name in MADE_IN_THE_DRAW:
        return
    data = TapeData(TapeProvider(_native.Redraw(0).source))
    with BuildContext(data, is_final=False, wrapped_test=lambda: None):
        assert strategy_compiler.passes_probe(STRATEGIES[name], compiled[0]), given_up


def test_a_value_that_does_not_fit_is_an_error() -> None:
    compiled = compile_strategy(npst.arrays(np.int8, 3, elements=st.just(1000), fill=st.nothing()))
    assert compiled is not None
    run = _native.DrawContext()
    redraw = _native.Redraw(1)
    run.begin(redraw.source, strategy_compiler._NoRun(redraw.source))
    with pytest.raises((InvalidArgument, OverflowError)):
        compiled[0].draw(run)
    run.end()
