"""Lists the modules that a machine's module imports: its author may want to watch them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

_MACHINERY = frozenset({"", "__main__", "_pytest", "_typeshed", "hypothesis", "ordeal", "pytest", "typing_extensions"})
_INSTALL_FOLDERS = frozenset({"site-packages", "dist-packages"})
#: Reads ``__module__`` of a class without running code of its metaclass.
_module_of_class = type.__dict__["__module__"].__get__


def imported_modules(cls: type) -> tuple[str, ...]:
    """Return the modules from which ``cls``'s module has names, sorted, without the standard library and test tools.

    Those of installed packages are returned only where there are no others.
    """
    home = sys.modules.get(cls.__module__)
    if home is None:
        return ()
    names = {name for value in list(vars(home).values()) for name in _home_of(value)}
    foreign = sys.stdlib_module_names | _MACHINERY
    found = sorted(name for name in names if name != cls.__module__ and name.partition(".")[0] not in foreign)
    return tuple(name for name in found if not _is_installed(name)) or tuple(found)


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


def _is_installed(name: str) -> bool:
    module = sys.modules.get(name)
    file = None if module is None else module.__dict__.get("__file__")
    return isinstance(file, str) and not _INSTALL_FOLDERS.isdisjoint(Path(file).parts)
