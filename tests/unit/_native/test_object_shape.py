"""What is remembered of classes for copies, and values of the standard library that need none."""

from __future__ import annotations

import copyreg
import datetime
import decimal
import enum
import fractions
import sys
import tempfile
import uuid
from typing import Any, ClassVar

import pytest

from ordeal._native import deep_copy


def test_a_class_that_changes_after_a_copy_is_looked_at_again() -> None:
    class Base:
        pass

    class Changing(Base):
        pass

    made: Any = Changing()
    made.inner = [1]
    assert deep_copy(made, {}).inner == [1]
    assert deep_copy(made, {}).inner is not made.inner
    Base.__deepcopy__ = lambda self, memo: "hooked"  # type: ignore[attr-defined]
    assert deep_copy(made, {}) == "hooked"
    del Base.__deepcopy__  # type: ignore[attr-defined]
    assert type(deep_copy(made, {})) is Changing
    Changing.__reduce__ = lambda self: (str, ("reduced",))  # type: ignore[method-assign]
    assert deep_copy(made, {}) == "reduced"


def test_a_function_registered_after_a_copy_is_used() -> None:
    class Registered:
        pass

    made: Any = Registered()
    reduce: Any = lambda _: (int, (7,))  # noqa: E731
    assert type(deep_copy(made, {})) is Registered
    copyreg.pickle(Registered, reduce)
    try:
        assert deep_copy(made, {}) == 7
    finally:
        del copyreg.dispatch_table[Registered]
    assert type(deep_copy(made, {})) is Registered


def test_classes_that_come_and_go_are_told_apart() -> None:
    for number in range(50):
        slots = ("inner",) if number % 2 else ("other", "inner")
        cls = type("Passing", (), {"__slots__": slots})
        made = cls()
        made.inner = [number]
        assert deep_copy(made, {}).inner == [number]


class Color(enum.Enum):
    RED = 1


class Constant:
    def __deepcopy__(self, memo: dict[int, Any]) -> Constant:
        return self


class SecondGiven:
    def __deepcopy__(self, memo: dict[int, Any]) -> dict[int, Any]:
        return memo


class AllGiven:
    def __deepcopy__(*given: Any) -> Any:
        return given


def calls_of(copied: Any) -> tuple[Any, list[str]]:
    """Return a copy, and the qualified names of the functions that ran meanwhile."""
    called: list[str] = []
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_qualname) if event == "call" else None)
    try:
        found = deep_copy(copied, {})
    finally:
        sys.setprofile(None)
    return found, called


@pytest.mark.parametrize("value", [Color.RED, Constant()], ids=["member of an enum", "object with such a hook"])
def test_what_says_that_it_is_its_own_copy_is_not_asked_each_time(value: Any) -> None:
    found, called = calls_of([value, {"again": value}])
    assert found[0] is value
    assert found[1]["again"] is value
    assert called == []


def test_other_hooks_are_asked() -> None:
    memo: dict[int, Any] = {}
    second, given = SecondGiven(), AllGiven()
    found: list[Any] = deep_copy([second, given], memo)
    assert found[0] is memo
    assert found[1][0] is given


def test_a_hook_that_comes_to_do_more_is_asked() -> None:
    class Changing:
        def __deepcopy__(self, memo: dict[int, Any]) -> Any:
            return self

    made: Any = Changing()
    assert deep_copy(made, {}) is made
    Changing.__deepcopy__ = lambda self, memo: "another"  # type: ignore[method-assign]
    assert deep_copy(made, {}) == "another"


MOMENT = datetime.datetime(2026, 1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    "value",
    [
        MOMENT,
        MOMENT.date(),
        MOMENT.time(),
        MOMENT.replace(tzinfo=datetime.UTC),
        datetime.timedelta(3),
        uuid.UUID(int=5),
        decimal.Decimal("1.5"),
        fractions.Fraction(1, 3),
    ],
    ids=str,
)
def test_values_of_the_standard_library_are_their_own_copies(value: Any) -> None:
    assert deep_copy([value, value], {}) == [value, value]
    assert deep_copy(value, {}) is value


class Day(datetime.date):
    pass


class Zone(datetime.tzinfo):
    def utcoffset(self, _moment: datetime.datetime | None) -> datetime.timedelta:
        return datetime.timedelta(hours=1)

    def dst(self, _moment: datetime.datetime | None) -> None:
        return None

    def tzname(self, _moment: datetime.datetime | None) -> None:
        return None


def test_what_is_more_than_such_a_value_is_copied() -> None:
    day = Day(2026, 1, 2)
    copied = deep_copy(day, {})
    assert copied == day
    assert type(copied) is Day
    assert copied is not day
    here = MOMENT.replace(tzinfo=Zone())
    elsewhere = deep_copy(here, {})
    assert elsewhere == here
    assert elsewhere.tzinfo is not here.tzinfo


class Connection:
    """Holds the number of a file, and closes that when it goes."""

    closed: ClassVar[list[int]] = []

    def __init__(self, number: int = 7) -> None:
        self.number = number

    def __del__(self) -> None:
        self.closed.append(self.number)


class Reopened(Connection):
    """Says how it is copied."""

    def __reduce__(self) -> Any:
        return Reopened, (8,)


def test_what_ends_something_when_it_goes_is_not_copied() -> None:
    connection = Connection()
    with pytest.raises(TypeError, match="a copy of Connection would end what the original holds"):
        deep_copy([connection], {})
    assert Connection.closed == []
    assert deep_copy(Reopened(), {}).number == 8
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory(dir=name) as inner:
        machine = [tempfile.TemporaryDirectory(dir=inner)]
        with pytest.raises(TypeError, match="finalize"):
            deep_copy(machine, {})
        machine[0].cleanup()


def test_the_error_of_a_metaclass_is_the_error_of_the_copy() -> None:
    class Unhashable(type):
        def __hash__(cls) -> int:
            raise LookupError("no hash")

    class Held(metaclass=Unhashable):
        pass

    with pytest.raises(LookupError, match="no hash"):
        deep_copy([Held()], {})
