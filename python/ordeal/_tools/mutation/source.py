"""A source file as mutation needs it: its bytes, its syntax tree, and where each node and each function lies."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from ordeal._base.limits import SOURCE_BYTES_MAX
from ordeal._base.regular_file import read_regular
from ordeal.errors import ConfigError

Function = ast.FunctionDef | ast.AsyncFunctionDef
Span = tuple[int, int]


@dataclass(frozen=True)
class Source:
    """A file of Python: where it lies, the path that people read, and its bytes."""

    path: Path
    shown: str
    text: bytes

    @classmethod
    def of(cls, path: Path, shown: str) -> Source:
        """Read a file. One that is not Python in UTF-8 is the caller's mistake."""
        try:
            source = cls(path, shown, read_regular(path, SOURCE_BYTES_MAX).removeprefix(b"\xef\xbb\xbf"))
            _refuse_other_text(source.text)
            source.tree  # noqa: B018 - it is parsed once, and kept
        except (OSError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
            line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            what = _what(error)
            raise ConfigError(
                f"{shown}{line} cannot be read as Python in UTF-8: {what}",
                hint="fix the file, or leave it out with `--exclude`",
            ) from None
        return source

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        with warnings.catch_warnings():
            # The import of the file warns of it; here the warning would be noise.
            warnings.simplefilter("ignore")
            return ast.parse(self.text)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The parent of each node."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines, without their ends."""
        return self.text.split(b"\n")

    @cached_property
    def _line_starts(self) -> list[int]:
        return list(accumulate(map(len, self.lines), lambda at, size: at + size + 1, initial=0))

    def start(self, node: ast.stmt | ast.expr | ast.ExceptHandler) -> int:
        """Return where a node begins, a decorated one with its first decorator."""
        at = self._line_starts[node.lineno - 1] + node.col_offset
        decorators = getattr(node, "decorator_list", ())
        return self.text.rindex(b"@", 0, self.start(decorators[0])) if decorators else at

    def end(self, node: ast.stmt | ast.expr | ast.ExceptHandler | ast.pattern) -> int:
        """Return where a node ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._line_starts[node.end_lineno - 1] + node.end_col_offset

    def span(self, node: ast.stmt | ast.expr | ast.ExceptHandler) -> Span:
        """Return where a node begins and ends."""
        return self.start(node), self.end(node)

    def part(self, span: Span) -> str:
        """Return the text between two places."""
        return self.text[slice(*span)].decode()

    def line_of(self, offset: int) -> int:
        """Return the number of the line that holds a place."""
        return self.text.count(b"\n", 0, offset) + 1

    def span_of_lines(self, first: int, last: int) -> Span:
        """Return where lines begin and end, without the end of the last one."""
        return self._line_starts[first - 1], self._line_starts[last] - 1

    def ancestors(self, node: ast.AST) -> list[ast.AST]:
        """Return the ancestors of a node, from the inside out."""
        found = []
        while (node := self.parents.get(node, self.tree)) is not self.tree:
            found.append(node)
        return found

    def statement_of(self, node: ast.AST) -> ast.stmt | ast.ExceptHandler:
        """Return the innermost statement that holds a node, or is it."""
        return next(each for each in (node, *self.ancestors(node)) if isinstance(each, ast.stmt | ast.ExceptHandler))

    def function_of(self, node: ast.AST) -> Function | None:
        """Return the outermost function in whose body a node lies; None where it runs with its module or class."""
        found: Function | None = None
        inner = node
        for each in self.ancestors(node):
            if isinstance(each, Function) and inner in each.body:
                found = each
            inner = each
        return found

    @cached_property
    def _defaults(self) -> list[tuple[Function, ast.expr]]:
        found: list[tuple[Function, ast.expr]] = []
        for node in ast.walk(self.tree):
            if isinstance(node, Function) and self.function_of(node) is None:
                for each in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                    with suppress(ValueError):
                        ast.literal_eval(each)
                        found.append((node, each))
        return found

    def default_at(self, span: Span) -> tuple[Function, ast.expr] | None:
        """Return the outermost function whose literal default holds a place, and that default."""
        for function, default in self._defaults:
            if self.start(default) <= span[0] and span[1] <= self.end(default):
                return function, default
        return None

    def name_of(self, node: ast.AST) -> str:
        """Return the dotted name of the functions and classes that hold a node, with its own where it is one."""
        names = [each.name for each in (node, *self.ancestors(node)) if isinstance(each, Function | ast.ClassDef)]
        return ".".join(reversed(names))

    def lines_of(self, name: str) -> Span:
        """Return the first and last line of the class or function of a dotted name; those of the file, for none."""
        node = self.named(name)
        if node is None:
            return 1, self.text.count(b"\n") + 1
        return node.lineno, node.end_lineno or node.lineno

    def named(self, name: str) -> Function | ast.ClassDef | None:
        """Return the class or function of a dotted name."""
        for node in ast.walk(self.tree):
            if isinstance(node, Function | ast.ClassDef) and self.name_of(node) == name:
                return node
        return None


def _refuse_other_text(text: bytes) -> None:
    """Refuse a file that Python does not read byte by byte: positions in its tree would not fit the bytes.

    Raises:
        ValueError: it is not in UTF-8, says that it is not, or has a line that ends as no other does.
        SyntaxError: it names an encoding that there is not.
    """
    text.decode()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(text).readline)
    if encoding != "utf-8" and not text.isascii():
        raise ValueError(f"it declares the encoding {encoding}")
    before, alone, _ = text.replace(b"\r\n", b"\n").partition(b"\r")
    if alone:
        raise ValueError(f"line {before.count(b'\n') + 1} ends with a carriage return alone")


def _what(error: Exception) -> str:
    """Return what is wrong with a file, in a line."""
    if isinstance(error, SyntaxError):
        return error.msg
    if isinstance(error, RecursionError | MemoryError):
        return "it nests too deeply"
    return (isinstance(error, OSError) and error.strerror) or str(error)
