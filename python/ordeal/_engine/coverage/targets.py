"""The target modules, whose running code guides the exploration: their source, its digests, and which they may be."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType

import msgspec

from ordeal._base.regular_file import read_whole, real_path
from ordeal._base.untrusted import ExitRefused
from ordeal.errors import TargetError

_SOURCE_SUFFIX = ".py"
_INIT = "__init__"


class Source(msgspec.Struct, frozen=True):
    """A source file of a target: ``path`` is absolute and free of symbolic links.

    Of one that ``is_compiled``, Python runs the extension module next to it, whose lines cannot be traced.
    """

    module_name: str
    path: str
    is_compiled: bool = False


class Target(msgspec.Struct, frozen=True):
    """What is traced: the file of a module, or one directory that contains the modules of a package.

    A namespace package in several directories gives one target for each.
    """

    name: str
    path: str
    is_package: bool

    def sources(self) -> Iterator[Source]:
        """Yield the source files, in the order of their paths.

        Below a package these are the files that can be imported from it by name: a virtual environment or a folder of
        scripts inside the package is not part of it.
        """
        if not self.is_package:
            yield Source(self.name, real_path(self.path))
            return
        # Of paths, a Path would make several for each file, which takes longer than to read the folder.
        for directory, subdirectories, files in os.walk(self.path):
            subdirectories[:] = sorted(name for name in subdirectories if name.isidentifier())
            below = directory[len(self.path) :].strip(os.sep)
            package = f"{self.name}.{below.replace(os.sep, '.')}" if below else self.name
            folder, names = real_path(directory), frozenset(files)
            for file in sorted(files):
                stem, suffix = file[: -len(_SOURCE_SUFFIX)], file[-len(_SOURCE_SUFFIX) :]
                if suffix == _SOURCE_SUFFIX and stem.isidentifier():
                    name = package if stem == _INIT else f"{package}.{stem}"
                    path = os.path.join(folder, file)  # noqa: PTH118
                    path = real_path(path) if os.path.islink(path) else path  # noqa: PTH114
                    yield Source(name, path, not _compiled_forms(stem).isdisjoint(names))


def is_within(module: str, names: Iterable[str]) -> bool:
    """Return True if ``module`` is one of ``names``, or in such a package."""
    return any(module == name or module.startswith(f"{name}.") for name in names)


def is_compiled(file: Path) -> bool:
    """Return True if Python runs an extension module instead of the source file next to it."""
    return any((file.parent / name).exists() for name in _compiled_forms(file.stem))


def _compiled_forms(stem: str) -> set[str]:
    return {f"{stem}{suffix}" for suffix in EXTENSION_SUFFIXES}


def source_bytes(targets: Iterable[Target]) -> int:
    """Return the total size of the source files of ``targets``, in bytes. A file that is gone counts 0."""
    total = 0
    for source in {source for target in targets for source in target.sources()}:
        with suppress(OSError):
            total += Path(source.path).stat().st_size
    return total


def compiled_modules(targets: Iterable[Target]) -> list[str]:
    """Return the modules of ``targets`` that have source, but run in compiled form."""
    return sorted({source.module_name for target in targets for source in target.sources() if source.is_compiled})


def resolve_targets(names: Sequence[str]) -> list[Target]:
    """Import the modules called ``names`` and return where their source is, in the given order.

    Raises :class:`~ordeal.errors.TargetError` when ``names`` is a single string, when a module does not exist or raises
    while it is imported, or when it has no Python source.
    """
    if isinstance(names, str):
        raise TargetError(f"target_modules is the string {names!r}", hint=f"write a list: [{names!r}]")
    targets: list[Target] = []
    for name in names:
        if not isinstance(name, str):
            raise TargetError(f"target module {name!r} is not a name", hint="write the name of the module as a string")
        if not all(part.isidentifier() for part in name.split(".")):
            stem = name.partition(":")[0].removesuffix(_SOURCE_SUFFIX).replace("/", ".").replace(os.sep, ".").strip(".")
            looks_meant = stem != name and all(part.isidentifier() for part in stem.split("."))
            hint = f"write {stem!r}" if looks_meant else "write a dotted name, as in an import statement"
            raise TargetError(f"target module {name!r} is not the name of a module", hint=hint)
        module = _import(name)
        if hasattr(module, "__path__"):
            found = [Target(name, str(Path(path).absolute()), is_package=True) for path in module.__path__]
        else:
            file = getattr(module, "__file__", None) or ""
            is_source = file.endswith(_SOURCE_SUFFIX)
            found = [Target(name, str(Path(file).absolute()), is_package=False)] if is_source else []
        if all(source.is_compiled for target in found for source in target.sources()):
            raise TargetError(
                f"target module {name!r} matches no Python source",
                hint="it is built in or compiled, so it cannot be traced; name the Python modules that use it",
            )
        targets += found
    return list(dict.fromkeys(targets))


def _import(name: str) -> ModuleType:
    try:
        with ExitRefused():
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise _not_found(name, error.name) from error
        raise TargetError(f"target module {name!r} cannot be imported: {error}") from error
    except SyntaxError as error:
        place = f"{error.filename}:{error.lineno}"
        raise TargetError(f"target module {name!r} cannot be imported: {place}: {error.msg}") from error
    except ImportError as error:
        raise TargetError(f"target module {name!r} cannot be imported: {error}") from error
    except (Exception, SystemExit) as error:  # anything that the module's code raises while it is imported
        raise TargetError(
            f"target module {name!r} raised {type(error).__name__} while it was imported: {error}"
        ) from error


def _not_found(name: str, missing: str) -> TargetError:
    """Return the error for a target whose first missing part is ``missing``."""
    parent_name, _, last = missing.rpartition(".")
    if parent_name and not hasattr(sys.modules.get(parent_name), "__path__"):
        return TargetError(
            f"no target module named {name!r}: {parent_name!r} is a module, not a package",
            hint=f"to trace the whole module write {parent_name!r}",
        )
    folders = sys.modules[parent_name].__path__ if parent_name else None
    siblings = sorted({module.name for module in pkgutil.iter_modules(folders)})
    close = difflib.get_close_matches(last, siblings, n=1)
    if close:
        meant = f"{parent_name}.{close[0]}" if parent_name else close[0]
        hint = f"did you mean {meant + name.removeprefix(missing)!r}?"
    elif parent_name:
        hint = f"{parent_name!r} holds {', '.join(siblings) or 'no modules'}"
    else:
        hint = "run in the directory that holds it, or add that directory to PYTHONPATH"
    return TargetError(f"no target module named {name!r}", hint=hint)


# -- digests: a trace holds them, so that a replay can say what has changed since


def digest_targets(targets: Iterable[Target]) -> dict[str, str]:
    """Return the SHA-256 of the source of each module of ``targets``, by name, without unreadable modules."""
    digests = {}
    for target in targets:
        for source in target.sources():
            digest = _digest(source.path)
            if digest is not None:
                digests[source.module_name] = digest
    return digests


def changed_modules(digests: Mapping[str, str]) -> list[str]:
    """Return the modules of ``digests`` whose source has changed or is gone."""
    return [name for name, digest in digests.items() if _digest(_source_of(name)) != digest]


def _digest(path: str | None) -> str | None:
    try:
        return None if path is None else hashlib.sha256(read_whole(path)).hexdigest()
    except OSError:
        return None


def _source_of(name: str) -> str | None:
    """Return the file from which the module ``name`` would be imported, without importing its package."""
    first, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(first)
        for part in rest:
            first = f"{first}.{part}"
            locations = None if spec is None else spec.submodule_search_locations
            spec = None if locations is None else PathFinder.find_spec(first, list(locations))
    except (ImportError, ValueError):
        return None
    return None if spec is None else spec.origin


# -- what the author of a machine may want to watch

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
