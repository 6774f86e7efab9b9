"""What is never mutated: code that tests do not check, or that does not run here."""

from __future__ import annotations

import ast
import builtins
import operator
import os
import platform
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from typing import Any

from ordeal._tools.mutation.source import Function, Source

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


def is_never_mutated(source: Source, node: ast.AST) -> bool:
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
        case ast.Compare(left=left, ops=asked, comparators=rights):
            pairs = pairwise(_value_here(each, names) for each in (left, *rights))
            return all(_COMPARED[type(each)](*pair) for each, pair in zip(asked, pairs, strict=True))
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
