"""Turns a class path such as ``tests.test_chaos:MyServiceChaos`` into the machine, or its factory, that it names."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import pkgutil
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn
from unittest import TestCase
from weakref import WeakKeyDictionary

from hypothesis.stateful import RuleBasedStateMachine

from ordeal._base import untrusted
from ordeal._base.formatting import describe_error
from ordeal._base.machine_files import folders_below, machines_nearby
from ordeal._base.python_source import leads_to
from ordeal._hypothesis.definition_checks import hint_for_definition
from ordeal._hypothesis.internals import skip_types
from ordeal.config.options import DEFAULT_PATH
from ordeal.errors import ConfigError, MachineError, OrdealError, SkippedError
from ordeal.stateful.test_case import AnyMachine, GenericStateMachine

#: The path by which each class was loaded: of several names for it, the one in the settings is used.
_loaded: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

_EXAMPLE = "`tests.test_chaos:MyServiceChaos`"
#: Where a module is imported, and where one that ends the process is stopped.
_OWN_FILES = (__file__, untrusted.__file__, contextlib.__file__, importlib.__file__)
#: The functions that may be called to make machines, and their class paths.
_trusted: set[object] = set()


def trust(function: object) -> None:
    """Let ``load_class`` return ``function``, which the user named, as an object or by its class path."""
    _trusted.add(function)


def is_trusted(path: str) -> bool:
    """Return True if a function at this class path may be called: for a process that is to load it."""
    return path in _trusted


def trust_settings(path: Path) -> None:
    """Trust the functions that a project's own settings name, if there are settings."""
    with suppress(ConfigError):
        for test in importlib.import_module("ordeal.config.settings_file").load_config(path).tests:
            trust(test.class_path)


def load_class(path: str) -> Callable[[], AnyMachine]:
    """Import the module and return the class of ``module.path:ClassName``, or the function that makes its machines.

    Raises ``ConfigError`` for a malformed path, and ``MachineError`` when the module cannot be imported or has no such
    class, or the class is neither a rule machine nor a generic one. What a function makes is not checked. A function is
    returned only when it is trusted: a path may come from a file, which must not be able to call anything.
    """
    module_name, name = split_class_path(path)
    found = _find(_import(module_name, name), module_name, name)
    factory: Callable[[], AnyMachine] = _machine_factory(found, path)
    with suppress(TypeError):  # not every callable object can be referred to weakly
        _loaded[factory] = path
    return factory


def load_object(path: str) -> Any:
    """Import the module and return the object that ``module.path:name`` names. Nothing of it is called.

    Raises ``ConfigError`` for a malformed path, and ``MachineError`` when the module or name does not exist.
    """
    module_name, name = split_class_path(path)
    return _find(_import(module_name, name), module_name, name)


def is_loaded(found: Any) -> bool:
    """Return True if ``load_class`` returned this: it was named by a path, not given as an object."""
    try:
        return found in _loaded
    except TypeError:
        return False


def path_of(found: Any) -> str:
    """Return ``module:Class`` of a class or function: the path by which it was loaded, else one that leads to it.

    A class made by a library has that library's ``__module__``; then a module that has a name for it is searched for.
    """
    loaded = _loaded.get(found)
    if loaded is not None:
        return loaded
    home, name = found.__module__, found.__qualname__
    if "<" in name or leads_to(home, name, found):
        return f"{home}:{name}"
    loaded_now: dict[str, Any] = dict(sys.modules)
    modules = [(name, each) for name, each in loaded_now.items() if isinstance(each, ModuleType)]
    places = [f"{at}:{key}" for at, module in modules for key, value in list(vars(module).items()) if value is found]
    return min(places, key=lambda path: (path.startswith("__main__:"), path), default=f"{home}:{name}")


def split_class_path(path: str) -> tuple[str, str]:
    """Return module and class name of a class path, without importing anything.

    Raises ``ConfigError`` when the path does not have the form ``module.path:ClassName``.
    """
    module_name, colon, name = path.partition(":")
    dotted = all(part.isidentifier() for part in f"{module_name}.{name}".split("."))
    if not colon or not dotted:
        raise ConfigError(
            f"`{path}` is not a class path", hint=f"write it as `module.path:ClassName`, such as {_EXAMPLE}"
        )
    return module_name, name


def _import(name: str, wanted: str) -> ModuleType:
    try:
        # Find modules too that were written after the import system last read their folder.
        importlib.invalidate_caches()
        reach_test_file(name)
        with untrusted.ExitRefused():
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or name
        if missing != name and not name.startswith(f"{missing}."):
            _refuse_import(name, error)
        parent, _, last = missing.rpartition(".")
        folders = getattr(sys.modules.get(parent), "__path__", None) if parent else [str(Path.cwd())]
        siblings = [found.name for found in pkgutil.iter_modules(folders)] if folders is not None else []
        if close := get_close_matches(last, siblings, n=1):
            hint = f"did you mean `{f'{parent}.' if parent else ''}{close[0]}`?"
        else:
            hint = "run `ordeal` in the folder that holds the package, or install the package"
            nearby = machines_nearby(wanted)
            hint = f"{hint}; {nearby}" if nearby else hint
        raise MachineError(f"no module named `{missing}`", hint=hint) from None
    except skip_types() as skip:
        raise SkippedError(f"importing `{name}` asks to be skipped: {describe_error(skip)}") from None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        _refuse_import(name, error)


def _refuse_import(name: str, error: BaseException) -> NoReturn:
    message = f"importing `{name}` raised {describe_error(error)}"
    own = error.hint if isinstance(error, OrdealError) else hint_for_definition(error)
    hint = own or f"`python -c 'import {name}'` shows the whole traceback"
    place = ""
    if isinstance(error, SyntaxError) and error.filename:
        place = f"{_relative(error.filename)}:{error.lineno}"
    else:
        frames = traceback.extract_tb(error.__traceback__)
        users = [f for f in frames if not f.filename.startswith("<frozen ") and f.filename not in _OWN_FILES]
        # A virtual environment is often inside the project.
        paths = [(f, Path(f.filename)) for f in users]
        inside = [f for f, path in paths if path.is_relative_to(Path.cwd()) and "site-packages" not in path.parts]
        # The innermost frame may be deep in a library; the user's line that led there is more useful.
        for frame in (inside or users)[-1:]:
            place = f"{_relative(frame.filename)}:{frame.lineno}"
    raise MachineError(f"{message} ({place})" if place else message, hint=hint) from None


def _relative(filename: str) -> str:
    path = Path(filename)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else filename


def _find(module: ModuleType, module_name: str, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part) and module_name == "__main__":
            problem = f"`{name}` was defined in a script that was run, where nothing else can import it"
            raise MachineError(f"{problem}: move the class into a module and explore it there")
        if not hasattr(found, part):
            classes = [(key, value) for key, value in vars(module).items() if isinstance(value, type)]
            machines = [
                key
                for key, cls in classes
                if not {RuleBasedStateMachine, GenericStateMachine}.isdisjoint(cls.__mro__[1:])
                # ChaosTest itself, imported for subclassing, has no rules.
                and not getattr(cls, "__module__", "").startswith("ordeal.")
            ]
            if close := get_close_matches(name, machines, n=1):
                hint = f"did you mean `{module_name}:{close[0]}`?"
            elif machines:
                hint = f"rule machines in `{module_name}`: {', '.join(machines)}"
            else:
                hint = f"`{module_name}` defines no ChaosTest and no other RuleBasedStateMachine"
                nearby = machines_nearby(name, getattr(module, "__path__", ()))
                hint = f"{hint}; {nearby}" if nearby else hint
            raise MachineError(f"`{module_name}` has no `{name}`", hint=hint)
        found = getattr(found, part)
    return found


def is_named(given: object) -> bool:
    """Return True if ``given`` itself has a class path.

    A class, a function, or what was loaded by one, such as a partial.
    """
    if isinstance(given, type) or inspect.isfunction(given):
        return True
    return is_loaded(given)


def _machine_factory(found: Any, path: str) -> Any:
    if isinstance(found, type) and issubclass(found, RuleBasedStateMachine | GenericStateMachine):
        return found
    if isinstance(found, AnyMachine):
        kind = type(found)
        hint = f"name the class, `{kind.__module__}:{kind.__qualname__}`"
        raise MachineError(f"`{path}` is an instance of {kind.__name__}, not the class", hint=hint)
    if callable(found) and not isinstance(found, type):
        is_trusted = path in _trusted
        with suppress(TypeError):  # without a hash, it cannot have been named
            is_trusted = is_trusted or found in _trusted
        if not is_trusted:
            sort = "function" if inspect.isfunction(found) else type(found).__name__
            raise MachineError(
                f"`{path}` is a {sort}, which ordeal calls only if your settings name it",
                hint=f'add `class = "{path}"` below `[[tests]]` in {DEFAULT_PATH}, or name the class of the machine',
            )
        return found
    if isinstance(found, type) and issubclass(found, TestCase):
        hint = "name the rule machine itself, the class whose `.TestCase` this is"
        raise MachineError(f"`{path}` is a TestCase, not a rule machine", hint=hint)
    what = f"the class {found.__name__}" if isinstance(found, type) else f"of type {type(found).__name__}"
    hint = "name a subclass of ordeal.ChaosTest or of hypothesis.stateful.RuleBasedStateMachine"
    raise MachineError(f"`{path}` is {what}, not a rule machine", hint=hint)


# -- test files, imported like pytest does, even if their folders are not packages


def reach_test_file(name: str) -> None:
    """Let an import of the module ``name`` find it, and let the module find its neighbours.

    pytest imports a test file by its path from the first folder that is not a package, and has that folder on
    ``sys.path``. So files there may import each other and may have the name of an installed module, and a class of
    theirs, explored within pytest, has a path that begins in that folder.
    """
    if name in sys.modules:
        return
    relative = Path(*name.split(".")).with_suffix(".py")
    root = next((Path(root) for root in sys.path if (Path(root) / relative).is_file()), None)
    if root is not None:
        base = (root / relative).absolute().parent
        while (base / "__init__.py").is_file() and base != base.parent:
            base = base.parent
        if base != root.absolute():
            _search(base)
            # An installed package may hide a folder of the project, such as `tests`: let it search that folder too.
            top = name.partition(".")[0]
            folder = root.absolute() / top
            if not (folder / "__init__.py").is_file():
                # An error here also occurs in the import itself, which reports it.
                with suppress(Exception):
                    package = importlib.import_module(top)
                    if str(folder) not in package.__path__:
                        package.__path__ = [*package.__path__, str(folder)]
    elif importlib.util.find_spec(name.partition(".")[0]) is None:
        bases: list[Path] = []
        with suppress(OSError):
            below = folders_below(Path.cwd())
            bases += [at for at in below if (at / relative).is_file() and not (at / "__init__.py").exists()]
        # If there are several, the right one is unknown.
        if len(bases) == 1:
            _search(bases[0])


def _search(folder: Path) -> None:
    """Search ``folder`` too: after the standard library, and before installed packages."""
    if str(folder) not in sys.path:
        installed = (
            place for place, root in enumerate(sys.path) if Path(root).name in ("site-packages", "dist-packages")
        )
        sys.path.insert(next(installed, len(sys.path)), str(folder))
        importlib.invalidate_caches()
