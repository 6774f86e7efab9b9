"""Which finalizers only set attributes of their own object, and may run in a copy that goes away."""

from __future__ import annotations

import os
import pathlib
from typing import ClassVar

import pytest

from ordeal._engine.execution.finalizers import touches_only_itself
from ordeal._native import deep_copy, judge_finalizers


class Closing:
    """As file systems in memory are."""

    is_closed = False

    def __init__(self) -> None:
        self.root: list[int] | None = [1]

    def __del__(self) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        self.is_closed = True


class Dropping(Closing):
    def close(self) -> None:
        if not self.is_closed and self.root is not None:
            del self.root
        return super(Dropping, self).close()  # noqa: UP008 - one of two ways


class Slotted:
    __slots__ = ("root",)

    def __init__(self) -> None:
        self.root: list[int] | None = [1]

    def __del__(self) -> None:
        self.root = None


class Calling(Closing):
    def close(self) -> None:
        os.close(9)


class Telling(Closing):
    closed: ClassVar[list[int]] = []

    def close(self) -> None:
        self.closed.append(1)


class Reaching(Closing):
    def close(self) -> None:
        assert self.root is not None
        self.root[0] = 2


class Taking(Closing):
    def close(self, *others: object) -> None:
        self.is_closed = bool(others)


class Asking(Closing):
    def close(self) -> None:
        self.is_closed = self.asked

    @property
    def asked(self) -> bool:
        return pathlib.Path("x").exists()


class Hooked(Closing):
    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


class Endless(Closing):
    def close(self) -> None:
        self.close()


class Missing(Closing):
    def close(self) -> None:
        self.release()  # type: ignore[attr-defined]


class Choosing(Closing):
    """Calls what an attribute holds, which is not a method."""

    def __init__(self) -> None:
        super().__init__()
        self.ended, self.kept = os.getpid, os.getpid

    def close(self) -> None:
        (self.ended if self.is_closed else self.kept)()


class Making(Closing):
    def close(self) -> None:
        Making()


def enclosed() -> type:
    closed: list[int] = []

    class Enclosed(Closing):
        def close(self) -> None:
            finish()

    def finish() -> None:
        closed.append(1)

    return Enclosed


@pytest.mark.parametrize("cls", [Closing, Dropping, Slotted])
def test_what_only_sets_attributes_of_its_own_does_no_harm_and_is_copied(cls: type[Closing]) -> None:
    assert touches_only_itself(cls)
    judge_finalizers(touches_only_itself)
    original = cls()
    copied = deep_copy(original, {})
    assert copied.root == [1]
    assert copied.root is not original.root
    del copied
    assert original.root == [1]


@pytest.mark.parametrize(
    "cls",
    [Calling, Telling, Reaching, Taking, Asking, Hooked, Endless, Missing, Choosing, Making, enclosed()],
    ids=lambda cls: cls.__name__,
)
def test_what_may_do_anything_else_is_not(cls: type) -> None:
    assert not touches_only_itself(cls)
