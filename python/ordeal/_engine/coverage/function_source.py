"""Cuts functions out of source files, so that they compile by themselves: to compile a large file takes seconds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from types import CodeType

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
        end = max(line for code in codes_in(function) for *_, line in code.co_lines() if line)
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
        lead = _lead(self._lines[first]) if first < len(self._lines) else ""
        headers = [f"class {name}:" for name in function.co_qualname.split(".")[:-1]] or ["if 1:"] * bool(lead)
        above = [""] * first
        for depth, header in enumerate(headers[:first]):
            above[first - len(headers) + depth] = lead[:depth] + header
        if first > len(headers):
            above[0] = self._imports(function)
        return "\n".join(above + self._lines[first:end])

    def _imports(self, function: CodeType) -> str:
        """Return one statement that imports, in name, what the module imports: a call of it compiles differently."""
        codes = list(codes_in(function))
        local = {name for code in codes for name in (*code.co_varnames, *code.co_cellvars)}
        used = {name for code in codes for name in code.co_names} | local
        # What an indented import binds is mostly local where it is used, if it is not the module's.
        names = sorted({name for name, indented in self._imported if name in used and not (indented and name in local)})
        return "import " + ", ".join(f"_ as {name}" for name in names) if names else ""

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


def codes_in(function: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function, and of all that is defined in it."""
    yield function
    for constant in function.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def _lead(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
