"""Compiles functions again from their source, so that they report the values that they compare.

The program behaves as before: each operand that can vary passes through a function that returns it. The comparison
itself stays where it is, so operands are evaluated once and in order, chains end where they did, and methods like
``__eq__`` are called as before.
"""

from __future__ import annotations
import __future__

import ast
import warnings
from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import reduce
from inspect import CO_NEWLOCALS, CO_OPTIMIZED
from itertools import takewhile
from operator import or_
from types import CodeType
from typing import Any

import msgspec

from ordeal._base.code_objects import shape

_MARK = "\0comparison operand "

#: The flags of all that a file can import from ``__future__``.
_FUTURE = reduce(or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names))

#: Line, last line, column, last column: as in code objects.
Position = tuple[int, int | None, int, int | None]


class Kind(Enum):
    """The operation on the two operands of a site."""

    EQUAL = auto()
    ORDER = auto()
    MEMBER = auto()
    LOOKUP = auto()
    PREFIX = auto()
    SUFFIX = auto()
    MATCH = auto()


class Fixed(msgspec.Struct, frozen=True):
    """An operand that is a constant of the source. For a ``match`` it is a tuple of ``PatternValue``."""

    value: Any


class PatternValue(msgspec.Struct, frozen=True):
    """A constant in a pattern: of the subject itself (``place`` is None) or of an item of it."""

    place: Any
    value: Any


class ComparisonSite(msgspec.Struct, frozen=True, eq=False):
    """A comparison; equal only to itself.

    Varying operands are numbers: those of the functions through which they pass.
    """

    kind: Kind
    left: int | Fixed
    right: int | Fixed
    position: Position | None  # of the expression; None when no single branch depends on it


class Watched(msgspec.Struct, frozen=True):
    """A function of the source: its present ``code``, and ``marked``, the same with marks for the functions to call."""

    code: CodeType
    marked: CodeType


class ComparisonSites(msgspec.Struct, frozen=True):
    """The comparisons of some source; ``operands`` is how many operands vary.

    ``functions`` are found by qualified name and first line. Those that share both are left out.
    """

    functions: dict[tuple[str, int], Watched]
    sites: list[ComparisonSite]
    operands: int


def find_comparisons(text: str, path: str, flags: int = 0) -> ComparisonSites | None:
    """Compile the source ``text`` of the file ``path``; None when it is not valid Python.

    ``flags`` are those of code in the file: what it imports from ``__future__`` may not be in the text.
    """
    flags &= _FUTURE
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # shown at import already, or caused by a mark
            code = compile(text, path, "exec", flags, dont_inherit=True)
            tree = compile(text, path, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
            marker = _Marker()
            marked = compile(marker.visit(tree), path, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return None
    functions: dict[tuple[str, int], Watched] = {}
    doubles = set()
    for watched in _functions(code, marked):
        key = (watched.code.co_qualname, watched.code.co_firstlineno)
        if key in functions:
            doubles.add(key)
        functions[key] = watched
    for key in doubles:
        del functions[key]
    return ComparisonSites(functions, marker.sites, marker.operands)


def operands_in(marked: CodeType) -> Iterator[int]:
    """Yield the numbers of the operands in the body of ``marked``, including its generator expressions."""
    for constant in marked.co_consts:
        if isinstance(constant, CodeType):
            if _is_own(constant):
                yield from operands_in(constant)
        elif isinstance(constant, str) and constant.startswith(_MARK):
            yield int(constant.removeprefix(_MARK))


def with_calls(watched: Watched, running: CodeType, call: Callable[[int], Callable[[Any], Any]]) -> CodeType | None:
    """Return the code to run in place of ``running``, which passes operand n through ``call(n)``.

    Functions that it defines stay as they are, because they may outlive the run. None when ``running`` is not what the
    source compiles to, because the file has changed or something has rewritten it.
    """
    return _filled(watched.marked, running, call) if shape(watched.code) == shape(running) else None


def _filled(marked: CodeType, running: CodeType, call: Callable[[int], Callable[[Any], Any]]) -> CodeType | None:
    nested = [constant for constant in running.co_consts if isinstance(constant, CodeType)]
    names = [constant.co_name for constant in marked.co_consts if isinstance(constant, CodeType)]
    if names != [code.co_name for code in nested] or marked.co_freevars != running.co_freevars:
        return None
    left = iter(nested)
    constants: list[Any] = []
    for constant in marked.co_consts:
        filled: Any = constant
        if isinstance(constant, CodeType):
            filled = next(left)
            if _is_own(constant):
                filled = _filled(constant, filled, call)
                if filled is None:
                    return None
        elif isinstance(constant, str) and constant.startswith(_MARK):
            filled = call(int(constant.removeprefix(_MARK)))
        constants.append(filled)
    return marked.replace(co_consts=tuple(constants), co_filename="<comparisons>")


def _is_own(code: CodeType) -> bool:
    """Return True if the code runs as a part of the enclosing function."""
    return code.co_name == "<genexpr>"


def _functions(code: CodeType, marked: CodeType) -> Iterator[Watched]:
    """Yield the functions of the two, which differ only in the marks."""
    nested = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    nested_marked = [constant for constant in marked.co_consts if isinstance(constant, CodeType)]
    if [each.co_name for each in nested] != [each.co_name for each in nested_marked]:
        return
    for inner, inner_marked in zip(nested, nested_marked, strict=True):
        if inner.co_flags & CO_OPTIMIZED and inner.co_flags & CO_NEWLOCALS and any(operands_in(inner_marked)):
            yield Watched(inner, inner_marked)
        yield from _functions(inner, inner_marked)


_KINDS: dict[type[ast.cmpop], Kind] = {
    ast.Eq: Kind.EQUAL,
    ast.NotEq: Kind.EQUAL,
    ast.Lt: Kind.ORDER,
    ast.LtE: Kind.ORDER,
    ast.Gt: Kind.ORDER,
    ast.GtE: Kind.ORDER,
    ast.In: Kind.MEMBER,
    ast.NotIn: Kind.MEMBER,
}
#: Nodes that are surely not constants, so there is no need to try.
_VARIABLE = (ast.Name, ast.Attribute, ast.Subscript)
_METHODS = {"startswith": Kind.PREFIX, "endswith": Kind.SUFFIX, "get": Kind.LOOKUP}


class _Marker(ast.NodeTransformer):
    """Wraps each operand of a comparison in a call of a mark."""

    def __init__(self) -> None:
        self.sites: list[ComparisonSite] = []
        self.operands = 1  # so that no number is false

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Mark ``left < middle == right``: each operand once, however many comparisons it is part of."""
        position = _position(node)
        self.generic_visit(node)
        if not any(type(op) in _KINDS for op in node.ops):
            return node
        operands = [node.left, *node.comparators]
        marks = [self._operand(operand) for operand in operands]
        for op, left, right in zip(node.ops, marks, marks[1:], strict=False):
            if type(op) in _KINDS:
                self._add(_KINDS[type(op)], left, right, position)
        node.left, *node.comparators = [self._called(*pair) for pair in zip(operands, marks, strict=True)]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Mark ``text.startswith(part)``, ``text.endswith(part)`` and ``table.get(key)``."""
        position = _position(node)
        self.generic_visit(node)
        function = node.func
        if not isinstance(function, ast.Attribute) or function.attr not in _METHODS or not node.args:
            return node
        if isinstance(node.args[0], ast.Starred):
            return node
        kind = _METHODS[function.attr]
        owner, argument = self._operand(function.value), self._operand(node.args[0])
        left, right = (argument, owner) if kind is Kind.LOOKUP else (owner, argument)
        self._add(kind, left, right, position)
        function.value = self._called(function.value, owner)
        node.args[0] = self._called(node.args[0], argument)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Mark ``table[key]``, but no index into a sequence and no slice."""
        self.generic_visit(node)
        key = node.slice
        keys = key.elts if isinstance(key, ast.Tuple) else [key]
        is_slice = any(isinstance(each, ast.Slice) for each in keys)
        is_place = isinstance(key, ast.Constant) and isinstance(key.value, int)
        if not isinstance(node.ctx, ast.Load) or is_slice or is_place or isinstance(key, ast.Starred | ast.UnaryOp):
            return node
        owner, looked_up = self._operand(node.value), self._operand(key)
        self._add(Kind.LOOKUP, looked_up, owner, None)
        node.value = self._called(node.value, owner)
        node.slice = self._called(key, looked_up)
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        """Mark the subject, with the constants of all cases."""
        values = tuple(value for case in node.cases for value in _pattern_values(case.pattern, None))
        self.generic_visit(node)
        subject = self._operand(node.subject)
        if values:
            self._add(Kind.MATCH, subject, Fixed(values), None)
            node.subject = self._called(node.subject, subject)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        """Visit everything but annotations, whose text others may read."""
        returns, node.returns = node.returns, None
        parameters, node.type_params = node.type_params, []
        self.generic_visit(node)
        node.returns, node.type_params = returns, parameters
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - named like the classes of `ast`

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Leave annotations as they are: in functions they are not evaluated."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_arg(self, node: ast.AST) -> ast.AST:
        """Leave annotations as they are, and text for people, on which no branch depends."""
        return node

    visit_TypeAlias = visit_JoinedStr = visit_arg  # noqa: N815

    def _operand(self, node: ast.expr) -> int | Fixed:
        """Return a new number, or the constant that the operand is."""
        if not isinstance(node, _VARIABLE):
            try:
                return Fixed(ast.literal_eval(node))
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                pass
        self.operands += 1
        return self.operands - 1

    def _called(self, node: ast.expr, operand: int | Fixed) -> ast.expr:
        if isinstance(operand, Fixed):
            return node
        constant = ast.copy_location(ast.Constant(value=f"{_MARK}{operand}"), node)
        # Python warns of a call of a constant, which takes as long as everything else together; it does not recognise
        # this one.
        mark = ast.copy_location(ast.BoolOp(op=ast.Or(), values=[constant, constant]), node)
        return ast.copy_location(ast.Call(func=mark, args=[node], keywords=[]), node)

    def _add(self, kind: Kind, left: int | Fixed, right: int | Fixed, position: Position | None) -> None:
        if not isinstance(left, Fixed) or not isinstance(right, Fixed):
            self.sites.append(ComparisonSite(kind, left, right, position))


def _position(node: ast.expr) -> Position:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _pattern_values(pattern: ast.pattern, place: Any) -> Iterator[PatternValue]:
    """Yield the constants of ``pattern``, at ``place`` of the subject. Deeper ones are left out."""
    match pattern:
        case ast.MatchValue(value=ast.Constant(value=value)):
            yield PatternValue(place, value)
        case ast.MatchOr(patterns=patterns):
            for each in patterns:
                yield from _pattern_values(each, place)
        case ast.MatchAs(pattern=ast.pattern() as inner):
            yield from _pattern_values(inner, place)
        case ast.MatchSequence(patterns=patterns) if place is None:
            before_star = takewhile(lambda each: not isinstance(each, ast.MatchStar), patterns)
            for index, each in enumerate(before_star):
                yield from _pattern_values(each, index)
        case ast.MatchMapping(keys=keys, patterns=patterns) if place is None:
            for key, each in zip(keys, patterns, strict=True):
                if isinstance(key, ast.Constant):
                    yield from _pattern_values(each, key.value)
