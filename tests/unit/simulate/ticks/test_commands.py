"""Commands from dataclasses, attrs and pydantic, with ids of what there is."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, ClassVar, Literal

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordeal.errors import MachineError
from ordeal.simulate.ticks.commands import as_fields, command_types


@dataclasses.dataclass
class MoveBox:
    box_id: int
    to: Literal["shelf", "cart"]
    note: str = dataclasses.field(default="", init=False)


@attrs.define
class Weigh:
    box_id: int
    _grams: int = 0


class Field:
    def __init__(self, annotation: Any, metadata: list[Any]) -> None:
        self.annotation, self.metadata = annotation, metadata


class Model:
    """Has what a model of pydantic has."""

    model_fields: ClassVar[dict[str, Field]] = {"count": Field(int, [st.integers(3, 9)]), "name": Field(str, [])}

    def __init__(self, *, count: int, name: str) -> None:
        self.count, self.name = count, name


@pytest.mark.parametrize("cls", [MoveBox, Weigh, Model])
def test_each_kind_is_made_and_read_back(cls: Any) -> None:
    (kind,) = command_types("M", [cls])

    @settings(max_examples=20, database=None)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        command = kind.draw(data, {})
        again = kind.cls(**as_fields(command))
        assert as_fields(again) == as_fields(command)
        assert cls is not Model or command.count >= 3

    check()


@dataclasses.dataclass
class Return: ...


@dataclasses.dataclass
class HTTPGet2: ...


def test_names_of_rules() -> None:
    kinds = command_types("M", [MoveBox, Weigh, Return, HTTPGet2])
    assert [each.name for each in kinds] == ["move_box", "weigh", "return_", "http_get2"]


def test_most_ids_are_live() -> None:
    (kind,) = command_types("M", [Weigh])
    seen = list[bool]()

    @settings(max_examples=200, database=None)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        seen.append(kind.draw(data, {"box_id": [7, 8]}).box_id in (7, 8))

    check()
    assert 0.7 < sum(seen) / len(seen) < 1


def test_values_that_the_class_refuses_are_no_command() -> None:
    @dataclasses.dataclass
    class Span:
        first: int
        last: int

        def __post_init__(self) -> None:
            if self.first > self.last:
                raise ValueError(self)

    (kind,) = command_types("M", [Span])
    drawn = list[Any]()

    @settings(max_examples=50, database=None)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        drawn.append(kind.draw(data, {}))

    check()
    assert None in drawn
    assert all(each is None or each.first <= each.last for each in drawn)


def test_constraints_of_types_count() -> None:
    @dataclasses.dataclass
    class Wait:
        seconds: Annotated[int, st.integers(1, 3)]

    (kind,) = command_types("M", [Wait])
    values = set[int]()

    @settings(max_examples=50, database=None)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        values.add(kind.draw(data, {}).seconds)

    check()
    assert values == {1, 2, 3}


def test_a_type_without_values_is_refused() -> None:
    @dataclasses.dataclass
    class Odd:
        socket: NoValues

    with pytest.raises(MachineError, match=r"M\.commands has Odd, and no values can be made"):
        command_types("M", [Odd])


class NoValues:
    def __init__(self, given: Any) -> None: ...
