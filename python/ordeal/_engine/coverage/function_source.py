"""Cuts functions out of source files, so that they compile by themselves: to compile a large file takes seconds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from types import CodeType

from ordeal._base.code_objects import codes_in, lines_in
from ordeal._base.regular_file import source_text

_IMPORT = re.compile(r"^([ \t]*)(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(\([^)]*\)|[^\n;#]*)", re.MULTILINE)


class SourceFile:
    """The text of a source file."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._chars: dict[CodeType, int] = {}

    def lines_of(self, function: CodeType) -> tuple[int, int]:
        """Return the indices of the first line of an outermost function, decorators included, and after its last."""
        first = function.co_firstlineno - 1
        end = max(lines_in(function))
        lead = _lead(self._lines[first]) if first < len(self._lines) else ""
        while end < len(self._lines):
            line = self._lines[end]
            # Blank lines and those that are indented more belong to it.
            if line.strip() and not (line.startswith(lead) and line[len(lead)].isspace()):
                break
            end += 1
        return first, end

    def chars_of(self, function: CodeType) -> int:
        """Return how many characters an outermost function has."""
        if function not in self._chars:
            first, end = self.lines_of(function)
            self._chars[function] = sum(map(len, self._lines[first:end]))
        return self._chars[function]

    def source_of(self, function: CodeType) -> str:
        """Return the source of an outermost function, each line in its place, below headers of its classes.

        If the headers do not fit, the result does not compile to the function.
        """
        first, end = self.lines_of(function)
        line = self._lines[first] if first < len(self._lines) else ""
        codes = list(codes_in(function))
        local = {name for code in codes for name in (*code.co_varnames, *code.co_cellvars)}
        used = {name for code in codes for name in code.co_names} | local
        # What an indented import binds is mostly local where it is used, if it is not the module's.
        needed = {name for name, indented in self._imported if name in used and not (indented and name in local)}
        above = lines_above(first, line, function.co_qualname, sorted(needed))
        return "\n".join(above + self._lines[first:end])

    @cached_property
    def _imported(self) -> set[tuple[str, bool]]:
        """The names that are imported, and whether in an indented line."""
        return {
            (part.rpartition(" as ")[2].strip().partition(".")[0], bool(lead))
            for lead, names in _IMPORT.findall(self._text)
            for part in names.strip("()").split(",")
        }


def read_source(path: str) -> SourceFile | None:
    """Read the file ``path``; None when it is not text."""
    try:
        return SourceFile(source_text(path))
    except (OSError, SyntaxError, ValueError):
        return None


def lines_above(count: int, line: str, name: str, imported: Sequence[str]) -> list[str]:
    """Return what to put on this many lines above a function, so that it compiles by itself as it does in its file.

    ``line`` is its first one, decorators included, ``name`` its qualified name, and ``imported`` names what its module
    imports: a call of an attribute of that compiles differently from other calls.
    """
    lead = _lead(line)
    headers = [f"class {each}:" for each in name.split(".")[:-1]] or ["if 1:"] * bool(lead)
    above = [""] * count
    for depth, header in enumerate(headers[:count]):
        above[count - len(headers) + depth] = lead[:depth] + header
    if imported and count > len(headers):
        above[0] = "import " + ", ".join(f"_ as {each}" for each in imported)
    return above


def _lead(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
