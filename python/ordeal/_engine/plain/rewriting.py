"""Rewrites the source of test modules so that a recorder sees what they do with objects of the code under test.

Calls, attributes, items, operators, comparisons and loops become calls of the recorder. Only modules of the test are
rewritten, when they are imported; what they call runs as it is.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, override

from ordeal._engine.execution.operators import SIGNS

#: The name of the recorder in a rewritten module, which no program uses.
RECORDER = "__ordeal_recorder__"
#: Functions that look at the frame of their caller.
_FRAME_READERS = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})


class Rewriter(ast.NodeTransformer):
    """Rewrites one module. Evaluation order and results stay as they are."""

    def __init__(self) -> None:
        self._temporary = 0

    def _call(self, name: str, *arguments: ast.expr) -> ast.Call:
        function = ast.Attribute(ast.Name(RECORDER, ast.Load()), name, ast.Load())
        return ast.Call(function, list(arguments), [])

    @staticmethod
    def _is_private(name: str) -> bool:
        """Return True if Python mangles the name in a class."""
        return name.startswith("__") and not name.endswith("__")

    # -- expressions

    @override
    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id in _FRAME_READERS:
            return self.generic_visit(node)
        function = node.func
        arguments = [self.visit(each) for each in node.args]
        keywords = [ast.keyword(each.arg, self.visit(each.value)) for each in node.keywords]
        if isinstance(function, ast.Attribute) and not self._is_private(function.attr):
            made = self._call("method", self.visit(function.value), ast.Constant(function.attr))
        else:
            made = self._call("call", self.visit(function))
        made.args += arguments
        made.keywords = keywords
        return made

    @override
    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or self._is_private(node.attr):
            return node
        return self._call("attribute", node.value, ast.Constant(node.attr))

    @override
    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return self._call("item", node.value, self._index(node.slice))

    def _index(self, index: ast.expr) -> ast.expr:
        if isinstance(index, ast.Slice):
            bounds = [each or ast.Constant(None) for each in (index.lower, index.upper, index.step)]
            return ast.Call(ast.Name("slice", ast.Load()), bounds, [])
        if isinstance(index, ast.Tuple):
            return ast.Tuple([self._index(each) for each in index.elts], ast.Load())
        return index

    @override
    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        sides = self._operand(node.left), self._operand(node.right)
        return self._call("binary", ast.Constant(SIGNS[type(node.op)]), *sides)

    @override
    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return ast.UnaryOp(node.op, self._truth(node.operand))
        if isinstance(node.operand, ast.Constant):
            return node
        return self._call("unary", ast.Constant(SIGNS[type(node.op)]), node.operand)

    @override
    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) > 1:
            return node
        sides = self._operand(node.left), self._operand(node.comparators[0])
        return self._call("compare", ast.Constant(SIGNS[type(node.ops[0])]), *sides)

    def _operand(self, value: ast.expr) -> ast.expr:
        """Let the recorder note from which operation a value comes, if it comes from one directly."""
        if isinstance(value, ast.Constant):
            return self._call("constant", value)
        return self._call("operand", value) if isinstance(value, ast.Call) else value

    def _truth(self, test: ast.expr) -> ast.expr:
        """Let the recorder see the truth of a value that is neither a comparison nor made of others."""
        match test:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="compare")) if name == RECORDER:
                return test
            case ast.BoolOp() | ast.Compare() | ast.Constant() | ast.UnaryOp(op=ast.Not()):
                return test
        return self._call("truth", self._operand(test))

    @override
    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        node.values = [self._truth(each) for each in node.values]
        return node

    @override
    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        if not node.is_async:
            node.iter = self._call("iterate", node.iter)
        node.ifs = [self._truth(each) for each in node.ifs]
        return node

    # -- statements

    @override
    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        node.test = self._truth(node.test)
        return node

    visit_While = visit_IfExp = visit_If  # noqa: N815 - named like the classes of `ast`

    @override
    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        test, message = self._truth(self.visit(node.test)), node.msg
        # The message is left as it is: it is evaluated after the failure, and may look at anything.
        return ast.Assert(test, message)

    @override
    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = self._call("iterate", node.iter)
        return node

    @override
    def visit_Assign(self, node: ast.Assign) -> Any:
        if all(isinstance(target, ast.Name) for target in node.targets):
            return self.generic_visit(node)
        if any(isinstance(each, ast.Starred) for target in node.targets for each in ast.walk(target)):
            return self.generic_visit(node)
        held = self._fresh()
        statements: list[ast.stmt] = [ast.Assign([ast.Name(held, ast.Store())], self.visit(node.value))]
        for target in node.targets:
            statements += self._assign(target, ast.Name(held, ast.Load()))
        return statements

    def _fresh(self) -> str:
        self._temporary += 1
        return f"__ordeal_{self._temporary}__"

    def _assign(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        if isinstance(target, ast.Tuple | ast.List):
            names = [self._fresh() for _ in target.elts]
            unpacked: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
            statements: list[ast.stmt] = [ast.Assign([ast.Tuple(unpacked, ast.Store())], value)]
            for name, each in zip(names, target.elts, strict=True):
                statements += self._assign(each, ast.Name(name, ast.Load()))
            return statements
        if isinstance(target, ast.Attribute) and not self._is_private(target.attr):
            call = self._call("set_attribute", self.visit(target.value), ast.Constant(target.attr), value)
            return [ast.Expr(call)]
        if isinstance(target, ast.Subscript):
            index = self._index(self.visit(target.slice))
            return [ast.Expr(self._call("set_item", self.visit(target.value), index, value))]
        return [ast.Assign([self.visit(target)], value)]

    @override
    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if isinstance(node.target, ast.Name) or node.value is None:
            if node.value is not None:
                node.value = self.visit(node.value)
            return node
        return self._assign(node.target, self.visit(node.value))

    @override
    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        sign, value, target = ast.Constant(SIGNS[type(node.op)]), self.visit(node.value), node.target
        if isinstance(target, ast.Name):
            old = ast.Name(target.id, ast.Load())
            return ast.Assign([target], self._call("in_place", sign, old, value))
        if isinstance(target, ast.Attribute) and not self._is_private(target.attr):
            return ast.Expr(
                self._call("in_place_attribute", sign, self.visit(target.value), ast.Constant(target.attr), value)
            )
        if isinstance(target, ast.Subscript):
            index = self._index(self.visit(target.slice))
            return ast.Expr(self._call("in_place_item", sign, self.visit(target.value), index, value))
        return ast.AugAssign(target, node.op, value)

    @override
    def visit_Delete(self, node: ast.Delete) -> Any:
        statements: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                index = self._index(self.visit(target.slice))
                statements.append(ast.Expr(self._call("delete_item", self.visit(target.value), index)))
            elif isinstance(target, ast.Attribute) and not self._is_private(target.attr):
                call = self._call("delete_attribute", self.visit(target.value), ast.Constant(target.attr))
                statements.append(ast.Expr(call))
            else:
                statements.append(ast.Delete([target]))
        return statements

    @override
    def visit_With(self, node: ast.With) -> ast.AST:
        self.generic_visit(node)
        for item in node.items:
            item.context_expr = self._call("context", item.context_expr)
        return node

    # Annotations do not run, and patterns have no calls.

    @override
    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.body = self._block(node.body)
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.args.defaults = [self.visit(each) for each in node.args.defaults]
        node.args.kw_defaults = [each and self.visit(each) for each in node.args.kw_defaults]
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def _block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in body:
            result: Any = self.visit(statement)
            made += result if isinstance(result, list) else [result]
        return made

    @override
    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        node.guard = node.guard and self._truth(self.visit(node.guard))
        node.body = self._block(node.body)
        return node


def rewritten(source: str, path: str) -> ast.Module:
    """Return the rewritten syntax tree of a module."""
    tree = ast.parse(source, path)
    changed = Rewriter().visit(tree)
    assert isinstance(changed, ast.Module)
    return ast.fix_missing_locations(changed)


class _RewritingLoader(importlib.machinery.SourceFileLoader):
    """Loads a module from its rewritten source; nothing is cached."""

    recorder: Any = None

    @override
    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        source = self.get_source(fullname)
        assert source is not None
        return compile(rewritten(source, path), path, "exec", dont_inherit=True)

    @override
    def exec_module(self, module: ModuleType) -> None:
        setattr(module, RECORDER, self.recorder)
        super().exec_module(module)


class Finder(importlib.abc.MetaPathFinder):
    """Has the modules that ``wants`` chooses by name and path loaded from rewritten source."""

    def __init__(self, wants: Callable[[str, str], bool], recorder: object) -> None:
        self._wants = wants
        self._recorder = recorder
        self.files: set[str] = set()

    def install(self) -> None:
        """Rewrite modules that are imported from now on."""
        sys.meta_path.insert(0, self)

    @override
    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> Any:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader or spec.origin is None:
            return None
        if not self._wants(fullname, spec.origin):
            return None
        loader = _RewritingLoader(fullname, spec.origin)
        loader.recorder = self._recorder
        self.files.add(spec.origin)
        return importlib.util.spec_from_file_location(
            fullname, spec.origin, loader=loader, submodule_search_locations=spec.submodule_search_locations
        )
