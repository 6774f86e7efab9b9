"""Writes values as expressions: plain values as literals, objects of the code under test by what made them."""

from __future__ import annotations

import ast
import builtins
import datetime
import decimal
import fractions
import itertools
import keyword
import re
import sys
import types
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ordeal._base.limits import ITEMS_MAX
from ordeal._base.python_source import NoSourceError, SourceWriter, leads_to, public_module
from ordeal._base.regular_file import read_whole

#: More than any report should need.
_FOREIGN = frozenset({"ordeal", "hypothesis", "pytest", "_pytest"})


#: The source of a definition, and of what it needs before it, in their order, by name.
Definition = dict[str, str]


class Definitions:
    """The top-level definitions of the ``modules`` of a test."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self._bodies: dict[str, list[ast.stmt]] = {}
        self._known: dict[tuple[str, str], Definition | None] = {}

    def source_of(self, value: Any) -> Definition | None:
        """Return the source of a top-level class or function of the test; None if it needs anything of a run."""
        module, name = getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
        loaded = sys.modules.get(module)
        if loaded is None or vars(loaded).get(name) is not value:
            return None
        return self._source(module, name)

    def _source(self, module: str, name: str) -> Definition | None:
        key = (module, name)
        if key in self._known:
            return self._known[key]
        self._known[key] = None  # what refers to itself through others is refused
        defined = [each for each in self._body(module) if isinstance(each, ast.ClassDef | ast.FunctionDef)]
        node = next((each for each in reversed(defined) if each.name == name), None)
        if node is None:
            return None
        source: Definition = {}
        namespace = vars(sys.modules[module])
        read = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
        for used in sorted(read - {name}):
            # Others are local names or builtins; one that is missing shows when the program runs.
            if used in namespace and not self._add(source, module, used, namespace[used]):
                return None
        source[name] = ast.unparse(node)
        self._known[key] = source
        return source

    def _add(self, source: Definition, module: str, name: str, value: Any) -> bool:
        """Add what makes ``name`` mean ``value``; return whether that is possible."""
        if isinstance(value, types.ModuleType):
            if value.__name__.partition(".")[0] in _FOREIGN:
                return False
            package, _, last = value.__name__.rpartition(".")
            source[name] = f"import {value.__name__}" + (f" as {name}" if value.__name__ != name else "")
            if package and last == name:
                source[name] = f"from {package} import {last}"
            return True
        home = getattr(value, "__module__", None)
        if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType) and isinstance(home, str):
            if home.partition(".")[0] in _FOREIGN:
                return False
            if home in self.modules:
                inner = self._source(home, getattr(value, "__qualname__", ""))
                if inner is None:
                    return False
                source |= inner
                return True
            original = getattr(value, "__name__", name)
            alias = "" if original == name else f" as {name}"
            source[name] = f"from {home} import {original}{alias}"
            return True
        writer = SourceWriter()
        try:
            text = writer.write(value)
        except NoSourceError:
            return self._imported(source, module, name)
        if any(used in self.modules for used in writer.modules):
            return False
        for used in sorted(writer.modules):
            source[f"import {used}"] = f"import {used}"
        source[name] = f"{name} = {text}"
        return True

    def _imported(self, source: Definition, module: str, name: str) -> bool:
        """Add the import by which the module itself has the name, if it has one."""
        for node in self._body(module):
            for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
                if (alias.asname or alias.name) != name:
                    continue
                home = node.module if isinstance(node, ast.ImportFrom) else alias.name
                if (home or "").partition(".")[0] in _FOREIGN or home in self.modules:
                    return False
                source[name] = ast.unparse(type(node)(**{**dict(ast.iter_fields(node)), "names": [alias]}))
                return True
        return False

    def _body(self, module: str) -> list[ast.stmt]:
        """Return the statements of a module, as far as its source can be read."""
        if module not in self._bodies:
            self._bodies[module] = []
            path = getattr(sys.modules.get(module), "__file__", None)
            with suppress(OSError, ValueError, SyntaxError):
                self._bodies[module] = ast.parse(read_whole(path)).body if isinstance(path, str) else []
        return self._bodies[module]


ATOMIC = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented))

#: Names that need no import, and that no variable may take.
TAKEN = frozenset(dir(builtins)) | frozenset(keyword.kwlist) | frozenset(keyword.softkwlist)


#: Values without identity, which are always written as literals.
_PLAIN = (
    *ATOMIC,
    Enum,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    datetime.timezone,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
    range,
)


def is_plain(value: object) -> bool:
    """Return True if a value is always written as itself, and never as the result of an operation."""
    kind = type(value)
    if kind is tuple or kind is frozenset:
        return all(is_plain(item) for item in value)  # type: ignore[attr-defined]
    # Not isinstance(): an object may say anything of its class.
    return issubclass(kind, _PLAIN)


@dataclass(slots=True)
class Expression:
    """Source text with the operations whose results it uses, and what must be imported or defined for it.

    ``problem`` says why the value cannot be written; the text is then only a placeholder. ``is_target`` answers whether
    the value comes from the code under test.
    """

    text: str
    uses: set[int] = field(default_factory=set)
    imports: set[str] = field(default_factory=set)
    definitions: set[str] = field(default_factory=set)
    problem: str = ""
    is_target: bool = False

    @property
    def folders(self) -> set[str]:
        """The temporary folders that the expression names. Like objects, they connect what uses the same one."""
        return {name for name in self.definitions if name.startswith("folder:")}

    def join(self, others: Iterable[Expression], text: str) -> Expression:
        """Return ``text``, which is made of this expression and others."""
        made = Expression(text, set(self.uses), set(self.imports), set(self.definitions), self.problem, self.is_target)
        for other in others:
            made.uses |= other.uses
            made.imports |= other.imports
            made.definitions |= other.definitions
            made.problem = made.problem or other.problem
            made.is_target = made.is_target or other.is_target
        return made


class Expressions:
    """Knows the objects that recorded operations have given, by identity."""

    def __init__(
        self,
        definitions: Definitions,
        wrap_callback: Callable[[Any], Expression | None],
        is_target: Callable[[str], bool],
    ) -> None:
        self.definitions = definitions
        self._is_target = is_target
        self._homes: dict[int, tuple[object, str, str]] = {}
        self._only_target = False
        self._wrap_callback = wrap_callback
        # By id, the expression that leads to an object, which is kept, so that no other gets its identity.
        self._known: dict[int, tuple[object, Expression]] = {}
        self._texts: dict[int, tuple[object, Expression]] = {}
        self.sources: dict[str, Definition] = {}
        self.folders: dict[str, str] = {}  # the variables of temporary folders, by path

    def learn(self, value: object, expression: Expression, depth: int = 0) -> None:
        """Remember that ``expression`` leads to ``value``, and items of it to its items."""
        if is_plain(value) or issubclass(type(value), (type, types.ModuleType)):
            return
        self._known.setdefault(id(value), (value, expression))
        if depth < 2 and type(value) in (list, tuple):
            for number, item in enumerate(value[:ITEMS_MAX]):  # type: ignore[index]
                self.learn(item, expression.join([], f"{expression.text}[{number}]"), depth + 1)
        if depth < 2 and type(value) is dict:
            for key, item in itertools.islice(value.items(), ITEMS_MAX):
                if isinstance(key, str | int | bytes):
                    self.learn(item, expression.join([], f"{expression.text}[{key!r}]"), depth + 1)

    def learn_text(self, value: str | bytes, expression: Expression) -> None:
        """Remember what gave a text of the code under test, if it is too long to equal another text by chance."""
        if expression.is_target and len(value) >= 8:
            self._texts[id(value)] = value, expression

    def is_text(self, value: object) -> bool:
        """Return True if the code under test gave this text."""
        return type(value) in (str, bytes) and id(value) in self._texts

    def known(self, value: object) -> Expression | None:
        """Return the expression that leads to an object of a recorded operation."""
        found = self._known.get(id(value))
        return None if found is None else found[1]

    def is_known(self, value: object) -> bool:
        """Return True if ``value`` is such an object, or holds one."""
        if id(value) in self._known:
            return True
        if type(value) in (list, tuple):
            return any(self.is_known(item) for item in value[:ITEMS_MAX])  # type: ignore[index]
        if type(value) is types.MethodType:
            return id(value.__self__) in self._known
        owner = getattr(value, "__self__", None) if type(value) is types.BuiltinMethodType else None
        return owner is not None and id(owner) in self._known

    def is_of_target(self, value: object) -> bool:
        """Return True if the code under test gave ``value``, or holds it in a module."""
        known = self.known(value)
        return known.is_target if known is not None else self._home(value) is not None

    def write(self, value: Any) -> Expression:
        """Return an expression for ``value``, with a problem if there is none."""
        objects = Expression("")

        def known(part: Any) -> str | None:
            nonlocal objects
            found = self._object(part)
            if found is None:
                return None
            if found.problem:
                raise NoSourceError(found.problem)
            objects = objects.join([found], "")
            return found.text

        writer = SourceWriter(known)
        writer.folders = self.folders
        try:
            text = writer.write(value)
        except NoSourceError as error:
            return Expression("...", problem=str(error))
        except Exception as error:  # noqa: BLE001 - objects of the user's may raise anything when they are looked at
            return Expression("...", problem=f"a {type(value).__name__} that raises {type(error).__name__}")
        if writer.modules.intersection(self.definitions.modules):
            return Expression("...", problem=f"a {type(value).__name__} of the test")
        folders = {f"folder:{name}" for name in self.folders.values() if name in text}
        return objects.join([Expression("", imports=writer.modules, definitions=folders)], text)

    def by_value(self, value: Any) -> Expression:
        """Return an expression for ``value`` in which only objects of the code under test stand by name."""
        self._only_target = True
        try:
            return self.write(value)
        finally:
            self._only_target = False

    def _home(self, value: object) -> tuple[str, str] | None:
        """Return the module of the code under test that has ``value`` among its globals, and the name there."""
        if not self._homes:
            for name, module in list(sys.modules.items()):
                if self._is_target(name):
                    for key, held in list(getattr(module, "__dict__", {}).items()):
                        if not key.startswith("__") and not is_plain(held) and not callable(held):
                            self._homes.setdefault(id(held), (held, name, key))
        found = self._homes.get(id(value))
        return None if found is None else found[1:]

    def _object(self, value: Any) -> Expression | None:
        """Return the expression of what has a name or was given by an operation; None for a value to write itself."""
        found = self._known.get(id(value))
        if found is not None and (found[1].is_target or not self._only_target):
            return found[1]
        if self.is_text(value):
            return self._texts[id(value)][1]
        kind = type(value)
        home = None if is_plain(value) or callable(value) else self._home(value)
        if home is not None:
            return Expression(".".join(home), imports={home[0]}, is_target=True)
        if kind is types.UnionType:
            parts = [self.named(part) for part in value.__args__]
            return Expression("").join(parts, f"({' | '.join(part.text for part in parts)})")
        if isinstance(value, types.ModuleType):
            return Expression(value.__name__, imports={value.__name__})
        if isinstance(value, type):
            return self.named(value)
        is_method = kind in (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)
        owner = getattr(value, "__self__", None) if is_method else None
        has_name = isinstance(owner, type) or type(owner) in (str, bytes) or id(owner) in self._known
        if owner is not None and not isinstance(owner, types.ModuleType) and (has_name or self._home(owner)):
            name, written = getattr(value, "__name__", ""), self.write(owner)
            if name.isidentifier() and not written.problem:
                return written.join([], f"{written.text}.{name}")
        if not callable(value) or isinstance(value, ATOMIC):
            return None
        written = self.named(value)
        return (self._wrap_callback(value) or written) if written.problem else written

    def named(self, value: Any) -> Expression:
        """Return the name that leads to a class or function, with the import or definition that it needs."""
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
        if module in self.definitions.modules:
            source = self.definitions.source_of(value)
            if source is None:
                return Expression("...", problem=f"{name or type(value).__name__} of the test")
            self.sources[name] = source
            return Expression(name, definitions={name})
        if module is None or not isinstance(name, str):
            return Expression("...", problem=f"{type(value).__name__} without a name")
        if not leads_to(module, name, value):
            return Expression("...", problem=f"{name or 'a value'} has no name that leads to it")
        if module == "builtins":
            return Expression(name)
        public = public_module(module, name, value)
        return Expression(f"{public}.{name}", imports={public})


def variable_for(text: str) -> str:
    """Return a variable for the result of what ``text`` names, such as ``lru_cache`` for ``LRUCache``."""
    last = re.sub(r"\W+", "_", text.rpartition(".")[2]).strip("_")
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", last).lower()
    return f"{words}_" if words in TAKEN or not words.isidentifier() else words
