"""Makes a module callable like the function of its name, so that neither can shadow the other."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


def make_callable(module_name: str, function: Callable[..., Any]) -> None:
    """Make the module ``module_name`` callable: a call of it calls ``function``.

    A package cannot have a function and a module of the same name: whichever is imported last wins. When the module is
    callable, it does not matter which one a program gets.
    """
    members = {"__call__": staticmethod(function), "__deepcopy__": lambda module, _memo: module}
    # A class for each module, because Python looks up calls in the class. A machine that holds the module can be
    # copied, like one that holds a function.
    sys.modules[module_name].__class__ = type("CallableModule", (ModuleType,), members)
