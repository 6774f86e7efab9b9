"""Finds the source of classes and functions of a test that stand on their own, so that they can be written down."""

from __future__ import annotations

import ast
import builtins
import sys
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ordeal._engine.export.literals import LiteralWriter, UnwritableError

#: What no report should need.
_FOREIGN = frozenset({"ordeal", "hypothesis", "pytest", "_pytest"})


@dataclass(slots=True)
class Source:
    """The source of a definition, and of what it needs before it: ``parts`` in their order, by name."""

    parts: dict[str, str] = field(default_factory=dict)


class Definitions:
    """The top-level definitions of the ``modules`` of a test."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self._trees: dict[str, dict[str, ast.stmt]] = {}
        self._known: dict[tuple[str, str], Source | None] = {}

    def public_module(self, value: Any, module: str) -> str:
        """Return the module from which a test imports ``value``: a package may gather names of private modules."""
        if not any(part.startswith("_") for part in module.split(".")):
            return module
        parts = module.split(".")
        for length in range(1, len(parts)):
            outer = ".".join(parts[:length])
            if getattr(sys.modules.get(outer), getattr(value, "__name__", ""), None) is value:
                return outer
        return module

    def source_of(self, value: Any) -> Source | None:
        """Return the source of a top-level class or function of the test; None if it needs anything of a run."""
        module, name = getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
        loaded = sys.modules.get(module)
        if loaded is None or vars(loaded).get(name) is not value:
            return None
        return self._source(module, name)

    def _source(self, module: str, name: str) -> Source | None:
        key = (module, name)
        if key not in self._known:
            self._known[key] = None  # what refers to itself by others is refused
            self._known[key] = self._collect(module, name)
        return self._known[key]

    def _collect(self, module: str, name: str) -> Source | None:
        node = self._top_level(module).get(name)
        if not isinstance(node, ast.ClassDef | ast.FunctionDef):
            return None
        source = Source()
        namespace = vars(sys.modules[module])
        for used in sorted(set(_names(node)) - {name}):
            if used not in namespace:
                if not hasattr(builtins, used):
                    continue  # a local name; one that is missing shows when the program runs
                continue
            if not self._add(source, module, used, namespace[used]):
                return None
        source.parts[name] = ast.unparse(node)
        return source

    def _add(self, source: Source, module: str, name: str, value: Any) -> bool:
        """Add what makes ``name`` mean ``value``; return whether that is possible."""
        if isinstance(value, types.ModuleType):
            if value.__name__.partition(".")[0] in _FOREIGN:
                return False
            own = value.__name__
            source.parts[name] = f"import {own}" if own == name else _import_as(own, name)
            return True
        home = getattr(value, "__module__", None)
        if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType) and isinstance(home, str):
            if home.partition(".")[0] in _FOREIGN:
                return False
            if home in self.modules:
                inner = self._source(home, getattr(value, "__qualname__", ""))
                if inner is None:
                    return False
                source.parts |= inner.parts
                return True
            original = getattr(value, "__name__", name)
            alias = "" if original == name else f" as {name}"
            source.parts[name] = f"from {home} import {original}{alias}"
            return True
        writer = LiteralWriter()
        try:
            text = writer.write(value)
        except UnwritableError:
            return self._imported(source, module, name)
        if any(used in self.modules for used in writer.modules):
            return False
        for used in sorted(writer.modules):
            source.parts[f"import {used}"] = f"import {used}"
        source.parts[name] = f"{name} = {text}"
        return True

    def _imported(self, source: Source, module: str, name: str) -> bool:
        """Add the import by which the module itself has the name, if it has one."""
        for node in self._imports(module):
            for alias in node.names:
                if (alias.asname or alias.name) != name:
                    continue
                home = node.module if isinstance(node, ast.ImportFrom) else alias.name
                if (home or "").partition(".")[0] in _FOREIGN or home in self.modules:
                    return False
                source.parts[name] = ast.unparse(type(node)(**{**_fields(node), "names": [alias]}))
                return True
        return False

    def _imports(self, module: str) -> Iterator[ast.Import | ast.ImportFrom]:
        self._top_level(module)
        tree = _parsed(module)
        if tree is not None:
            yield from (node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))

    def _top_level(self, module: str) -> dict[str, ast.stmt]:
        if module not in self._trees:
            tree = _parsed(module)
            nodes = [] if tree is None else tree.body
            self._trees[module] = {
                node.name: node for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)
            }
        return self._trees[module]


def _parsed(module: str) -> ast.Module | None:
    path = getattr(sys.modules.get(module), "__file__", None)
    if not isinstance(path, str):
        return None
    try:
        return ast.parse(Path(path).read_text("utf-8"))
    except (OSError, ValueError, SyntaxError):
        return None


def _fields(node: ast.Import | ast.ImportFrom) -> dict[str, Any]:
    return dict(ast.iter_fields(node))


def _import_as(module: str, name: str) -> str:
    package, _, last = module.rpartition(".")
    if package and last == name:
        return f"from {package} import {last}"
    return f"import {module} as {name}" if "." not in name else f"import {module}"


def _names(node: ast.AST) -> Iterable[str]:
    """Yield the names that a definition reads, also in annotations."""
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load))
