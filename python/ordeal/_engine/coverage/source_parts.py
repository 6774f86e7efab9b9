"""Cuts source files into parts that compile by themselves, because to compile a large one takes seconds."""

from __future__ import annotations

import ast
import warnings
from functools import cached_property
from typing import NamedTuple

from ordeal._base.regular_file import source_text

#: A file with fewer characters is one part.
WHOLE_CHARS_MAX = 1 << 11


class SourceParts:
    """The outermost functions of a source file, each a part; ``text`` is the whole, of ``chars``. Immutable."""

    def __init__(self, text: str) -> None:
        self.chars = len(text)
        self._lines = text.split("\n")
        self._is_whole = len(text) < WHOLE_CHARS_MAX
        self._blocks: list[_Block] = []
        self._names: dict[str, None] = {}
        self._part_at: dict[int, int] = {}
        if not self._is_whole:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # shown at import already
                tree = ast.parse(text)
            self._find_blocks(tree, None, None)

    def part_at(self, line: int) -> int | None:
        """Return the number of the part with the function that begins, decorators included, in ``line``; else None."""
        return 0 if self._is_whole else self._part_at.get(line)

    def source_of(self, part: int) -> str:
        """Return the source of a part, each line in its place. What surrounds the function is reduced to its blocks."""
        if self._is_whole:
            return "\n".join(self._lines)
        function = self._blocks[part]
        kept = [""] * function.last
        if function.first > 1:
            kept[0] = self._imports  # a call of what is imported compiles differently
        kept[function.first - 1 :] = self._lines[function.first - 1 : function.last]
        inner, number = function, function.parent
        while number is not None:
            block = self._blocks[number]
            # An `elif` is in the tree below its `if`, and stands beside it.
            if block.indent < inner.indent:
                header = f"class {block.class_name}:" if block.class_name else "if 1:"
                kept[block.line - 1] = self._lines[block.line - 1][: block.indent] + header
                inner = block
            number = block.parent
        return "\n".join(kept)

    def chars_of(self, part: int) -> int:
        """Return how much source a part has."""
        function = self._blocks[part] if not self._is_whole else None
        lines = self._lines if function is None else self._lines[function.first - 1 : function.last]
        return sum(map(len, lines))

    @cached_property
    def _imports(self) -> str:
        """One statement that imports, in name, what the module imports; empty if it imports nothing."""
        return "import " + ", ".join(f"_ as {name}" for name in self._names) if self._names else ""

    def _find_blocks(self, node: ast.AST, parent: int | None, function: int | None) -> None:
        """Note the blocks below ``node``, which is in the block ``parent`` and the outermost function ``function``."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ExceptHandler | ast.match_case):
                self._find_blocks(child, parent, function)
            elif isinstance(child, ast.Import | ast.ImportFrom) and function is None:
                names = (alias.asname or alias.name.partition(".")[0] for alias in child.names if alias.name != "*")
                self._names.update(dict.fromkeys(names))
            elif isinstance(child, _WITH_BODY):
                number, within = len(self._blocks), function
                first = child.lineno
                if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    first = min([first, *(each.lineno for each in child.decorator_list)])
                if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                    within = number if function is None else function
                    self._part_at[first] = within
                name = child.name if isinstance(child, ast.ClassDef) else ""
                last = child.end_lineno or first
                self._blocks.append(_Block(name, first, child.lineno, last, child.col_offset, parent))
                self._find_blocks(child, number, within)


_WITH_BODY = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.AsyncFor, ast.While),
    *(ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match),
)


class _Block(NamedTuple):
    """A statement with a body: its name if it is a class, its lines, and the number of the block around it.

    ``first`` is the line of the first decorator, and ``line`` that of the statement itself.
    """

    class_name: str
    first: int
    line: int
    last: int
    indent: int
    parent: int | None


def read_parts(path: str) -> SourceParts | None:
    """Read the file ``path``; None when it is not text."""
    try:
        return SourceParts(source_text(path))
    except (OSError, SyntaxError, UnicodeDecodeError, ValueError, RecursionError, MemoryError):
        return None
