"""Source code as HTML, with colours for its words, and marks for lines."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

#: Longer texts are shown without colours.
CHARS_MAX = 20_000


@cache
def _parts() -> tuple[Any, Any, Any]:
    pygments = importlib.import_module("pygments")
    lexer = importlib.import_module("pygments.lexers.python").PythonLexer(stripnl=False, ensurenl=False)
    formatter = importlib.import_module("pygments.formatters.html").HtmlFormatter(nowrap=True)
    return pygments.highlight, lexer, formatter


def highlighted(text: str, *, first: int = 0, mark: int = 0) -> Any:
    """Return Python source as safe HTML: with line numbers from ``first``, and the line ``mark`` marked, if given."""
    markup = importlib.import_module("markupsafe").Markup
    if len(text) > CHARS_MAX:
        html = str(importlib.import_module("markupsafe").escape(text))
    else:
        highlight, lexer, formatter = _parts()
        html = highlight(text, lexer, formatter)
    if not first:
        return markup(html)
    lines = html.rstrip("\n").split("\n")
    width = len(str(first + len(lines)))
    numbered = []
    for number, line in enumerate(lines, start=first):
        row = f'<span class="c1">{number:>{width}}</span>  {line}'
        numbered.append(f'<span class="hit">{row}</span>' if number == mark else row)
    return markup("\n".join(numbered))
