"""Makes a module callable like the function of its name, so that neither can shadow the other."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, overload

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ordeal.quickcheck import biased


def make_callable(module_name: str, function: Callable[..., Any]) -> None:
    """Have a call of the module ``module_name`` call ``function``.

    A package cannot have both a function and a module under one name: whichever is imported last wins. When the module
    is the function, it does not matter which one a program gets.
    """
    members = {"__call__": staticmethod(function), "__deepcopy__": lambda module, _memo: module}
    # A class for each, because Python looks a call up in the class. A machine that holds it can be copied, as one that
    # holds a function can.
    sys.modules[module_name].__class__ = type("CallableModule", (ModuleType,), members)


class Buggify(Protocol):
    """What ``ordeal.buggify`` offers, called and as a module; for type checkers, which know no callable modules."""

    def __call__(self, probability: float | None = None) -> bool:
        """See ``ordeal.buggify.buggify``."""

    def buggify(self, probability: float | None = None) -> bool:
        """See ``ordeal.buggify.buggify``."""

    def buggify_value[Value](self, normal: Value, faulty: Value, probability: float | None = None) -> Value:
        """See ``ordeal.buggify.buggify_value``."""

    def activate(self, probability: float = 0.1) -> None:
        """See ``ordeal.buggify.activate``."""

    def activated(self, probability: float = 0.1, *, seed: int | None = None) -> AbstractContextManager[None]:
        """See ``ordeal.buggify.activated``."""

    def deactivate(self) -> None:
        """See ``ordeal.buggify.deactivate``."""

    def set_seed(self, seed: int) -> None:
        """See ``ordeal.buggify.set_seed``."""

    def is_active(self) -> bool:
        """See ``ordeal.buggify.is_active``."""


class QuickcheckFunction(Protocol):
    """The function ``ordeal.quickcheck.quickcheck``."""

    @overload
    def __call__(self, fn: Callable[..., None], /) -> Callable[..., None]: ...
    @overload
    def __call__(
        self, fn: None = None, /, *, max_examples: int = 100, **overrides: SearchStrategy[Any]
    ) -> Callable[[Callable[..., None]], Callable[..., None]]: ...


class Quickcheck(QuickcheckFunction, Protocol):
    """What ``ordeal.quickcheck`` offers, called and as a module; for type checkers."""

    quickcheck: QuickcheckFunction
    biased: Biased

    def strategy_for_type(self, tp: Any) -> SearchStrategy[Any]:
        """See ``ordeal.quickcheck.strategy_for_type``."""


if TYPE_CHECKING:

    class Biased:
        """The functions of ``ordeal.quickcheck.biased``."""

        integers = staticmethod(biased.integers)
        floats = staticmethod(biased.floats)
        strings = staticmethod(biased.strings)
        bytes_ = staticmethod(biased.bytes_)
        lists = staticmethod(biased.lists)
