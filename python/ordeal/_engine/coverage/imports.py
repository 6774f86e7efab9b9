"""Lists the modules that a machine's module imports: its author may want to watch them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType

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
    names: list[object] = []
    for value in list(vars(home).values()):
        kind = type(value)
        if issubclass(kind, ModuleType):
            names.append(value.__dict__.get("__name__"))
        elif issubclass(kind, type):
            names.append(_module_of_class(value))
        elif kind in (FunctionType, BuiltinFunctionType):
            names.append(value.__module__)
    foreign = sys.stdlib_module_names | _MACHINERY
    texts = sorted({name for name in names if isinstance(name, str)})
    found = [name for name in texts if name != cls.__module__ and name.partition(".")[0] not in foreign]
    own = []
    for name in found:
        file = getattr(sys.modules.get(name), "__dict__", {}).get("__file__")
        if not isinstance(file, str) or _INSTALL_FOLDERS.isdisjoint(Path(file).parts):
            own.append(name)
    return tuple(own or found)
