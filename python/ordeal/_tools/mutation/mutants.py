"""The mutants of a file: each changes one place, and compiles to another program."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import dis
import hashlib
import operator
import os
import platform
import re
import sys
import types
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any

from ordeal._base.code_objects import exact, shape
from ordeal._engine.coverage.function_source import lines_above
from ordeal._engine.coverage.gaps import statements_in
from ordeal._tools.mutation.chimp_sites import sites
from ordeal._tools.mutation.operators import BODY_OPERATORS, OPERATORS, Change, padded
from ordeal._tools.mutation.source import Function, Source

CHIMP = "chimp"
_LEVELS = "debug|info|warn|warning|error|exception|critical|fatal|log"
_ARID_CALL = re.compile(
    rf"((logging|warnings)\.\w+|(?i:(\w+\.)*_*(logger|log))\.({_LEVELS})|(\w+\.)?(assert|reveal)_type)\("
)
_TYPE_MAKERS = {"NewType", "TypeAliasType", "TypeVar", "TypeVarTuple", "ParamSpec"}
#: Names that take parameters in brackets, where nothing is looked up.
_GENERIC = {
    *("Annotated", "Callable", "ClassVar", "Concatenate", "Final", "Generic", "Literal", "Optional", "Type", "Union"),
    *("Dict", "FrozenSet", "List", "Set", "Tuple", "dict", "frozenset", "list", "set", "tuple", "type"),
    *("Awaitable", "Coroutine", "Iterable", "Iterator", "Mapping", "Sequence"),
}
#: Expressions that ask which Python runs, and where.
_SYSTEM = {"version_info", "hexversion", "maxsize", "maxunicode", "platform", "byteorder", "name"}
_PYTHON_2_OR_3 = re.compile(r"_?(?:IS_)?PY(?:THON)?_?([23])")
_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
#: Names of a module that describe it, as `__all__` and `__version__` do, and one of a class.
_ARID_NAME = re.compile(r"__\w+__"), re.compile("__slots__")
_NO_COVER = re.compile(rb"#\s*pragma:\s*no cover")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of a file.

    Attributes:
        id: the same in every run, also after lines have moved.
        shown: the file, as people read it.
        name: the dotted name of what holds it; empty for a module.
        lines: the lines of its statement, without those of the statements within; a test that runs one covers it.
        start, end: the span in bytes that ``replacement`` replaces.
        function: the span in lines of the outermost function whose body, or literal default, holds it, decorators
            included; None outside.
    """

    id: str
    shown: str
    name: str
    operator: str
    line: int
    lines: tuple[int, int]
    start: int
    end: int
    original: str
    replacement: str
    function: tuple[int, int] | None

    @property
    def place(self) -> tuple[str, tuple[int, int] | None]:
        """The function that holds the mutant, or the file outside of functions: the unit that a swap replaces."""
        return self.shown, self.function

    def applied(self, text: bytes) -> bytes:
        """Return the text of the file with the change."""
        return text[: self.start] + self.replacement.encode() + text[self.end :]


def mutants_of(source: Source, operators: Sequence[str]) -> list[Mutant]:
    """Return the mutants that these operators make, in the order of the file; of two equal ones, the first.

    A change that compiles to the code of the original cannot be noticed, and is not a mutant.
    """
    return made_of(source, operators).mutants


@dataclass(frozen=True, slots=True)
class Made:
    """The mutants of a file, and the other changes: those that compile to the original or to an earlier mutant."""

    mutants: list[Mutant]
    equivalent: list[Mutant]
    duplicate: list[Mutant]


def made_of(source: Source, operators: Sequence[str]) -> Made:
    """Return the mutants that these operators make, and their changes that are not mutants."""
    made = Made([], [], [])
    for mutant, kind in _sorted_out(source, _all(source, operators)):
        getattr(made, kind).append(mutant)
    return made


def _all(source: Source, operators: Sequence[str]) -> Iterable[Mutant]:
    ordinals: Counter[tuple[str, ...]] = Counter()
    changes: list[tuple[str, Change]] = []
    if CHIMP in operators:
        changes += [(CHIMP, change) for change in sites(source)]
    chosen = [name for name in OPERATORS if name in operators]
    for node in ast.walk(source.tree) if chosen else ():
        found = [(name, change) for name in chosen for change in OPERATORS[name](source, node)]
        changes += [(name, change) for name, change in found if not is_arid(source, change.node)]
    if CHIMP not in operators:
        changes.sort(key=lambda pair: pair[1].span)
    for name, change in changes:
        yield _mutant(source, name, change, ordinals)


def _mutant(source: Source, operator: str, change: Change, ordinals: Counter[tuple[str, ...]]) -> Mutant:
    statement = source.statement_of(change.node)
    first, last = _own_lines(statement)
    if operator in BODY_OPERATORS:
        holder = source.parents[change.node]
        assert isinstance(holder, Function)
        last = holder.end_lineno or last
    key = (source.shown, source.name_of(change.node), operator, source.part(source.span(statement)), change.replacement)
    digest = hashlib.sha256("\0".join((*key, str(ordinals[key]))).encode()).hexdigest()
    ordinals[key] += 1
    function = source.function_of(change.node)
    if function is None and (default := source.default_at(change.span)):
        function = default[0]
    return Mutant(
        digest[:12],
        source.shown,
        source.name_of(change.node),
        operator,
        source.line_of(change.span[0]),
        (first, last),
        *change.span,
        source.part(change.span),
        change.replacement,
        lines_of(function) if function is not None else None,
    )


def lines_of(function: Function) -> tuple[int, int]:
    """Return the first and last line of a function, decorators included."""
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    return first, function.end_lineno or first


def _own_lines(statement: ast.stmt | ast.ExceptHandler) -> tuple[int, int]:
    """Return the lines of a statement; for one that holds others, only those of its head."""
    body = getattr(statement, "body", None) or getattr(statement, "cases", None)
    if not body:
        return statement.lineno, statement.end_lineno or statement.lineno
    first = body[0].pattern if isinstance(body[0], ast.match_case) else body[0]
    return statement.lineno, max(statement.lineno, first.lineno - 1)


def is_arid(source: Source, node: ast.AST) -> bool:
    """Return True if tests do not check a node: docstrings, annotations, logging, guards of types and scripts.

    So are the texts of errors and of ``__repr__``, what only type checkers read, what other versions of Python or other
    systems run, and long tables of data.
    """
    chain = [node, *source.ancestors(node)]
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    for inner, outer in zip(chain, [*chain[1:], source.tree], strict=True):
        if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant):
            return True
        if isinstance(inner, ast.Expr) and _ARID_CALL.match(source.part(source.span(inner))):
            return True
        if isinstance(inner, ast.Assert | ast.JoinedStr):
            return True
        if is_text and (isinstance(inner, ast.Raise) or getattr(inner, "name", "") == "__repr__"):
            return True
        if _is_for_type_checkers(inner, outer) or is_for_others(inner, outer, {}):
            return True
        if isinstance(inner, ast.Assign | ast.AnnAssign) and outer is source.tree:
            first, last = source.span(inner)
            # A statement of this many bytes outside functions is a table of data, which takes minutes to compile for
            # each number.
            if last - first >= 4_096:
                return True
        if isinstance(inner, ast.Assign | ast.AnnAssign | ast.AugAssign):
            if any(_ARID_NAME[outer is not source.tree].fullmatch(name) for name in _assigned(inner)):
                return True
            if _is_of_error_text(source, inner):
                return True
        if isinstance(inner, ast.stmt) and _NO_COVER.search(source.lines[inner.lineno - 1]):
            return True
    return False


def _is_for_type_checkers(inner: ast.AST, outer: ast.AST) -> bool:
    """Return True if only type checkers read a node: an annotation, an alias, a stub, or the type of a cast."""
    if inner in (getattr(outer, "annotation", None), getattr(outer, "returns", None)):
        return True
    if isinstance(inner, ast.TypeAlias | ast.type_param):
        return True
    if isinstance(inner, ast.AnnAssign) and _last_name(inner.annotation) == "TypeAlias":
        return True
    match inner:
        case ast.Assign(value=value) if _is_type(value):
            return True
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func, args=[_, ast.Name(id=value)])):
            return name == value and _last_name(func) == "cast"
    if isinstance(inner, Function):
        is_stub = all(isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in inner.body)
        return is_stub or any(_last_name(each) == "overload" for each in inner.decorator_list)
    if isinstance(inner, ast.ClassDef):
        bases = (each.value if isinstance(each, ast.Subscript) else each for each in inner.bases)
        return any(_last_name(each) in ("Protocol", "TypedDict") for each in bases)
    return isinstance(outer, ast.Call) and _last_name(outer.func) == "cast" and inner in outer.args[:1]


def is_for_others(inner: ast.AST, outer: ast.AST, names: Mapping[str, bool]) -> bool:
    """Return True if only other Pythons, systems, type checkers or a script run a branch; ``names`` say which run."""
    with suppress(Exception):
        if isinstance(inner, ast.Compare):
            _value_here(inner, names)
            return True
        if isinstance(outer, ast.If | ast.IfExp):
            never = outer.orelse if _value_here(outer.test, names) else outer.body
            return inner is outer.test or inner is never or (isinstance(never, list) and inner in never)
    return False


@lru_cache(maxsize=64)
def names_of_systems(source: Source) -> dict[str, bool]:
    """Return the names of a module that stand for a question which Python runs or where, with the answer here."""
    found: dict[str, bool] = {}
    for each in source.tree.body:
        if isinstance(each, ast.Assign) and not isinstance(each.value, ast.Constant):
            with suppress(Exception):
                if isinstance(value := _value_here(each.value, found), bool):
                    found |= dict.fromkeys(_assigned(each), value)
    return found


def _value_here(node: ast.AST, names: Mapping[str, bool]) -> Any:
    """Return the value of an expression that asks which Python runs, where, and whether it runs at all.

    ``names`` are those of the module that stand for such a question.

    Raises:
        LookupError: it asks for anything else.
    """
    match node:
        case ast.Constant():
            return node.value
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return False
        case ast.Name(id="__name__"):
            return "imported"
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Name(id=name) | ast.Attribute(attr=name) if python := _PYTHON_2_OR_3.fullmatch(name):
            return python[1] == "3"
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not _value_here(inner, names)
        case ast.BoolOp(op=kind, values=values):
            known = []
            for each in values:
                with suppress(LookupError):
                    known.append(bool(_value_here(each, names)))
            decides = isinstance(kind, ast.Or)
            if decides in known:
                return decides
            if len(known) == len(values):
                return not decides
        case ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=int(exponent))) if exponent < 100:
            return _value_here(base, names) ** exponent
        case ast.Tuple():
            return tuple(_value_here(each, names) for each in node.elts)
        case ast.Attribute(value=ast.Name(id="sys" | "os" as module), attr=name) if name in _SYSTEM:
            return getattr(sys if module == "sys" else os, name)
        case ast.Attribute(value=inner, attr="major" | "minor" as name):
            return getattr(_value_here(inner, names), name)
        case ast.Subscript(value=inner, slice=ast.Slice(lower=None, upper=ast.Constant(value=int(end)), step=None)):
            return _value_here(inner, names)[:end]
        case ast.Subscript(value=inner, slice=ast.Constant(value=at)):
            return _value_here(inner, names)[at]
        case ast.Compare(left=left, ops=[asked], comparators=[right]):
            return _COMPARED[type(asked)](_value_here(left, names), _value_here(right, names))
        case ast.Call(func=ast.Name(id="hasattr"), args=[ast.Name(id="sys" | "os" as module), text]):
            return hasattr(sys if module == "sys" else os, _value_here(text, names))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="platform"), attr=name), args=[]):
            return getattr(platform, name)()
        case ast.Call(func=ast.Attribute(value=inner, attr="startswith"), args=[begin]):
            return _value_here(inner, names).startswith(_value_here(begin, names))
    raise LookupError


def _is_type(node: ast.expr) -> bool:
    """Return True for an expression of types, such as ``dict[str, int] | None``, but not for a lookup in a table."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return any(_is_type(each) or _is_none_or_builtin(each) for each in (node.left, node.right))
    if isinstance(node, ast.Call):
        return _last_name(node.func) in _TYPE_MAKERS
    return isinstance(node, ast.Subscript) and _last_name(node.value) in _GENERIC


def _is_none_or_builtin(node: ast.expr) -> bool:
    is_none = isinstance(node, ast.Constant) and node.value is None
    return is_none or (isinstance(node, ast.Name) and isinstance(getattr(builtins, node.id, None), type))


def _last_name(node: ast.AST) -> str:
    return str(getattr(node, "attr", "") or getattr(node, "id", ""))


_Assignment = ast.Assign | ast.AnnAssign | ast.AugAssign


def _assigned(node: _Assignment) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _is_of_error_text(source: Source, assignment: _Assignment, known: frozenset[str] = frozenset()) -> bool:
    """Return True if a local is only put into the text of an error or a log, directly or through other locals.

    A number that is an argument of an error is not text: a program may read it.
    """
    function, names = source.function_of(assignment), _assigned(assignment)
    if function is None or len(names) != 1 or assignment.value is None:
        return False
    if names <= known:
        return True
    is_text = _is_text(assignment.value)

    def is_for_error(read: ast.Name) -> bool:
        above = source.ancestors(read)
        at = next(at for at, each in enumerate(above) if isinstance(each, ast.stmt))
        statement, in_text = above[at], is_text or any(map(_is_text, above[:at]))
        if isinstance(statement, ast.Expr):
            return bool(_ARID_CALL.match(source.part(source.span(statement))))
        if isinstance(statement, _Assignment):
            return in_text and _is_of_error_text(source, statement, known | names)
        return in_text and isinstance(statement, ast.Raise)

    (name,) = names
    reads = _reads(source).get((function, name), [])
    return bool(reads) and all(map(is_for_error, reads))


def _is_text(node: ast.AST) -> bool:
    """Return True if an expression makes a text of literal ones."""
    match node:
        case ast.JoinedStr() | ast.Constant(value=str()):
            return True
        case ast.BinOp(op=ast.Add() | ast.Mod(), left=one, right=other):
            return _is_text(one) or _is_text(other)
        case ast.IfExp(body=one, orelse=other):
            return _is_text(one) and _is_text(other)
        case ast.Call(func=ast.Attribute(value=inner, attr="format" | "join")):
            return _is_text(inner)
    return False


@lru_cache(maxsize=64)
def _reads(source: Source) -> dict[tuple[Function | None, str], list[ast.Name]]:
    """Return the reads of each name, by the outermost function that holds them."""
    found: dict[tuple[Function | None, str], list[ast.Name]] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.setdefault((source.function_of(node), node.id), []).append(node)
    return found


def _sorted_out(source: Source, mutants: Iterable[Mutant]) -> Iterator[tuple[Mutant, str]]:
    """Yield the mutants that compile; mark those with the code of the original, or of an earlier mutant there."""
    units = _Units(source)
    earlier: dict[tuple[int, int], set[tuple[object, ...]]] = {}
    for mutant in mutants:
        try:
            found, before = units.shapes(mutant)
        except (SyntaxError, ValueError):
            continue
        known = earlier.setdefault(mutant.lines, set())
        if mutant.operator != CHIMP and found == before:
            yield mutant, "equivalent"
        elif mutant.operator != CHIMP and found in known:
            yield mutant, "duplicate"
        else:
            known.add(found)
            yield mutant, "mutants"


class _Units:
    """Compiles the part that shows whether a mutant equals the original: its function, or statement of the module."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._statements = [source.span(each) for each in source.tree.body]
        self._of_function = cache(lambda function: shape(compiled_unit(source, source.text, function)))
        self._of_statement = cache(lambda span: self._statement(source.text[slice(*span)]))

    def shapes(self, mutant: Mutant) -> tuple[tuple[object, ...], tuple[object, ...]]:
        """Return the shape of the code of a mutant, and that of the original in its place.

        Raises:
            SyntaxError, ValueError: the mutant does not compile.
        """
        text = mutant.applied(self._source.text)
        if mutant.function is not None:
            changed = shape(compiled_unit(self._source, text, mutant.function))
            return changed, self._of_function(mutant.function)
        at = bisect_right(self._statements, mutant.start, key=itemgetter(0)) - 1
        first, last = self._statements[at]
        changed = self._statement(text[first : last + len(text) - len(self._source.text)])
        return changed, self._of_statement((first, last))

    def _statement(self, text: bytes) -> tuple[object, ...]:
        return shape(_compiled(text, self._source, _future_flags(self._source)))


def equals_original(source: Source, mutant: Mutant) -> bool:
    """Return True if a mutant compiles to the code of the original."""
    changed = compiled_unit(source, mutant.applied(source.text), mutant.function)
    return _instructions(changed) == _instructions(compiled_unit(source, source.text, mutant.function))


def _instructions(code: types.CodeType) -> tuple[object, ...]:
    """Return the instructions of code, without the names and constants that it never uses."""
    instructions = list(dis.get_instructions(code))
    # Without jumps, the distance between instructions does not matter.
    jumps = {*dis.hasjrel, *dis.hasjabs}
    moves = bool(code.co_exceptiontable) or any(each.opcode in jumps for each in instructions)
    done = tuple(
        (each.opname, _instructions(each.argval) if isinstance(each.argval, types.CodeType) else exact(each.argval))
        for each in instructions
        if moves or each.opname != "NOP"
    )
    return done, code.co_exceptiontable, code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], code.co_flags


def compiled_unit(source: Source, text: bytes, function: tuple[int, int] | None) -> types.CodeType:
    """Return the code of a function (as a part of a module that holds little else), or that of the whole module.

    To compile a function alone takes a small part of the time of its file. It keeps its lines and its qualified name.
    """
    if function is None:
        return _compiled(text, source, _future_flags(source))
    first, last = function
    # A mutant is within its function, and has as many lines as the original.
    start, end = source.span_of_lines(first, last)
    flags, before = _surroundings(source, function)
    return _compiled(before + text[start : end + len(text) - len(source.text)] + b"\n", source, flags)


def _compiled(text: bytes, source: Source, flags: int) -> types.CodeType:
    with warnings.catch_warnings():
        # A mutant may call a tuple, or take an item of None: Python's warnings about that are not the user's.
        warnings.simplefilter("ignore", SyntaxWarning)
        code: types.CodeType = compile(text, str(source.path), "exec", flags, dont_inherit=True)
    return code


@lru_cache(maxsize=64)
def _imported_names(source: Source) -> list[str]:
    found: dict[str, None] = {}
    waiting: list[ast.AST] = [source.tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= dict.fromkeys((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif not isinstance(node, Function | ast.ClassDef):
            waiting += statements_in(node)
    return sorted(found.keys() - {"*"})


@lru_cache(maxsize=4096)
def _surroundings(source: Source, function: tuple[int, int]) -> tuple[int, bytes]:
    """Return how to compile a function alone, and what to put on the lines before it."""
    name, line = _names(source)[function], source.lines[function[0] - 1].decode()
    above = lines_above(function[0] - 1, line, name, _imported_names(source))
    return _future_flags(source), "".join(f"{each}\n" for each in above).encode()


@lru_cache(maxsize=64)
def _names(source: Source) -> dict[tuple[int, int], str]:
    return {lines_of(node): source.name_of(node) for node in ast.walk(source.tree) if isinstance(node, Function)}


@lru_cache(maxsize=64)
def _future_flags(source: Source) -> int:
    flags = 0
    for node in source.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                if alias.name == "annotations":
                    flags |= 0x1000000
    return flags


def raising(source: Source, mutant: Mutant) -> Mutant:
    """Return the mutant whose function raises as soon as it is called."""
    for node in ast.walk(source.tree):
        if isinstance(node, Function) and lines_of(node) == mutant.function:
            span = source.start(node.body[0]), source.end(node.body[-1])
            text = f"raise {padded(source.part(span), 'SystemError(1)')}"
            kept = " ; yield" if any(isinstance(each, ast.Yield) for each in ast.walk(node)) else ""
            return dataclasses.replace(mutant, start=span[0], end=span[1], replacement=text + kept)
    raise AssertionError("a mutant's function is in its file")
