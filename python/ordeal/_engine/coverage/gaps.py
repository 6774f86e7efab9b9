"""Coverage gaps: the branch statements of the targets that no run reached, and how many lines were reached."""

from __future__ import annotations

import ast
import math
import os
import sys
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from ordeal._base.code_objects import lines_in
from ordeal._base.regular_file import real_path, source_text
from ordeal._engine.coverage.targets import Source, Target

#: While a search runs, no larger file is parsed: it takes long, and hardly any test reaches all of one.
JUDGED_BYTES_MAX = 1 << 15

_BRANCHES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.Try,
    ast.TryStar,
    ast.ExceptHandler,
    ast.Assert,
    ast.Raise,
    ast.Match,
    ast.match_case,
)
#: Importing the module may have skipped the code in these.
_CONDITIONAL = (*_BRANCHES, ast.With, ast.AsyncWith)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Gaps(msgspec.Struct, frozen=True):
    """What the runs did not reach in the targets.

    ``gaps`` holds a dict for each branch statement that never ran, the nearest to executed lines first: ``file``
    (relative to the working directory if inside it), ``line`` and ``code`` (the source line). ``lines_covered`` of
    ``lines_total`` statement lines ran, and ``missed_lines`` holds the others by file, ``covered_lines`` those
    that ran. ``unreadable`` names files that are gone or not Python, ``unreached`` the targets that have functions but
    of which no code ran.
    """

    gaps: list[dict[str, Any]] = msgspec.field(default_factory=list)
    lines_covered: int = 0
    lines_total: int = 0
    missed_lines: dict[str, list[int]] = msgspec.field(default_factory=dict)
    unreadable: list[str] = msgspec.field(default_factory=list)
    unreached: list[str] = msgspec.field(default_factory=list)
    covered_lines: dict[str, list[int]] = msgspec.field(default_factory=dict)


class _Statement(msgspec.Struct, frozen=True):
    line: int
    own_lines: frozenset[int]  # lines with instructions, without the statements nested in it
    is_branch: bool
    runs_at_import: bool
    is_conditional: bool  # a line that runs at import, but importing may have skipped it


class _Parsed(msgspec.Struct, frozen=True):
    statements: tuple[_Statement, ...]
    text: tuple[str, ...]


def find_gaps(targets: Sequence[Target], *lines: Mapping[str, Sequence[int]]) -> Gaps:
    """Compare the source of ``targets`` with the executed ``lines`` (by real path, as a monitor reports them).

    With the lines of several monitors a line counts once, and is covered if any of them saw it.

    Every module below a package counts, even if it was never imported. A module is usually imported before tracing
    begins: what importing it must have run counts as covered, and what importing it may have skipped (the other side of
    an ``if`` at module level) counts only when it was seen to run.
    """
    gaps: list[tuple[float, dict[str, Any]]] = []
    unreadable: list[str] = []
    missed_lines: dict[str, list[int]] = {}
    covered_lines: dict[str, list[int]] = {}
    covered = total = 0
    here = real_path(os.curdir)
    paths: dict[str, list[str]] = {}  # by target
    sources: dict[str, Source] = {}
    for target in targets:
        found = {source.path: source for source in target.sources() if not source.is_compiled}
        paths.setdefault(target.name, []).extend(found)
        sources |= found
    for path, source in sorted(sources.items()):
        parsed = _parsed(path)
        if parsed is None:
            unreadable.append(_shown(path, here))
            continue
        reached, missed, missed_branches = _judge(source, parsed, lines)
        covered += len(reached)
        total += len(reached | missed)
        ran = sorted(_executed(source, lines))
        shown = _shown(path, here)
        if reached:
            covered_lines[shown] = sorted(reached)
        if missed - reached:
            missed_lines[shown] = sorted(missed - reached)
        for line in sorted(missed_branches):
            code = parsed.text[line - 1].strip()[:80]
            place = bisect(ran, line)
            distance = min((abs(line - other) for other in ran[max(place - 1, 0) : place + 1]), default=math.inf)
            gaps.append((distance, {"file": shown, "line": line, "code": code}))
    gaps.sort(key=lambda gap: gap[0])
    unreached = []  # targets with functions that never ran
    for name, own in paths.items():
        if not any(seen.get(path) for path in own for seen in lines):
            files = filter(None, map(_parsed, own))
            if any(not statement.runs_at_import for file in files for statement in file.statements):
                unreached.append(name)
    return Gaps([gap for _, gap in gaps], covered, total, missed_lines, unreadable, unreached, covered_lines)


def files_with_gaps(sources: Iterable[Source], lines: Mapping[str, Sequence[int]]) -> set[str]:
    """Return the paths of those ``sources`` that have gaps, as defined by ``find_gaps``, or are too large to tell."""
    found = set()
    for source in sources:
        with suppress(OSError):
            if os.stat(source.path).st_size > JUDGED_BYTES_MAX:  # noqa: PTH116 - as in _parsed()
                found.add(source.path)
                continue
        parsed = _parsed(source.path)
        if parsed is not None and _judge(source, parsed, (lines,))[2]:
            found.add(source.path)
    return found


def _executed(source: Source, lines: Iterable[Mapping[str, Sequence[int]]]) -> frozenset[int]:
    return frozenset(chain.from_iterable(seen.get(source.path, ()) for seen in lines))


def _judge(
    source: Source, parsed: _Parsed, lines: Iterable[Mapping[str, Sequence[int]]]
) -> tuple[set[int], set[int], set[int]]:
    """Return the lines that ran, the lines that did not, and those only of branch statements that did not."""
    executed = _executed(source, lines)
    imported = bool(executed) or source.module_name in sys.modules
    reached: set[int] = set()
    missed: set[int] = set()
    missed_branches: set[int] = set()
    for statement in parsed.statements:
        if not statement.own_lines.isdisjoint(executed):
            reached.add(statement.line)
        elif statement.runs_at_import and imported:
            if not statement.is_conditional:
                reached.add(statement.line)
        else:
            missed.add(statement.line)
            if statement.is_branch:
                missed_branches.add(statement.line)
    return reached, missed, missed_branches - reached


def _shown(path: str, here: str) -> str:
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


def _parsed(path: str) -> _Parsed | None:
    """Return the statements of a file; ``None`` when it is not valid Python, or gone."""
    try:
        # A Path interns its parts, and doing this all the time would grow CPython's table of interned strings.
        return _parse(path, os.stat(path).st_mtime_ns)  # noqa: PTH116
    except OSError:
        return None


@lru_cache(maxsize=4096)
def _parse(path: str, _modified_ns: int) -> _Parsed | None:
    """Return the statements of a file; ``None`` when it is not valid Python. Cached until the file is modified."""
    try:
        text = source_text(path)
        tree = ast.parse(text, path)
        executable = frozenset(lines_in(compile(tree, path, "exec", dont_inherit=True)))
    except (SyntaxError, UnicodeDecodeError, ValueError):
        return None
    statements = _statements(tree.body, executable, runs_at_import=True, is_conditional=False)
    return _Parsed(tuple(statements), tuple(text.splitlines()))


def _statements(
    body: Sequence[Block], executable: frozenset[int], *, runs_at_import: bool, is_conditional: bool
) -> Iterator[_Statement]:
    for node in body:
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                pass  # a docstring
            case _:
                line, own_lines = _own_lines(node)
                own_lines &= executable
                if own_lines:
                    yield _Statement(line, own_lines, isinstance(node, _BRANCHES), runs_at_import, is_conditional)
        yield from _statements(
            statements_in(node),
            executable,
            runs_at_import=runs_at_import and not isinstance(node, _FUNCTIONS),
            is_conditional=is_conditional or isinstance(node, _CONDITIONAL),
        )


def _own_lines(node: Block) -> tuple[int, frozenset[int]]:
    """Return the line that names a statement, and the lines from its first one to the first statement nested in it."""
    start = node.pattern if isinstance(node, ast.match_case) else node
    line = start.lineno
    first = min((line, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))))
    inner = statements_in(node)
    end = min(_own_lines(inner[0])[1]) - 1 if inner else (start.end_lineno or line)
    return line, frozenset(range(first, max(line, end) + 1))


Block = ast.stmt | ast.ExceptHandler | ast.match_case

_PARTS = frozenset({"body", "handlers", "cases", "orelse", "finalbody"})


def statements_in(node: ast.AST) -> list[Block]:
    """Return the statements that one holds, or a module, with the handlers and cases around them, but no expression."""
    return [child for part in node._fields if part in _PARTS for child in getattr(node, part)]
