"""Pairs: what differs between a system and its model is found, said from both sides, shrunk and replayed."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle

from ordeal.errors import MachineError
from ordeal.explore import Explorer
from ordeal.model import DivergenceError, Pair, op
from ordeal.model.call_result import ITEMS_MAX
from ordeal.trace import replay

from ..samples.machines import run

keys = st.integers(0, 5)
no_strategy: Any = 1


class Store(dict[Any, Any]):
    """A correct dictionary."""


class Forgets(Store):
    """Forgets a key when another one is deleted while it has four."""

    def __delitem__(self, key: Any) -> None:
        super().__delitem__(key)
        if len(self) == 3:
            self.popitem()


class StorePair(Pair):
    impl: Any = Store
    model: Any = dict

    @op(key=keys, value=st.integers())
    def put(self, key: int, value: int) -> None:
        self.both("__setitem__", key, value)

    @op()
    def delete(self, key: int = keys) -> None:  # type: ignore[assignment]
        self.both("__delitem__", key)

    @op(key=keys)
    def get(self, key: int) -> None:
        self.both("get", key)

    def view(self) -> tuple[Any, Any]:
        return dict(self.impl), self.model


class ForgetsPair(StorePair):
    impl = Forgets


class RarelyViewed(ForgetsPair):
    every = 1000


@op()
def nothing(self: Pair) -> None: ...


def pair(system: Any, model: Any, **settings: Any) -> Pair:
    """A machine of a pair without operations."""
    sides = {"impl": staticmethod(system), "model": staticmethod(model), "nothing": nothing}
    made: Pair = type("Made", (Pair,), {**sides, **settings})()
    return made


def difference(machine: Pair, *call: Any) -> str:
    with pytest.raises(DivergenceError) as caught:
        machine.both(*call)
    return str(caught.value)


def test_equal_sides_pass_in_both_engines() -> None:
    run(StorePair)
    assert Explorer(StorePair).run(max_runs=200).failures == []


def test_hypothesis_finds_the_difference() -> None:
    with pytest.raises((DivergenceError, ExceptionGroup), match=r"the views differ|distinct failures"):
        run(ForgetsPair, max_examples=300, steps=50, shrink=False)


@pytest.mark.parametrize("machine", [ForgetsPair, RarelyViewed])
def test_the_explorer_finds_shrinks_and_replays_it(machine: type[Pair]) -> None:
    result = Explorer(machine).run(max_runs=300)
    failure = result.failures[0]
    assert failure.trace is not None
    steps = [step.name for step in failure.trace.steps if step.kind == "rule"]
    # The key that was forgotten shows at once, or to the next operation that asks for it.
    assert steps[:5] == ["put"] * 4 + ["delete"]
    assert len(steps) == (6 if machine is RarelyViewed else 5)
    assert isinstance(replay(failure.trace), DivergenceError)


def test_a_difference_is_said_from_both_sides() -> None:
    assert difference(pair(lambda: [1], lambda: [2]), "pop") == (
        "pop(): the system (list) returned 1, but the model (list) returned 2"
    )
    assert difference(pair(dict, lambda: {"a": 1}), "pop", "a") == (
        "pop('a'): the system (dict) raised KeyError: 'a', but the model (dict) returned 1"
    )
    assert difference(pair(lambda: {"a": 1}, dict), "pop", "a") == (
        "pop('a'): the system (dict) returned 1, but the model (dict) raised KeyError: 'a'"
    )


def test_collections_are_compared_item_by_item() -> None:
    machine = pair(lambda: {"a": 1, "b": 2}, lambda: {"a": 3, "c": 4})
    assert difference(machine, "copy").splitlines()[1:] == [
        "  ['a']: 1, in the model 3",
        "  ['b']: only the system has it, 2",
        "  ['c']: only the model has it, 4",
    ]
    assert difference(pair(lambda: [1, 2], lambda: [1, 3, 4]), "copy").splitlines()[1:] == [
        "  2 items, in the model 3",
        "  [1]: 2, in the model 3",
    ]
    assert difference(pair(lambda: {1, 2}, lambda: {2, 3}), "copy").splitlines()[1:] == [
        "  only the system has 1",
        "  only the model has 3",
    ]
    assert difference(pair(lambda: list(range(14)), lambda: [99] * 14), "copy").endswith("\n  and 4 more")


def test_views_that_differ_are_said_from_both_sides() -> None:
    class Differs(Pair):
        impl, model = list, dict
        nothing = nothing

        def view(self) -> tuple[Any, Any]:
            return [1], [2]

    with pytest.raises(DivergenceError) as caught:
        Differs()._views_agree()
    assert str(caught.value) == (
        "after operation the views differ: the system (list) shows [1], but the model (dict) shows [2]\n"
        "  [0]: 1, in the model 2"
    )


def test_an_error_may_be_of_a_derived_class_or_mapped() -> None:
    class MissingError(KeyError): ...

    class OtherError(Exception): ...

    class Raises:
        def __init__(self, error: Exception) -> None:
            self.error = error

        def get(self) -> None:
            raise self.error

    assert pair(lambda: Raises(MissingError()), lambda: Raises(KeyError())).both("get") is None
    assert (
        pair(lambda: Raises(OtherError()), lambda: Raises(KeyError()), errors={OtherError: LookupError}).both("get")
        is None
    )
    other = pair(lambda: Raises(OtherError("x")), lambda: Raises(KeyError("k")))
    assert difference(other, "get") == (
        "get(): the system (Raises) raised OtherError: x, but the model (Raises) raised KeyError: 'k'"
    )
    failed = pair(lambda: Raises(AssertionError("inside")), lambda: Raises(AssertionError("inside")))
    with pytest.raises(AssertionError, match=r"^inside$"):
        failed.both("get")


class Eats(list[Any]):
    """Changes what it is given."""

    def eat(self, food: Any) -> list[Any]:
        eaten = list(food)
        if hasattr(food, "clear"):
            food.clear()
        if isinstance(food, np.ndarray):
            food[:] = 0
        return eaten


@pytest.mark.parametrize(
    "food",
    [
        [1, 2],
        {1: 2},
        {1, 2},
        bytearray(b"12"),
        deque([1, 2]),
        OrderedDict({1: 2}),
        np.array([1, 2]),
        (n for n in (1, 2)),
        BytesIO(b"1\n2\n"),
        ([1],),
    ],
    ids=lambda food: type(food).__name__,
)
def test_each_side_gets_arguments_of_its_own(food: Any) -> None:
    assert pair(Eats, Eats).both("eat", food)
    assert pair(Eats, Eats).both("eat", food=food) is not None


def test_what_is_inside_of_arguments_is_copied_too() -> None:
    machine = pair(list, list)
    machine.both("append", [[1]])
    machine.both(lambda side: side[0][0].append(2))
    assert machine.impl == machine.model == [[[1, 2]]]


def test_other_arguments_are_shared() -> None:
    key = object()
    machine = pair(dict, dict)
    machine.both("__setitem__", key, 1)
    assert machine.both("get", key) == 1


def test_iterators_are_read_and_what_returns_itself_is_equal() -> None:
    class Chained(list[int]):
        def then(self) -> Chained:
            return self

        def __eq__(self, other: object) -> bool:
            return self is other

        __hash__ = None

    pair(Chained, Chained).both("then")
    assert pair(lambda: {1: 2}, lambda: {1: 2}).both("values") == [2]
    assert pair(lambda: [1], lambda: [1]).both("__iter__") == [1]
    assert pair(dict, dict).both(lambda side: (len(side), (side.values(),), iter([1]))) == (0, ([],), [1])


def test_what_an_iterator_gave_before_it_raised_is_compared() -> None:
    def gives(*items: int) -> Any:
        class Gives:
            def items(self) -> Any:
                yield from items
                raise ValueError("over")

        return Gives

    assert pair(gives(1, 2), gives(1, 2)).both("items") is None
    assert difference(pair(gives(1), gives(2)), "items").startswith(
        "items(): the system (Gives) gave [1] and then raised ValueError: over, but the model (Gives) gave [2] and then"
    )


def test_an_iterator_that_raises_at_once_raises_like_a_call() -> None:
    class Lazy:
        def items(self) -> Any:
            yield from range(1 // len(self.__dict__))

    class Eager:
        def items(self) -> Any:
            return 1 // len(self.__dict__)

    assert pair(Lazy, Eager, equal=lambda self, ours, theirs: 1 / 0).both("items") is None


class Later:
    """Can be awaited, and is not a coroutine."""

    def __await__(self) -> Any:
        yield from asyncio.sleep(0).__await__()
        return 1


class Remote:
    async def get(self) -> int:
        return 1

    def later(self) -> Later:
        return Later()

    async def items(self) -> Any:
        yield 1


class Local:
    def get(self) -> int:
        return 1

    def later(self) -> int:
        return 1

    def items(self) -> list[int]:
        return [1]


@pytest.mark.parametrize(("method", "result"), [("get", 1), ("later", 1), ("items", [1])])
def test_what_can_be_awaited_is_awaited(method: str, result: Any) -> None:
    machine = pair(Remote, Local)
    try:
        assert machine.both(method) == result
    finally:
        machine.teardown()


def test_asynchronous_iterators_without_an_end_are_cut() -> None:
    class Endless:
        async def items(self) -> Any:
            while True:
                yield 1

    machine = pair(Endless, Endless)
    try:
        assert len(machine.both("items")) == ITEMS_MAX
    finally:
        machine.teardown()


def test_match_compares_by_its_own_rule() -> None:
    machine = pair(list, list)
    assert machine.match(lambda: 1.0, lambda: 1.01, equal=lambda a, b: abs(a - b) < 0.1) == 1.0
    with pytest.raises(DivergenceError, match=r"operation: the system .* returned 1, but the model .* returned 2"):
        machine.match(lambda: 1, lambda: 2)


def test_a_broken_repr_hides_no_difference() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

        def get(self) -> Any:
            return self if len(self.__dict__) else Broken()

    assert "<Broken, whose repr raises RuntimeError>" in difference(pair(Broken, Broken), "get")


def test_long_arguments_are_cut() -> None:
    text = difference(pair(list, dict), "get", list(range(9_999)))
    assert text.startswith("get([0, 1, 2, 3, ")
    assert len(text) < 1_000


def test_nothing_is_added_to_a_target_when_both_raise() -> None:
    class Stack(Pair):
        impl, model = list, list
        taken: Any = Bundle("taken")
        seen: list[Any] = []  # noqa: RUF012

        @op(target=taken)
        def pop(self) -> Any:
            return self.both("pop")

        @op(value=keys)
        def push(self, value: int) -> None:
            self.both("append", value)

        @op(value=taken)
        def use(self, value: int) -> None:
            self.seen.append(value)

    run(Stack)
    assert Stack.seen
    assert None not in Stack.seen


class Returns(Pair):
    """Each operation returns what came of it, and has no use for it."""

    impl, model = list, list

    @op()
    def push(self, value: int = keys, *more: int, default: int = 7, **named: int) -> Any:  # type: ignore[assignment]
        assert (more, default, named) == ((), 7, {})
        return self.both("append", value)

    @op()
    def pop(self) -> Any:
        return self.both("pop")


def test_what_an_operation_returns_is_dropped_without_a_target() -> None:
    run(Returns)
    assert Explorer(Returns).run(max_runs=50).failures == []


class Unfinished(Pair):
    impl = Store


class Unmade(Pair):
    impl, model = Store, 3


def _set(**settings: Any) -> Any:
    return type("Wrong", (Pair,), {"nothing": nothing, **settings})


def by_position(self: Pair, a: int, /) -> None: ...


def by_name(self: Pair, a: int, b: int, *c: int) -> None: ...


def nothing_to_give(self: Pair) -> None: ...


def _without_strategy() -> Any:
    @op()
    def put(self: Pair, key: int) -> None: ...

    return put


@pytest.mark.parametrize(
    ("use", "message", "hint"),
    [
        (
            Unfinished,
            "Unfinished.model is missing",
            "write for example `impl, model = MyCache, dict` in the class body",
        ),
        (
            Unmade,
            "Unmade.model is 3, which makes nothing",
            "write for example `impl, model = MyCache, dict` in the class body",
        ),
        (lambda: _set(every=0), "Wrong.every is 0", "write a whole number from 1"),
        (
            lambda: _set(errors=[KeyError]),
            "Wrong.errors is [<class 'KeyError'>], not exceptions by exceptions",
            "write the system's on the left: errors = {NotFoundError: KeyError}",
        ),
        (
            lambda: pair(list, list).both("appendd", 1),
            "neither the system (list) nor the model (list) has a method 'appendd'",
            "check the name; an attribute is compared by self.both(lambda side: side.appendd)",
        ),
        (
            lambda: pair(deque, deque).both("maxlen"),
            "neither the system (deque) nor the model (deque) has a method 'maxlen'",
            "check the name; an attribute is compared by self.both(lambda side: side.maxlen)",
        ),
        (
            lambda: op()(Remote.get),
            "Remote.get is a coroutine function",
            "write a plain `def`: what self.both() calls is awaited, and so is what an operation of an oracle returns",
        ),
        (
            lambda: op(a=keys)(by_position),
            "by_position: the parameter 'a' is positional-only, and rules pass arguments by name",
            "leave the `/` out",
        ),
        (lambda: op(b=keys, c=keys)(by_name), "by_name has no parameter 'c'", "it has: a, b"),
        (lambda: op(c=keys)(nothing_to_give), "nothing_to_give has no parameter 'c'", "it has: none"),
        (lambda: op(a=no_strategy, b=keys)(by_name), "by_name: a=1 is not a strategy", "write a=st.just(1)"),
        (lambda: op()(3), "@op() needs a method, got 3", "write @op(...) above a `def`"),
        (
            _without_strategy,
            "_without_strategy.<locals>.put: the parameter 'key' has no strategy",
            "write @op(key=st.integers()), or the like",
        ),
        (
            lambda: _set(impl=list, model=list, view=lambda self: 1)()._views_agree(),
            "Wrong.view() returned 1, not a pair",
            "return two values: what the system shows, and what the model shows",
        ),
    ],
)
def test_wrong_use(use: Any, message: str, hint: str) -> None:
    with pytest.raises(MachineError) as caught:
        use()
    assert (caught.value.message, caught.value.hint) == (message, hint)
