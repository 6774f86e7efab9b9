"""Finds the places where source code calls assertions and points of buggify, without running any of it."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from ordeal._base.property_tracker import PROPERTY_TYPES, PropertyType
from ordeal._base.regular_file import read_whole
from ordeal.errors import ConfigError

_FOLDERS_LEFT_OUT = {"__pycache__", "node_modules", "site-packages"}
_ORDEAL = "ordeal"

SiteType = PropertyType | Literal["buggify"]


class _Call(msgspec.Struct, frozen=True):
    """A function of ordeal: the type of its properties, and the position of the name among the arguments."""

    type: SiteType
    name_place: int


_ORDERS = ("gt", "ge", "lt", "le")
_ASSERTIONS = {
    "always": _Call("always", 1),
    "always_or_unreachable": _Call("always_or_unreachable", 1),
    **{f"always_{order}": _Call("always", 2) for order in _ORDERS},
    "sometimes": _Call("sometimes", 1),
    "sometimes_all": _Call("sometimes", 1),
    **{f"sometimes_{order}": _Call("sometimes", 2) for order in _ORDERS},
    "reachable": _Call("reachable", 0),
    "unreachable": _Call("unreachable", 0),
    "declare": _Call("sometimes", 0),
}
_POINTS = {"buggify": _Call("buggify", -1), "buggify_value": _Call("buggify", -1)}
_CALLS = _ASSERTIONS | _POINTS
_IN_MODULE = {"assertions": _ASSERTIONS, "buggify": _POINTS}


class Site(msgspec.Struct, frozen=True):
    """One call in a source file: ``call`` is the function without its module, ``path`` the file as it was named.

    ``name`` is the property's, None for a point of buggify and for a name computed at run time.
    """

    path: str
    line: int
    call: str
    type: SiteType
    name: str | None


class Scan(msgspec.Struct, frozen=True):
    """The sites of some files, by file and line, and the files that could not be read, with the reasons."""

    files: int
    sites: list[Site]
    unreadable: list[tuple[str, str]]


def scan(paths: Iterable[Path]) -> Scan:
    """Scan files, and all Python files below folders.

    Hidden folders, virtual environments and installed packages below a folder are left out.

    Raises:
        ConfigError: the file or folder does not exist.
    """
    sites: list[Site] = []
    unreadable: list[tuple[str, str]] = []
    files = list(dict.fromkeys(file for path in paths for file in _files(path)))
    for file in files:
        try:
            source = read_whole(file)
            if _ORDEAL.encode() in source:
                with warnings.catch_warnings():
                    # Warnings about the code are for those who run it.
                    warnings.simplefilter("ignore")
                    tree = ast.parse(source)
                sites += sorted(_Module(tree, str(file)).sites(), key=lambda site: site.line)
        except SyntaxError as error:
            place = f"line {error.lineno}" if error.lineno else "it"
            unreadable.append((str(file), f"{place} is not valid Python: {error.msg}"))
        except (RecursionError, MemoryError):
            unreadable.append((str(file), "its code nests too deeply"))
        except (OSError, ValueError) as error:
            unreadable.append((str(file), getattr(error, "strerror", None) or str(error)))
    return Scan(len(files), sites, unreadable)


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    if not path.is_dir():
        raise ConfigError(
            f"the file or folder `{path}`, to look for assertions in, does not exist",
            hint="name a Python file, or a folder with some below it",
        )
    for folder, below, names in path.walk():
        shown = sorted(name for name in below if not name.startswith(".") and name not in _FOLDERS_LEFT_OUT)
        below[:] = [name for name in shown if not (folder / name / "pyvenv.cfg").exists()]
        yield from (folder / name for name in sorted(names) if name.endswith(".py"))


class _Module:
    """One parsed file. Names have one meaning in the whole file: local names that shadow ``always`` are not tracked."""

    def __init__(self, tree: ast.Module, path: str) -> None:
        self._nodes = list(ast.walk(tree))
        self._path = path
        self._origins = dict(_imported(self._nodes))
        # The texts that the module assigns to names exactly once.
        stores = [node for node in self._nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        bound = Counter(node.id for node in stores)
        self._texts: dict[str, str] = {}
        for node in tree.body:
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text)))
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=str(text)))
                ) if bound[name] == 1:
                    self._texts[name] = text

    def sites(self) -> Iterator[Site]:
        """Yield the sites, in no particular order."""
        for node in self._nodes:
            call = _call_of(self._dotted(node.func)) if isinstance(node, ast.Call) else None
            if call is None or not isinstance(node, ast.Call):
                continue
            kind, place = _CALLS[call].type, _CALLS[call].name_place
            name = None if place < 0 else self._text(_argument(node, place, "name"))
            if call == "declare":
                declared = self._text(_argument(node, 1, "kind"))
                kind = next((each for each in PROPERTY_TYPES if each == declared), kind)
            yield Site(self._path, node.lineno, call, kind, name)

    def _dotted(self, node: ast.expr) -> str | None:
        """Return the dotted name that an expression stands for, if it comes from ordeal."""
        if isinstance(node, ast.Name):
            return self._origins.get(node.id)
        if isinstance(node, ast.Attribute) and (owner := self._dotted(node.value)) is not None:
            return f"{owner}.{node.attr}"
        return None

    def _text(self, node: ast.expr | None) -> str | None:
        """Return the constant text of an expression, None when it may vary."""
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name(id=name):
                return self._texts.get(name)
        return None


def _imported(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield the names that imports bind to objects of ordeal, with their dotted names."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for each in node.names:
                if each.name.partition(".")[0] == _ORDEAL:
                    yield (each.asname, each.name) if each.asname else (_ORDEAL, _ORDEAL)
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == _ORDEAL:
            for each in node.names:
                if each.name == "*":
                    names: Mapping[str, _Call] = _IN_MODULE.get((node.module or "").partition(".")[2], _CALLS)
                    yield from ((name, f"{node.module}.{name}") for name in names)
                else:
                    yield each.asname or each.name, f"{node.module}.{each.name}"


def _call_of(dotted: str | None) -> str | None:
    """Return the function of ordeal for a dotted name, if calls of it are sites."""
    if dotted is None:
        return None
    _, *parts = dotted.split(".")
    if parts == ["buggify"]:
        return "buggify"
    if len(parts) == 2 and parts[1] in _IN_MODULE.get(parts[0], {}):
        return parts[1]
    return parts[0] if len(parts) == 1 and parts[0] in _CALLS else None


def _argument(node: ast.Call, place: int, name: str) -> ast.expr | None:
    before = node.args[: place + 1]
    if len(before) > place and not any(isinstance(each, ast.Starred) for each in before):
        return before[place]
    return next((each.value for each in node.keywords if each.arg == name), None)
