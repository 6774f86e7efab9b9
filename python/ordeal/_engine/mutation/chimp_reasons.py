"""Why no test notices a broken node: it seems to do nothing, or it never runs, or nobody observes what it does."""

from __future__ import annotations

import ast
import dis
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CodeType, MappingProxyType
from typing import Literal

from ordeal._engine.formatting import counted
from ordeal._engine.mutation.interpreters import sitecustomize
from ordeal._engine.mutation.interpreters.observations import SEPARATOR
from ordeal._engine.mutation.mutants import Mutant, compiled_unit
from ordeal._engine.mutation.source import Source
from ordeal._engine.mutation.swap import codes_in

NO_MORE: Mapping[str, str] = MappingProxyType({})
#: So often a node must have run before it is asked whether it does anything at all.
RUNS_MIN = 20
_TEXTS = {
    ".py",
    ".pyi",
    ".toml",
    ".cfg",
    ".ini",
    ".txt",
    ".html",
    ".jinja",
    ".j2",
    ".yml",
    ".yaml",
    ".json",
    ".rst",
    ".md",
}
_TEXT_BYTES_MAX = 1 << 20
_DIFFERENCE_CHARS, _BEFORE_CHARS = 90, 20
_SPIES = {"locals", "vars", "eval", "exec"}

Said = tuple[Literal["DEAD", "DEAD?", "UNCOVERED"], str]
Run = Callable[[Mapping[str, str]], str]
#: How often the lines of a node ran, and what the calls of its function left, by process.
_Seen = tuple[int, list[list[str]]]


class Reasons:
    """What the tests run of the program in ``copy``, and what they observe of single functions.

    ``run`` runs the tests with more variables in their environment; each Python that they start says what it runs.
    """

    def __init__(self, sources: Sequence[Source], folder: Path, copy: Path, place: Path, run: Run) -> None:
        self._folder, self._copy, self._place, self._run = folder, copy, place, run
        self._originals: dict[tuple[str, tuple[int, int], tuple[int, int]], _Seen | None] = {}
        self._texts = [
            path.read_text("utf-8", "replace")
            for path in sorted(copy.rglob("*"))
            if path.suffix in _TEXTS and path.is_file() and path.stat().st_size < _TEXT_BYTES_MAX
        ]
        self._lines = self._run_lines([self._target(source) for source in sources])

    def of(self, source: Source, mutant: Mutant, target: Path) -> Said:
        """Return the word for a node that was broken in ``target`` and that no test noticed, and why."""
        statement = _statement_of(source, mutant)
        name = _unreferenced(source, statement, self._texts)
        if name:
            return "DEAD?", f"nothing else names `{name}`"
        if stored := _stored_only(source, mutant, statement):
            return stored
        path, (first, last) = str(target.resolve()), mutant.lines
        if self._lines and not any((path, line) in self._lines for line in range(first, last + 1)):
            return "UNCOVERED", "never run"
        if mutant.function is None or not self._lines:
            return "UNCOVERED", "no test fails"
        return self._observed(source, mutant, target)

    def _target(self, source: Source) -> Path:
        return self._copy / source.path.relative_to(self._folder)

    # Which lines run, and what a function does

    def _environment(self, more: dict[str, str]) -> dict[str, str]:
        path = [str(Path(sitecustomize.__file__).parent), os.environ.get("PYTHONPATH", "")]
        return {"PYTHONPATH": os.pathsep.join(filter(None, path)), **more}

    def _run_lines(self, targets: list[Path]) -> set[tuple[str, int]]:
        """Return the lines that the tests run; none where they run no Python that we can ask."""
        out = self._place / "lines"
        watched = "\n".join(sorted(str(each.resolve()) for each in targets))
        self._run(self._environment({sitecustomize.LINES: str(out), sitecustomize.WATCHED: watched}))
        found = set()
        for row in out.read_bytes().splitlines() if out.exists() else ():
            _, line, path = row.split(b" ", 2)
            found.add((os.fsdecode(path), int(line)))
        return found

    def _observed(self, source: Source, mutant: Mutant, target: Path) -> Said:
        assert mutant.function is not None
        key = (source.shown, mutant.function, mutant.lines)
        mutated = self._seen(mutant, target)
        if key not in self._originals:
            broken = target.read_bytes()
            target.write_bytes(source.path.read_bytes())
            first, second = self._seen(mutant, target), self._seen(mutant, target)
            target.write_bytes(broken)
            self._originals[key] = first if first == second else None
        original = self._originals[key]
        if original is None:
            return "UNCOVERED", "it runs, and does not do the same each time; no test fails"
        ran, calls = original
        difference = _first_difference(calls, mutated[1])
        if difference:
            return "UNCOVERED", f"ran {_times(ran)}, no test fails: {difference}"
        if ran >= RUNS_MIN:
            same = f"{counted(sum(map(len, calls)), 'call')} returned, raised and changed the arguments as before"
            return "DEAD?", f"ran {_times(ran)}, and {same}"
        return "UNCOVERED", f"ran {_times(ran)}, no test fails"

    def _seen(self, mutant: Mutant, target: Path) -> _Seen:
        assert mutant.function is not None
        out = self._place / "observed"
        out.unlink(missing_ok=True)
        place = " ".join(map(str, (*mutant.function, *mutant.lines, target.resolve())))
        self._run(self._environment({sitecustomize.OBSERVED: str(out), sitecustomize.OBSERVED_AT: place}))
        ran, calls = 0, dict[str, list[str]]()
        for row in out.read_text("utf-8", "replace").splitlines() if out.exists() else ():
            process, _, what = row.partition(" ")
            if what == "line":
                ran += 1
            else:
                calls.setdefault(process, []).append(what.removeprefix("call "))
        return ran, list(calls.values())


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _first_difference(original: list[list[str]], mutated: list[list[str]]) -> str:
    for ours, theirs in zip(original, mutated, strict=False):
        for was, now in zip(ours, theirs, strict=False):
            if was != now:
                return _shortest(was, now)
        if len(ours) != len(theirs):
            return f"{counted(len(theirs), 'call')}, were {len(ours)}"
    return "" if len(original) == len(mutated) else "other processes call it"


def _shortest(was: str, now: str) -> str:
    """Return the first part in which two calls differ, from a little before where it does."""
    for one, other in zip(was.split(SEPARATOR), now.split(SEPARATOR), strict=False):
        if one != other:
            head = was.partition(" ")[0]
            same = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
            since = 0 if max(len(one), len(other)) <= _DIFFERENCE_CHARS else max(0, same - _BEFORE_CHARS)
            first, second = (_cut(each.removeprefix(f"{head} "), since) for each in (other, one))
            return f"{head}: {first}, was: {second}"
    return "other calls"


def _cut(text: str, since: int) -> str:
    shown = text[since : since + _DIFFERENCE_CHARS]
    return f"{'...' if since else ''}{shown}{'...' if since + len(shown) < len(text) else ''}"


# What the text of the program says


def _statement_of(source: Source, mutant: Mutant) -> ast.stmt | None:
    """Return the innermost statement that holds the broken node."""
    found: ast.stmt | None = None
    for node in ast.walk(source.tree):
        if isinstance(node, ast.stmt):
            start, end = source.span(node)
            if start <= mutant.start and mutant.end <= end:
                found = node
    return found


def _unreferenced(source: Source, statement: ast.stmt | None, texts: Sequence[str]) -> str:
    """Return what a definition or an import names, or the function that holds the node, if nothing else names it."""
    if statement is None:
        return ""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        names = [(each.asname or each.name).partition(".")[0] for each in statement.names]
        # What a package imports, it may hand on.
        where = list(texts) if source.path.name == "__init__.py" else [source.text.decode("utf-8", "replace")]
        own = source.part(source.span(statement))
        return names[0] if len(names) == 1 and names[0] != "*" and _only_in(names[0], own, where) else ""
    for node in (statement, *source.ancestors(statement)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.decorator_list:
            special = node.name.startswith("__") and node.name.endswith("__")
            if not special and _only_in(node.name, source.part(source.span(node)), texts):
                return node.name
    return ""


def _only_in(name: str, own: str, texts: Sequence[str]) -> bool:
    word = re.compile(rf"\b{re.escape(name)}\b")
    return sum(len(word.findall(text)) for text in texts) <= len(word.findall(own))


def _stored_only(source: Source, mutant: Mutant, statement: ast.stmt | None) -> Said | None:
    """Return that a local is stored and never read: a proof where its value does nothing else."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or mutant.function is None or statement.value is None:
        return None
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return None
    name = targets[0].id
    for code in codes_in(compiled_unit(source, source.text, mutant.function)):
        if _stores(code, name, statement.lineno):
            if _SPIES & set(code.co_names) or _reads(code, name):
                return None
            if isinstance(statement.value, ast.Constant):
                return "DEAD", f"`{name}` is stored and never read"
            return "DEAD?", f"`{name}` is stored and never read"
    return None


def _stores(code: CodeType, name: str, line: int) -> bool:
    return name in code.co_varnames and any(
        each.opname.startswith("STORE_FAST") and each.positions is not None and each.positions.lineno == line
        for each in dis.get_instructions(code)
    )


def _reads(code: CodeType, name: str) -> bool:
    """Return whether code reads a local, or deletes it; one that is in a cell is no plain local."""
    for each in dis.get_instructions(code):
        names = each.argval if isinstance(each.argval, tuple) else (each.argval,)
        # Of the instruction that does two things, the first is the store.
        if each.opname == "STORE_FAST_LOAD_FAST":
            names = names[1:]
        if ("LOAD_FAST" in each.opname or each.opname == "DELETE_FAST") and name in names:
            return True
    return False
