"""The invariant itself: a name, a check, and how two of them are one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ordeal._base.limits import LINE_CHARS_MAX
from ordeal.errors import ConfigError

Check = Callable[[Any], object]
"""What decides: it returns None or a true value where the invariant holds, else a text that says what is wrong, or
something false. It may as well raise AssertionError."""


@dataclass(frozen=True)
class Invariant:
    """Something that must hold of a value.

    Calling it checks a value, and raises AssertionError, ``Invariant '<name>' violated: ...``, where it does not hold.

    Args:
        name: what messages call it.
        check: see ``Check``. An empty text counts as a complaint too.

    Raises:
        ConfigError: the name is empty or no text, or the check cannot be called.
    """

    name: str
    check: Check

    def __post_init__(self) -> None:
        name: object = self.name
        if not isinstance(name, str) or not name:
            raise ConfigError(
                f"the name of an invariant is {self.name!r}", hint='write a text, as in Invariant("even", is_even)'
            )
        if not callable(self.check):
            raise ConfigError(
                f"the check of the invariant {self.name!r} is {self.check!r}, which cannot be called",
                hint="give a function of one value that returns whether the invariant holds",
            )

    def __call__(self, value: Any) -> None:
        """Check ``value``. Raises AssertionError where the invariant does not hold."""
        for part in self._parts():
            try:
                verdict = part.check(value)
            except AssertionError as error:
                raise AssertionError(part._violation(str(error) or shown(value))) from error
            if isinstance(verdict, str):
                raise AssertionError(part._violation(verdict))
            if verdict is not None and not verdict:
                raise AssertionError(part._violation(shown(value)))

    def __and__(self, other: Invariant) -> Invariant:
        """Return the invariant that both hold; the message names the one that does not."""
        if not isinstance(other, Invariant):
            return NotImplemented
        return _Both(f"{self.name} & {other.name}", bool, (*self._parts(), *other._parts()))

    def _parts(self) -> tuple[Invariant, ...]:
        return (self,)

    def _violation(self, reason: str) -> str:
        return f"Invariant {self.name!r} violated: {reason}"


@dataclass(frozen=True)
class _Both(Invariant):
    """Several invariants, checked in their order; it checks nothing itself."""

    parts: tuple[Invariant, ...]

    def _parts(self) -> tuple[Invariant, ...]:
        return self.parts


def shown(value: Any) -> str:
    """Return ``value`` as a message shows it: its repr, cut to what a line can hold."""
    text = repr(value)
    return text if len(text) <= LINE_CHARS_MAX else f"{text[:LINE_CHARS_MAX]}..."
