"""What became of survivors that were to be closed, and the file of their tests."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import msgspec

#: How a file of written tests begins.
HEADER = '"""Written by `ordeal mutate kill`. Each test says which change of the program it notices."""\n'


class Closed(msgspec.Struct, frozen=True):
    """What became of a survivor: ``killed``, ``pinned`` or ``open``, and the test with how often it was right.

    ``why`` is what fails, what is pinned, or why there is nothing; ``trace`` is the run that fails, as JSON.
    """

    how: str
    why: str
    test: str = ""
    steps: int = 0
    failed: int = 0
    passed: int = 0
    searched: int = 0
    trace: str = ""


def one_file(tests: Sequence[str]) -> str:
    """Return the text of one file with the tests of several."""
    imports: dict[str, None] = {}
    functions = []
    for text in tests:
        lines = text.split("\n")
        for node in ast.parse(text).body:
            part = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            if isinstance(node, ast.Import | ast.ImportFrom):
                imports[part] = None
            elif not isinstance(node, ast.Expr):
                functions.append(part)
    parts = [HEADER.strip(), "", *sorted(imports), *(f"\n\n{each}" for each in functions)]
    return "\n".join(parts) + "\n"
