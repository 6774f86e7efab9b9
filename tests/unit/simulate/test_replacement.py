"""Functions are replaced where the program has bound them, for the length of a block, and put back whatever happens."""

from __future__ import annotations

import asyncio
import colorsys
import copy
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, cast

import pytest

import ordeal._native as _native
from ordeal import simulate
from ordeal.simulate.errors import SimulationError
from ordeal.simulate.replacement import (
    BoundPlaces,
    Replacement,
    modules_mark,
    namespace_of,
    program_modules,
)

from ..samples.monitored import MakeModule


class Simulation:
    """Has what stands in: no module may bind it itself, or it is taken for one that came to it inside of a block."""

    patches = 0

    @staticmethod
    def answer(red: float, green: float, blue: float) -> str:
        return "simulated"


type Patch = Replacement[Simulation]


class Holder:
    """Captured the function when it was defined."""

    bound = staticmethod(colorsys.rgb_to_hsv)


def repr_of_type(value: Any) -> str:
    """Return a name for a case, without asking the value."""
    return type(value).__name__


@pytest.fixture
def user(make_module: MakeModule) -> ModuleType:
    """A module that imported it under another name."""
    return make_module("from colorsys import rgb_to_hsv as mine\nother = len", "user_of_colours")


@pytest.fixture
def answering() -> list[str]:
    """Whose blocks are in progress."""
    return []


@pytest.fixture
def patch(user: ModuleType, answering: list[str]) -> Iterator[Patch]:
    places = BoundPlaces(
        {(colorsys, "rgb_to_hsv"): Simulation.answer, (Holder, "bound"): staticmethod(Simulation.answer)}
    )
    yield Replacement(Simulation(), places, answering, "first")
    assert is_simulated(colorsys.rgb_to_hsv, Holder.bound) == [False, False]


def is_simulated(*functions: Any) -> list[bool]:
    return [function is Simulation.answer for function in functions]


def test_it_is_replaced_wherever_it_is_bound_and_put_back(patch: Patch, user: ModuleType, answering: list[str]) -> None:
    with patch as simulation:
        assert is_simulated(colorsys.rgb_to_hsv, user.mine, Holder.bound) == [True, True, True]
        assert user.other is len
        assert (answering, simulation.patches) == (["first"], 1)
    assert is_simulated(colorsys.rgb_to_hsv, user.mine, Holder.bound) == [False, False, False]
    assert isinstance(vars(Holder)["bound"], staticmethod)
    assert (answering, simulation.patches) == ([], 0)


def test_an_error_of_the_block_comes_out_with_everything_put_back(
    patch: Patch, user: ModuleType, answering: list[str]
) -> None:
    with pytest.raises(LookupError), patch:
        raise LookupError
    assert is_simulated(colorsys.rgb_to_hsv, user.mine, Holder.bound) == [False, False, False]
    assert answering == []


def test_it_may_be_entered_again_and_not_twice_at_once(patch: Patch, user: ModuleType) -> None:
    for _ in range(2):
        with patch:
            assert is_simulated(user.mine) == [True]
            with pytest.raises(SimulationError, match="in place already") as caught:
                patch.__enter__()
            assert caught.value.hint == "call patch() again for a second block"
            assert is_simulated(user.mine) == [True]


@pytest.mark.parametrize("first", [0, 1])
def test_blocks_of_the_same_places_are_left_in_any_order(
    patch: Patch, user: ModuleType, answering: list[str], first: int
) -> None:
    both = patch, Replacement(Simulation(), patch._places, answering, "other")
    for each in both:
        each.__enter__()
    both[first].__exit__(None, None, None)
    assert is_simulated(colorsys.rgb_to_hsv, user.mine) == [True, True]
    both[1 - first].__exit__(None, None, None)
    assert is_simulated(colorsys.rgb_to_hsv, user.mine) == [False, False]
    assert answering == []


def test_a_module_that_was_imported_inside_keeps_nothing(patch: Patch, make_module: MakeModule) -> None:
    with patch:
        late = make_module("from colorsys import rgb_to_hsv", "late_user_of_colours")
        assert is_simulated(late.rgb_to_hsv) == [True]
    assert is_simulated(late.rgb_to_hsv) == [False]


def test_a_module_that_came_between_two_blocks_is_found(patch: Patch, make_module: MakeModule) -> None:
    with patch:
        pass
    late = make_module("from colorsys import rgb_to_hsv", "late_user_of_colours")
    with patch:
        assert is_simulated(late.rgb_to_hsv) == [True]
    assert is_simulated(late.rgb_to_hsv) == [False]


def test_what_somebody_else_put_there_is_left_and_told_of(patch: Patch, user: ModuleType) -> None:
    with pytest.raises(SimulationError, match=r"replaced user_of_colours\.mine inside") as caught, patch:
        user.mine = len  # type: ignore[attr-defined]
    assert user.mine is len
    assert "undo the other replacement" in str(caught.value.hint)


def test_an_error_of_the_block_is_not_hidden_by_that(patch: Patch, user: ModuleType) -> None:
    def act() -> None:
        user.mine = len  # type: ignore[attr-defined]
        raise LookupError

    with pytest.raises(LookupError), patch:
        act()


def test_what_runs_the_test_and_the_standard_library_are_left_alone(
    patch: Patch, monkeypatch: pytest.MonkeyPatch
) -> None:
    late: list[Any] = [ModuleType("hypothesis.late"), ModuleType("json.late")]
    for module in late:
        module.mine = colorsys.rgb_to_hsv
        monkeypatch.setitem(sys.modules, module.__name__, module)
    with patch:
        assert is_simulated(*(module.mine for module in late)) == [False, False]


def test_a_patch_is_not_copied_with_its_machine(patch: Patch) -> None:
    with pytest.raises(SimulationError, match="cannot be copied") as caught:
        copy.deepcopy(patch)
    assert "enter its patch() in each rule" in str(caught.value.hint)


class SaysItIsAModule:
    """As an object that cffi builds."""

    __class__ = ModuleType  # type: ignore[assignment]

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return ModuleType
        raise AttributeError(name)


class Lazy(ModuleType):
    """Loads itself when it is asked for anything, which is not to happen."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"it was asked for {name}")


class WithoutNames(ModuleType):
    """Says that it holds nothing, and takes nothing."""

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("no names")

    def __setattr__(self, name: str, value: Any) -> None:
        raise RuntimeError("read only")


@pytest.mark.parametrize("odd", [object(), None, 0, "text", SaysItIsAModule(), ModuleType], ids=repr_of_type)
def test_what_is_no_module_in_the_table_of_modules_is_passed_over(
    patch: Patch, monkeypatch: pytest.MonkeyPatch, odd: Any
) -> None:
    before = modules_mark()
    monkeypatch.setitem(sys.modules, "odd_entry", odd)
    assert modules_mark() != before
    assert "odd_entry" not in dict(program_modules())
    assert "__main__" in dict(program_modules())
    with patch:
        pass
    for name in ("anyio", "numpy.random"):
        monkeypatch.setitem(sys.modules, name, odd)
    assert simulate.run(_nothing) == 1


async def _nothing() -> int:
    await asyncio.sleep(1)
    return 1


@pytest.mark.parametrize("kind", [Lazy, WithoutNames])
def test_a_module_that_does_not_answer_is_reached_all_the_same(
    patch: Patch, monkeypatch: pytest.MonkeyPatch, kind: type[ModuleType]
) -> None:
    odd = kind("odd_module")
    names = cast("dict[str, Any]", namespace_of(odd))
    names["mine"] = real = colorsys.rgb_to_hsv
    monkeypatch.setitem(sys.modules, "odd_module", odd)
    with patch:
        assert is_simulated(names["mine"]) == [True]
        names["late"] = Simulation.answer
        monkeypatch.setitem(sys.modules, "and_another", ModuleType("and_another"))
    assert names["mine"] is names["late"] is real
    with pytest.raises(SimulationError, match=r"replaced odd_module\.mine"), patch:
        names["mine"] = len
    assert simulate.run(_nothing) == 1


def test_for_methods_alone_no_module_is_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordeal.simulate.replacement.program_modules", lambda: pytest.fail("it looked"))
    replacement, original = staticmethod(len), vars(Holder)["bound"]
    places = BoundPlaces({(Holder, "bound"): replacement})
    places.enter()
    assert vars(Holder)["bound"] is replacement
    assert places.leave() == []
    assert vars(Holder)["bound"] is original


def test_a_module_that_has_two_names_is_put_back_as_well(
    patch: Patch, user: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `__main__` has, once multiprocessing is imported."""
    monkeypatch.setitem(sys.modules, "__second_name__", user)
    with patch:
        assert is_simulated(user.mine) == [True]
    assert is_simulated(user.mine) == [False]


def test_what_was_deleted_inside_of_a_block_counts_as_replaced_by_another(user: ModuleType) -> None:
    real = user.mine
    places = [(user, "mine", vars(user), Simulation.answer), (Holder, "bound", vars(Holder), Simulation.answer)]
    bound = vars(Holder)["bound"]
    originals = _native.replace_at(places)
    assert originals == [real, bound]
    del user.mine
    assert _native.restore_at(places, originals) == [0]
    assert vars(Holder)["bound"] is bound
    vars(user)["mine"] = real
