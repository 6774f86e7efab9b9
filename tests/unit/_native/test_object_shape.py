"""What is remembered of classes for copies, and values of the standard library that need none."""

from __future__ import annotations

import collections
import copyreg
import datetime
import decimal
import fractions
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


@pytest.mark.parametrize("items", [[], [1, 2, 3], [1, [2], 3]])
def test_queues_keep_their_length_and_order(items: list[Any]) -> None:
    queue = collections.deque(items, maxlen=3)
    copied = deep_copy(queue, {})
    assert copied == queue
    assert copied.maxlen == 3
    assert all(new is not old for new, old in zip(copied, queue, strict=True) if isinstance(old, list))


@pytest.mark.parametrize("value", [1, [1]])
def test_ordered_dictionaries_keep_their_order(value: Any) -> None:
    ordered = collections.OrderedDict(a=value, b=2, c=3)
    ordered.move_to_end("a")
    copied = deep_copy(ordered, {})
    assert list(copied.items()) == list(ordered.items())
    assert type(copied) is collections.OrderedDict
    if isinstance(value, list):
        assert copied["a"] is not value
    copied.move_to_end("b")
    assert list(ordered) == ["b", "c", "a"]


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
