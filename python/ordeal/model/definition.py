"""Reads the class body of a machine that compares: what makes its objects, and the functions it is given.

A function may be written in the class body with ``def``, as a method, or be one from elsewhere that is given by name,
such as ``dump = json.dumps``. Each mistake is a MachineError that says which line to write.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, ClassVar

from hypothesis.stateful import invariant

from ordeal.errors import MachineError
from ordeal.model.operation import OperationMachine


def check_count(cls: type, name: str) -> None:
    """Raise MachineError unless the attribute is a whole number from 1."""
    value = getattr(cls, name)
    if type(value) is not int or value < 1:
        raise MachineError(f"{cls.__name__}.{name} is {value!r}", hint="write a whole number from 1")


def check_errors(cls: Any) -> None:
    """Raise MachineError unless ``cls.errors`` maps exceptions to exceptions."""
    errors: object = cls.errors
    classes = [*errors.keys(), *errors.values()] if isinstance(errors, Mapping) else [None]
    if not all(isinstance(error, type) and issubclass(error, Exception) for error in classes):
        raise MachineError(
            f"{cls.__name__}.errors is {errors!r}, not exceptions by exceptions",
            hint="write the system's on the left: errors = {NotFoundError: KeyError}",
        )


def maker(cls: type, name: str, hint: str) -> Callable[[], Any]:
    """Return what the class body names as maker of an object.

    Raises:
        MachineError: it is missing, or cannot be called.
    """
    factory = inspect.getattr_static(cls, name)
    if isinstance(factory, staticmethod | classmethod):
        factory = factory.__get__(None, cls)
    if not callable(factory):
        what = "is missing" if factory is None else f"is {factory!r}, which makes nothing"
        raise MachineError(f"{cls.__name__}.{name} {what}", hint=hint)
    return factory  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Hook:
    """A function that a machine needs: its name, its parameters, and lines that a user may write."""

    name: str
    parameters: tuple[str, ...]
    #: As an attribute, and as a method with its body.
    attribute: str
    body: str
    #: How many of the last parameters may be left out.
    optional: int = 0

    @property
    def method(self) -> str:
        """The method to write."""
        return f"def {self.name}({', '.join(('self', *self.parameters))}): {self.body}"

    @property
    def hint(self) -> str:
        """What to write in the class body."""
        given = f"`{self.attribute}`, or " if self.attribute else ""
        return f"write {given}`{self.method}` in the class body"

    def adopt(self, cls: type) -> None:
        """Check the function if ``cls`` itself defines it; one from elsewhere is called without the machine.

        Raises:
            MachineError: it is not a function, or takes other arguments.
        """
        given = vars(cls).get(self.name)
        if given is None:
            return
        if isinstance(given, staticmethod):
            self._check(cls, given.__func__, len(self.parameters))
        elif isinstance(given, classmethod):
            self._check(cls, given.__func__, len(self.parameters) + 1)
        elif not callable(given):
            raise MachineError(f"{cls.__name__}.{self.name} is {given!r}, which cannot be called", hint=self.hint)
        elif self._is_method(cls, given):
            self._check(cls, given, len(self.parameters) + 1)
        else:
            self._check(cls, given, len(self.parameters))
            setattr(cls, self.name, staticmethod(given))

    def require(self, cls: type) -> None:
        """Raise MachineError where neither ``cls`` nor a base gives the function."""
        if getattr(cls, self.name, None) is None:
            raise MachineError(f"{cls.__name__}.{self.name} is missing", hint=self.hint)

    def _is_method(self, cls: type, given: Any) -> bool:
        if not isinstance(given, FunctionType):
            return False
        if given.__qualname__ == f"{cls.__qualname__}.<lambda>":
            return given.__code__.co_argcount > len(self.parameters)
        return given.__qualname__ == f"{cls.__qualname__}.{self.name}"

    def _check(self, cls: type, function: Any, count: int) -> None:
        if inspect.isgeneratorfunction(function):
            raise MachineError(f"{cls.__name__}.{self.name} contains `yield`, so it returns nothing", hint=self.hint)
        if not any(takes(function, fewer) for fewer in range(count - self.optional, count + 1)):
            given = " and ".join(f"`{name}`" for name in self.parameters) + " alone" if self.parameters else "nothing"
            name = getattr(function, "__name__", type(function).__name__)
            raise MachineError(
                f"{cls.__name__}.{self.name} cannot be called with {given}: it is {name}{inspect.signature(function)}",
                hint=self.hint,
            )


def takes(function: Any, count: int) -> bool:
    """Return True if ``function`` can be called with ``count`` positional arguments; True if that is unknown."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:
        return True  # written in C
    return True


class ComparingMachine(OperationMachine):
    """A machine with a comparison, ``_compare_views``, that runs at a fixed interval of operations."""

    every: ClassVar[int] = 1
    """The comparison runs at this interval of operations, and at the end of a run."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Raise MachineError if an attribute of the class body cannot be used."""
        super().__init_subclass__(**kwargs)
        check_count(cls, "every")

    def __init__(self) -> None:
        super().__init__()
        self._ops_compared = 0

    @invariant()
    def _views_agree(self) -> None:
        if self._ops % self.every == 0:
            self._compare()

    def teardown(self) -> None:
        """Make the comparison that ``every`` skipped, then end the run."""
        try:
            # An earlier failure is the finding; the views may differ because of it.
            if self._ops != self._ops_compared and sys.exception() is None:
                self._compare()
        finally:
            super().teardown()

    def _compare(self) -> None:
        self._ops_compared = self._ops
        self._compare_views()

    def _compare_views(self) -> None:
        """Raise DivergenceError when what should be equal differs."""
        raise NotImplementedError
