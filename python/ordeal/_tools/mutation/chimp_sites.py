"""The nodes that `ordeal chimp` breaks: the table of Chaos Chimp on the syntax tree of today."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ordeal._tools.mutation.operators import Change, except_nothing, padded, removed
from ordeal._tools.mutation.source import Function, Source

_STATEMENTS = (
    *(ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match),
    *(ast.Assert, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef),
    *(ast.Expr, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.Raise, ast.TypeAlias),
)
_EXPRESSIONS = (
    *(ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Lambda, ast.IfExp, ast.ListComp, ast.SetComp, ast.DictComp),
    *(ast.GeneratorExp, ast.Yield, ast.YieldFrom, ast.Await, ast.Compare, ast.NamedExpr),
)


def sites(source: Source, node: ast.AST | None = None) -> Iterator[Change]:
    """Yield the nodes to break, in the chimp's order: all children of a node first, then those inside of each."""
    node = source.tree if node is None else node
    children = list(_children(node))
    for child in children:
        yield from _broken(source, node, child)
    for child in children:
        yield from sites(source, child)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the children of a node, without docstrings, annotations and parts of f-strings."""
    has_docstring = (
        isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node, False) is not None
    )
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_params") or isinstance(node, ast.JoinedStr):
            continue
        values = value if isinstance(value, list) else [value]
        for at, each in enumerate(values):
            if isinstance(each, ast.AST) and not (name == "body" and at == 0 and has_docstring):
                yield each


def _broken(source: Source, parent: ast.AST, node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return
    if isinstance(node, _STATEMENTS):
        assert isinstance(node, ast.stmt)
        yield removed(source, node, "None")
    elif isinstance(node, ast.ExceptHandler):
        yield from except_nothing(source, node)
    elif isinstance(node, _EXPRESSIONS):
        assert isinstance(node, ast.expr)
        span = source.span(node)
        if isinstance(node, ast.NamedExpr):
            text = f"({source.part(source.span(node.value))})"
        else:
            # A generator that is the only argument of a call lends its brackets to the call.
            lent = isinstance(node, ast.GeneratorExp) and isinstance(parent, ast.Call)
            text = "(None)" if lent and source.part(source.span(node)).startswith("(") else "None"
        yield Change(node, span, padded(source.part(span), text))
