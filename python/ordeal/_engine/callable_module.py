"""Makes a module callable like the function of its name, so that neither can shadow the other."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


def make_callable(module_name: str, function: Callable[..., Any]) -> None:
    """Have a call of the module ``module_name`` call ``function``.

    A package cannot have both a function and a module under one name: whichever is imported last wins. When the module
    is the function, it does not matter which one a program gets.
    """
    members = {"__call__": staticmethod(function), "__deepcopy__": lambda module, _memo: module}
    # A class for each, because Python looks a call up in the class. A machine that holds it can be copied, as one that
    # holds a function can.
    sys.modules[module_name].__class__ = type("CallableModule", (ModuleType,), members)
