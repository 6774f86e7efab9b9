"""Cuts source files into parts that compile by themselves, because to compile a large one takes seconds."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from textwrap import dedent
from typing import NamedTuple

import ordeal._native as _native

#: A file with fewer characters is one part.
WHOLE_CHARS_MAX = 1 << 11


class SourceParts:
    """The outermost functions of a source file, each a part; ``text`` is the whole, of ``chars``. Immutable."""

    def __init__(self, text: str) -> None:
        self.chars = len(text)
        self._lines = text.split("\n")
        self._blocks = [_Block(*block) for block in _native.source_blocks(text)]
        self._is_whole = len(text) < WHOLE_CHARS_MAX
        self._part_at: dict[int, int] = {}
        if not self._is_whole:
            for number, block in enumerate(self._blocks):
                if block.is_function:
                    self._part_at[block.first] = self._outermost_function(number)

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
        for block in self._around(function):
            indent = self._lines[block.first - 1][: block.indent]
            kept[block.header_last - 1] = indent + (f"class {block.name}:" if block.kind == "class" else "if 1:")
        return "\n".join(kept)

    def chars_of(self, part: int) -> int:
        """Return how much source a part has."""
        function = self._blocks[part] if not self._is_whole else None
        lines = self._lines if function is None else self._lines[function.first - 1 : function.last]
        return sum(map(len, lines))

    @cached_property
    def _imports(self) -> str:
        """One statement that imports, in name, what the module imports; empty if it imports nothing."""
        names: dict[str, None] = {}
        for block in self._blocks:
            if block.kind == "import":
                text = dedent("\n".join(self._lines[block.first - 1 : block.last]))
                with suppress(SyntaxError, ValueError):
                    for node in ast.parse(text).body:
                        names.update((alias.asname or alias.name.partition(".")[0], None) for alias in _aliases(node))
        return "import " + ", ".join(f"_ as {name}" for name in names) if names else ""

    def _outermost_function(self, number: int) -> int:
        found, at = number, self._blocks[number].parent
        while at is not None:
            found = at if self._blocks[at].is_function else found
            at = self._blocks[at].parent
        return found

    def _around(self, block: _Block) -> Iterator[_Block]:
        while block.parent is not None:
            block = self._blocks[block.parent]
            yield block


def _aliases(node: ast.stmt) -> Iterator[ast.alias]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias for alias in node.names if alias.name != "*")


class _Block(NamedTuple):
    """A block of source, as the core describes it."""

    kind: str
    name: str
    first: int
    header_last: int
    last: int
    indent: int
    parent: int | None

    @property
    def is_function(self) -> bool:
        return self.kind == "def"


def read_parts(path: str) -> SourceParts | None:
    """Read the file ``path``; None when it is not text."""
    try:
        with tokenize.open(path) as file:
            return SourceParts(file.read())
    except (OSError, SyntaxError, UnicodeDecodeError, ValueError):
        return None
