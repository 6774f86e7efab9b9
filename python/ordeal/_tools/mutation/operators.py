"""The operators: each yields the changes that it makes to a file, as a span and the text that replaces it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ordeal._tools.mutation.source import Function, Source, Span


@dataclass(frozen=True, slots=True)
class Change:
    """One change: the node that it breaks, the span that it replaces, and by what."""

    node: ast.stmt | ast.expr | ast.ExceptHandler
    span: Span
    replacement: str


Operator = Callable[[Source, ast.AST], Iterator[Change]]

_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "&"),
    ast.MatMult: ("@", "*"),
}
_COMPARISON: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: (r"is\s+not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: (r"not\s+in", ("in",)),
}


def padded(original: str, replacement: str, *, is_statement: bool = False) -> str:
    """Return a replacement with as many lines as the original, so that all that follows keeps its line."""
    missing = original.count("\n") - replacement.count("\n")
    if missing <= 0:
        return replacement
    return f"({'None' if is_statement else replacement}{chr(10) * missing})"


def _gap(source: Source, node: ast.expr | ast.stmt, span: Span, old: str, new: str) -> Iterator[Change]:
    """Replace an operator between two operands. If a comment is between them, leave it alone."""
    between = source.part(span)
    match = None if "#" in between else re.search(old, between)
    if match:
        start = span[0] + len(between[: match.start()].encode())
        yield Change(node, (start, start + len(match.group().encode())), padded(match.group(), new))


def arithmetic(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield ``a + b`` to ``a - b``, and so on, also in ``a += b``."""
    if isinstance(node, ast.BinOp):
        left, right = node.left, node.right
        is_text = isinstance(node.op, ast.Mod | ast.Add) and any(
            isinstance(each, ast.JoinedStr) or (isinstance(each, ast.Constant) and isinstance(each.value, str | bytes))
            for each in (left, right)
        )
        if not is_text:
            old, new = _ARITHMETIC[type(node.op)]
            yield from _gap(source, node, (source.end(left), source.start(right)), re.escape(old), new)
    elif isinstance(node, ast.AugAssign):
        old, new = _ARITHMETIC[type(node.op)]
        span = (source.end(node.target), source.start(node.value))
        yield from _gap(source, node, span, re.escape(f"{old}="), f"{new}=")


def comparison(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield ``a < b`` to ``a <= b`` and to ``a >= b``, and so on; one operator of a chain at a time."""
    if not isinstance(node, ast.Compare):
        return
    operands = [node.left, *node.comparators]
    for left, right, operator in zip(operands, node.comparators, node.ops, strict=False):
        old, news = _COMPARISON[type(operator)]
        pattern = rf"\b{old}\b" if old[0].isalpha() else re.escape(old)
        for new in news:
            yield from _gap(source, node, (source.end(left), source.start(right)), pattern, new)


def negate(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield a condition to its opposite: of ``if``, ``while``, a conditional expression, a comprehension."""
    tests = [node.test] if isinstance(node, ast.If | ast.While | ast.IfExp) else []
    tests += node.ifs if isinstance(node, ast.comprehension) else []
    for test in tests:
        span = source.span(test)
        text = source.part(span)
        is_one = isinstance(test, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
        yield Change(test, span, f"not {text}" if is_one else f"not ({text})")


def return_none(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield ``return x`` to ``return None``, and ``return True`` to ``return False`` and back."""
    value = node.value if isinstance(node, ast.Return) else None
    if isinstance(value, ast.Constant) and isinstance(value.value, bool):
        # Callers that only ask whether it is true cannot tell None from False.
        yield _replaced(source, value, str(not value.value))
    elif value is not None and not (isinstance(value, ast.Constant) and value.value is None):
        yield _replaced(source, value, "None")


def _replaced(source: Source, node: ast.expr, new: str) -> Change:
    span = source.span(node)
    return Change(node, span, padded(source.part(span), new))


def boundary(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield an integer to the next one and to the one before, to the base that it is written in.

    The index 0 becomes no -1: where there is one item, that is the same, and elsewhere 1 shows as much.
    """
    if isinstance(node, ast.Constant) and type(node.value) is int:
        written = {"0x": hex, "0o": oct, "0b": bin}.get(source.part(source.span(node))[:2].lower(), str)
        is_first = node.value == 0 and isinstance(source.parents[node], ast.Subscript)
        for new in (node.value + 1, node.value - 1)[: 1 if is_first else 2]:
            yield _replaced(source, node, written(new) if new >= 0 else f"({new})")


def constant(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield ``True`` to ``False`` and back, and a number with a fraction to one more."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield _replaced(source, node, str(not node.value))
        elif isinstance(node.value, float):
            yield _replaced(source, node, repr(node.value + 1.0))


def logical(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield ``a and b`` to ``a or b`` and back; one operator of a chain at a time."""
    if isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield from _gap(source, node, (source.end(left), source.start(right)), rf"\b{old}\b", new)


def removed(source: Source, node: ast.stmt, word: str = "pass") -> Change:
    """Return the change that takes a statement out."""
    span = source.span(node)
    original = source.part(span)
    text = padded(original, word, is_statement=True)
    return Change(node, span, f"else: {text}" if original.startswith("elif") else text)


def delete_statement(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield a call, an assignment, a ``del`` or a ``raise`` to ``pass``."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.Delete | ast.Raise) or (
        (isinstance(node, ast.AnnAssign) and node.value is not None)
        or (isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant))
    ):
        yield removed(source, node)


def remove_not(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield ``not x`` to ``x``."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield _replaced(source, node, f"({source.part(source.span(node.operand))})")


def unary_negate(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield ``-x`` to ``+x`` and ``~x`` to ``x``."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Invert):
        yield _replaced(source, node, f"(+{source.part(source.span(node.operand))})")


def break_continue_swap(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield ``break`` to ``continue`` and back."""
    if isinstance(node, ast.Break | ast.Continue):
        yield Change(node, source.span(node), "continue" if isinstance(node, ast.Break) else "break")


def exception_swallow(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield the first statement of a handler to ``pass``."""
    if isinstance(node, ast.ExceptHandler) and not isinstance(node.body[0], ast.Pass):
        yield removed(source, node.body[0])


def argument_none(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield each positional argument of a call to ``None``."""
    if isinstance(node, ast.Call):
        for each in node.args:
            bare = isinstance(each, ast.GeneratorExp) and len(node.args) == 1
            if not (bare or isinstance(each, ast.Starred) or (isinstance(each, ast.Constant) and each.value is None)):
                yield _replaced(source, each, "None")


def string(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield a text to an empty one, and an empty one to a text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield _replaced(source, node, "''" if node.value else "'ordeal'")


def except_nothing(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield a handler to one that catches nothing, so that the exception gets through."""
    if isinstance(node, ast.ExceptHandler):
        start = source.start(node)
        known = source.end(node.type) if node.type is not None else start + len("except")
        match = re.match(r"[^#:]*:", source.part((known, source.start(node.body[0]))))
        header = source.part((start, known))
        if match and not re.match(r"except\s*\*", header):
            end = known + len(match.group().encode())
            yield Change(node, (start, end), "except " + padded(source.part((start, end)), "()") + ":")


def argument_swap(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield the first two positional arguments of a call to each other's places."""
    if isinstance(node, ast.Call) and len(node.args) > 1:
        one, two = node.args[:2]
        if isinstance(one, ast.Starred) or isinstance(two, ast.Starred):
            return
        first, second = source.part(source.span(one)), source.part(source.span(two))
        between = source.part((source.end(one), source.start(two)))
        if first != second:
            yield Change(one, (source.start(one), source.end(two)), f"{second}{between}{first}")


def filter_drop(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield a comprehension without one of its conditions."""
    if isinstance(node, ast.comprehension):
        for each in node.ifs:
            yield _replaced(source, each, "True")


def slice_drop(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield a slice without one of its bounds."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        for each in (node.slice.lower, node.slice.upper):
            if each is not None and "\n" not in source.part(source.span(each)):
                yield Change(each, source.span(each), "")


_METHODS = ("lower", "upper"), ("lstrip", "rstrip"), ("startswith", "endswith"), ("find", "rfind"), ("min", "max")
_OTHER_METHOD = {name: other for pair in _METHODS for name, other in (pair, pair[::-1])}


def method_swap(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield a call of ``lower`` to one of ``upper``, ``min`` to ``max``, and so on."""
    function = node.func if isinstance(node, ast.Call) else None
    name = str(getattr(function, "attr", "") or getattr(function, "id", ""))
    if function is not None and name in _OTHER_METHOD:
        end = source.end(function)
        yield Change(function, (end - len(name), end), _OTHER_METHOD[name])


def default_none(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield the default of an argument to ``None``."""
    if isinstance(node, Function):
        for each in (*node.args.defaults, *node.args.kw_defaults):
            if each is not None and not (isinstance(each, ast.Constant) and each.value is None):
                yield _replaced(source, each, "None")


def except_widen(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield the exception that a handler names to ``Exception``."""
    kind = node.type if isinstance(node, ast.ExceptHandler) else None
    if kind is not None and source.part(source.span(kind)) not in ("Exception", "BaseException"):
        yield _replaced(source, kind, "Exception")


def finally_drop(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield the body of ``finally`` to ``pass``."""
    body = node.finalbody if isinstance(node, ast.Try | ast.TryStar) else []
    if body and not isinstance(body[0], ast.Pass):
        span = source.start(body[0]), source.end(body[-1])
        yield Change(body[0], span, padded(source.part(span), "pass", is_statement=True))


def with_unwrap(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield a context manager to one that does nothing and returns its argument."""
    for each in node.items if isinstance(node, ast.With | ast.AsyncWith) else ():
        span = source.span(each.context_expr)
        yield Change(each.context_expr, span, f"__import__('contextlib').nullcontext({source.part(span)})")


def match_case_drop(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield a case to one that matches nothing."""
    if not isinstance(node, ast.match_case):
        return
    if node.guard is not None:
        yield _replaced(source, node.guard, "False")
        return
    end = source.end(node.pattern)
    match = re.match(r"[\s),]*", source.part((end, source.start(node.body[0]))))
    end += len(match.group().encode()) if match else 0
    yield Change(node.body[0], (end, end), " if False")


def decorator_remove(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield a function or class without one of its decorators."""
    for each in node.decorator_list if isinstance(node, Function | ast.ClassDef) else ():
        start, end = source.span(each)
        span = source.text.rindex(b"@", 0, start), end
        yield Change(each, span, "\n" * source.part(span).count("\n"))


def fstring(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield an f-string to an empty text; not that of an error."""
    if isinstance(node, ast.JoinedStr) and node.values and not isinstance(source.parents[node], ast.FormattedValue):
        span, statement = source.span(node), source.statement_of(node)
        if not isinstance(statement, ast.Raise):
            yield Change(statement, span, padded(source.part(span), "''"))


def body_none(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield the whole body of a function to ``return None``; its docstring stays."""
    if isinstance(node, Function) and (body := _body_of(node)):
        yield _returning(source, node, body, "None")


def body_value(source: Source, node: ast.AST) -> Iterator[Change]:
    """Yield the whole body of a function to ``return`` of a plain value of the type it returns, if that is declared."""
    if isinstance(node, Function) and (body := _body_of(node)):
        declared = "" if node.returns is None else source.part(source.span(node.returns)).strip("\"'")
        values = () if _is_generator(source, node) else _PLAIN_VALUES.get(declared.partition("[")[0], ())
        for value in values:
            yield _returning(source, node, body, value)


def _body_of(node: Function) -> list[ast.stmt]:
    """Return the body without its docstring; nothing if it does nothing."""
    body = node.body[1:] if _is_docstring(node.body[0]) and len(node.body) > 1 else node.body
    match body:
        case [ast.Return(value=None | ast.Constant(value=None))]:
            return []
    return [] if all(isinstance(each, ast.Pass) or _is_docstring(each) for each in body) else body


def _returning(source: Source, node: Function, body: list[ast.stmt], value: str) -> Change:
    span = source.start(body[0]), source.end(body[-1])
    lines = source.part(span).count("\n")
    text = f"return ({value}{chr(10) * lines})" if lines else f"return {value}"
    return Change(body[0], span, f"{text}; yield" if _is_generator(source, node) else text)


def _is_generator(source: Source, node: Function) -> bool:
    return any(
        isinstance(each, ast.Yield | ast.YieldFrom) and source.name_of(each) == source.name_of(node)
        for each in ast.walk(node)
    )


_PLAIN_VALUES = {
    "bool": ("True", "False"),
    "int": ("0", "1"),
    "float": ("0.0", "1.0"),
    "str": ("''", "'A'"),
    "bytes": ("b''", "b'A'"),
    "list": ("[]",),
    "dict": ("{}",),
    "set": ("set()",),
    "tuple": ("()",),
}


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


OPERATORS: dict[str, Operator] = {
    each.__name__: each
    for each in (
        *(arithmetic, comparison, negate, return_none, boundary, constant, logical, delete_statement),
        *(remove_not, unary_negate, break_continue_swap, exception_swallow, except_nothing),
        *(argument_none, string),
        *(argument_swap, filter_drop, slice_drop, method_swap, default_none),
        *(except_widen, finally_drop, with_unwrap, match_case_drop),
        *(decorator_remove, fstring, body_none, body_value),
    )
}
_NAMES = list(OPERATORS)
#: The operators that replace the whole body of a function.
BODY_OPERATORS = tuple(_NAMES[-2:])
PRESETS: dict[str, tuple[str, ...]] = {
    "extreme": BODY_OPERATORS,
    "essential": tuple(_NAMES[:4]),
    "standard": tuple(_NAMES[:8]),
    "thorough": tuple(_NAMES[:-2]),
}
