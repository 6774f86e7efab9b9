"""Which modules of the program the module of a machine imports: what its author may want to have watched."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

_MACHINERY = frozenset({"", "__main__", "_pytest", "_typeshed", "hypothesis", "ordeal", "pytest", "typing_extensions"})
#: The ``__module__`` of a class, whatever its metaclass says: no code of the program is run to ask for it.
_module_of_class = type.__dict__["__module__"].__get__


def imported_modules(cls: type) -> tuple[str, ...]:
    """The modules that the module of ``cls`` has names of, sorted; without the standard library and what runs tests."""
    home = sys.modules.get(cls.__module__)
    if home is None:
        return ()
    names = {name for value in list(vars(home).values()) for name in _home_of(value)}
    return tuple(sorted(name for name in names if name != cls.__module__ and _is_of_program(name)))


def _home_of(value: Any) -> Iterator[str]:
    kind = type(value)
    if issubclass(kind, ModuleType):
        name = value.__dict__.get("__name__")
    elif issubclass(kind, type):
        name = _module_of_class(value)
    elif kind in (FunctionType, BuiltinFunctionType):
        name = value.__module__
    else:
        return
    if isinstance(name, str):
        yield name


def _is_of_program(name: str) -> bool:
    top = name.partition(".")[0]
    return top not in sys.stdlib_module_names and top not in _MACHINERY
