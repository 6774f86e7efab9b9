"""Finds a package and its classes by reading its source; nothing of it is imported or run."""

from __future__ import annotations

import ast
import difflib
import importlib.machinery
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ordeal._base.limits import FILES_MAX, SOURCE_BYTES_MAX
from ordeal._base.regular_file import read_whole
from ordeal.errors import ConfigError

_SKIPPED_FOLDERS = frozenset({"tests", "test", "testing", "docs", "examples", "build", "dist", "node_modules"})
#: Methods that belong together: one undoes or queries what the other does.
_PAIRS = (
    ("add", "remove"),
    ("add", "discard"),
    ("append", "pop"),
    ("put", "get"),
    ("push", "pop"),
    ("insert", "remove"),
    ("insert", "delete"),
    ("set", "get"),
    ("open", "close"),
    ("start", "stop"),
    ("acquire", "release"),
    ("begin", "commit"),
    ("begin", "rollback"),
    ("subscribe", "unsubscribe"),
    ("connect", "disconnect"),
    ("register", "unregister"),
    ("lock", "unlock"),
    ("__setitem__", "__delitem__"),
    ("__setitem__", "__getitem__"),
)
#: Calls that change the object on which they are made.
_CHANGING = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "extend", "insert", "move_to_end", "pop", "popitem", "popleft"}
    | {"push", "put", "remove", "reverse", "rotate", "setdefault", "sort", "update"}
)
#: Bases of classes that hold no state, or are not made by a call.
_NO_STATE = frozenset(
    {"Exception", "BaseException", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "Protocol", "TypedDict"}
    | {"NamedTuple", "Warning", "Structure"}
)


@dataclass(frozen=True, slots=True)
class FoundPackage:
    """A package or module by the name of its import, with its source files and where it is imported from."""

    name: str
    root: Path
    files: tuple[tuple[str, Path], ...]


@dataclass(frozen=True, slots=True)
class FoundClass:
    """A class that a sequence of calls may break: ``changing`` names the methods that change it."""

    module: str
    name: str
    line: int
    end_line: int
    file: Path
    changing: tuple[str, ...]
    pairs: tuple[str, ...]
    score: float

    @property
    def path(self) -> str:
        """The class as it is named on the command line."""
        return f"{self.module}:{self.name}"

    def reasons(self) -> str:
        """Return in a few words why the class is worth exploring."""
        number = len(self.changing)
        parts = [
            f"{number} {'method changes' if number == 1 else 'methods change'} it" if number else "no method changes it"
        ]
        return ", ".join([*parts, *self.pairs[:3]])


def find_package(name: str | None, folder: Path) -> FoundPackage:
    """Return the package ``name``: of the project in ``folder``, or else installed. Without a name, the project's own.

    Raises:
        ConfigError: the package does not exist, there are several, or it has no Python source.
    """
    if name is None:
        own = _own_packages(folder)
        if len(own) != 1:
            names = ", ".join(path.stem for path in own) or "none"
            raise ConfigError(
                f"{len(own)} packages are in this folder: {names}" if own else "no package is in this folder",
                hint="name one: `ordeal init PACKAGE`, or a class: `ordeal init package.module:Class`",
            )
        return _package(own[0].stem, own[0])
    top = name.partition(".")[0]
    if not all(part.isidentifier() for part in name.split(".")):
        raise ConfigError(f"`{name}` is not a package name", hint="write it as in an import: `ordeal init package`")
    own = [path for path in _own_packages(folder) if path.stem == top]
    path = own[0] if own else _installed(top)
    if path is None:
        raise ConfigError(f"no package named `{top}`", hint="install it, or run in the folder of its project")
    found = _package(top, path)
    files = tuple(each for each in found.files if each[0] == name or each[0].startswith(f"{name}."))
    if not files:
        raise ConfigError(f"`{top}` has no module named `{name}`", hint=f"`ordeal init {top}` searches all of it")
    return FoundPackage(name, found.root, files)


def _own_packages(folder: Path) -> list[Path]:
    """Return the packages of a project: those that its name or its layout points at."""
    for root in (folder / "src", folder):
        names = [each for each in sorted(root.glob("*/__init__.py")) if each.parent.name not in _SKIPPED_FOLDERS]
        packages = [each.parent for each in names if each.parent.name.isidentifier()]
        if not packages and (folder / "pyproject.toml").is_file():
            modules = [each for each in sorted(root.glob("*.py")) if each.stem.isidentifier()]
            packages = [each for each in modules if not each.stem.startswith(("test", "conftest", "setup"))]
        if packages:
            try:
                document = tomllib.loads(read_whole(folder / "pyproject.toml").decode("utf-8"))
                wanted = str(document["project"]["name"]).replace("-", "_").lower()
            except (OSError, ValueError, KeyError, TypeError):
                wanted = ""
            return [each for each in packages if each.stem == wanted] or packages
    return []


def _installed(name: str) -> Path | None:
    """Return where a package is, found as an import would find it, without running anything."""
    spec = importlib.machinery.PathFinder.find_spec(name)
    if spec is None:
        return None
    places = list(spec.submodule_search_locations or ())
    if places:
        return Path(places[0])
    return Path(spec.origin) if spec.origin and spec.origin.endswith(".py") else None


def _package(name: str, path: Path) -> FoundPackage:
    if path.is_file():
        return FoundPackage(name, path.parent, ((name, path),))
    files = []
    for file in sorted(path.rglob("*.py"))[:FILES_MAX]:
        parts = file.relative_to(path).with_suffix("").parts
        if _SKIPPED_FOLDERS.isdisjoint(parts[:-1]) and all(part.isidentifier() for part in parts):
            inner = parts[:-1] if parts[-1] == "__init__" else parts
            files.append((".".join((name, *inner)), file))
    if not files:
        raise ConfigError(f"`{name}` has no Python source", hint="name a package that is written in Python")
    return FoundPackage(name, path.parent, tuple(files))


def find_classes(package: FoundPackage) -> list[FoundClass]:
    """Return the classes of a package that have state, the most promising first."""
    found: list[FoundClass] = []
    for module, file in package.files:
        if any(part.startswith("_") and part != "__init__" for part in module.split(".")):
            weight = 0.7  # a private module; its classes are often offered by a public one
        else:
            weight = 1.0
        found += _classes_of(module, file, weight)
    # A class without state is still worth a try where no other exists.
    found = [each for each in found if each.changing or each.pairs] or found
    return sorted(found, key=lambda each: (-each.score, each.path))


def class_of_coroutines(package: FoundPackage) -> str:
    """Return the path of a class whose public methods are mostly coroutines; empty if there is none."""
    for module, file in package.files:
        tree = parse(file)
        for node in tree.body if tree else ():
            if isinstance(node, ast.ClassDef) and _may_have_state(node):
                waits = [each for each in node.body if isinstance(each, ast.AsyncFunctionDef) and _is_open(each.name)]
                plain = [each for each in node.body if isinstance(each, ast.FunctionDef) and _is_open(each.name)]
                if len(waits) > sum(each.name != "__init__" for each in plain):
                    return f"{module}:{node.name}"
    return ""


def find_class(path: str, folder: Path) -> tuple[FoundPackage, FoundClass]:
    """Return the class that ``module:Class`` names, and its package.

    Raises:
        ConfigError: the class does not exist.
    """
    module, _, name = path.partition(":")
    package = find_package(module, folder)
    return package, find_class_by_name(package, name)


def find_class_by_name(package: FoundPackage, name: str) -> FoundClass:
    """Return the class of ``package`` that ``name`` or ``module:name`` names, the first of several.

    Raises:
        ConfigError: the class does not exist.
    """
    known = [each for module, file in package.files for each in _classes_of(module, file, 1.0, every=True)]
    found = next((each for each in known if name in (each.name, each.path)), None)
    if found is None:
        near = difflib.get_close_matches(name, [each.name for each in known], 1)
        guess = f"did you mean `{near[0]}`?" if near else f"`ordeal init {package.name} --dry-run` lists its classes"
        raise ConfigError(f"no class named `{name}` in `{package.name}`", hint=guess)
    return found


def parse(file: Path) -> ast.Module | None:
    """Return the tree of a source file; None for one that is too large, gone, or no Python."""
    try:
        return ast.parse(read_whole(file, SOURCE_BYTES_MAX))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _classes_of(module: str, file: Path, weight: float, *, every: bool = False) -> Iterator[FoundClass]:
    tree = parse(file)
    for node in tree.body if tree else ():
        if isinstance(node, ast.ClassDef) and (every or _may_have_state(node)):
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            names = {each.name for each in methods}
            changing = tuple(
                each.name for each in methods if _is_open(each.name) and each.name != "__init__" and _changes(each)
            )
            pairs = tuple(f"{one}/{other}" for one, other in _PAIRS if one in names and other in names)
            public = sum(_is_open(name) for name in names)
            typed = sum(
                all(one.annotation is not None for one in each.args.args[1:]) for each in methods if _is_open(each.name)
            )
            score = weight * (min(len(changing), 20) + 3 * len(pairs) + 0.2 * min(public, 30) + 0.1 * min(typed, 20))
            if every or public >= 2:
                yield FoundClass(
                    module, node.name, node.lineno, node.end_lineno or node.lineno, file, changing, pairs, score
                )


def _may_have_state(node: ast.ClassDef) -> bool:
    bases = {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}
    return (
        not node.name.startswith("_")
        and _NO_STATE.isdisjoint(bases)
        and not any(base.endswith(("Error", "Exception", "TestCase")) for base in bases)
        and not node.name.endswith(("Error", "Exception", "Mixin", "Protocol"))
    )


def _is_open(name: str) -> bool:
    return not name.startswith("_") or name in ("__setitem__", "__getitem__", "__delitem__", "__call__", "__init__")


def _changes(method: ast.FunctionDef) -> bool:
    """Return True if a method assigns to a part of ``self``, or calls what changes one."""
    self_name = method.args.args[0].arg if method.args.args else "self"
    for node in ast.walk(method):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Delete):
            targets: Sequence[ast.expr] = [node.target] if isinstance(node, ast.AugAssign) else node.targets
            if any(_root(target) == self_name and not isinstance(target, ast.Name) for target in targets):
                return True
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _CHANGING
            and _root(node.func.value) == self_name
        ):
            return True
    return method.name in ("__setitem__", "__delitem__")


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
