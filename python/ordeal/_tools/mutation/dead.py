"""What cannot matter, with the proof, and what perhaps does not: a change of it is no gap in the tests."""

from __future__ import annotations

import ast
import dis
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Literal

from ordeal._base.regular_file import read_whole
from ordeal._tools.mutation.mutants import Mutant, compiled_unit, equals_original
from ordeal._tools.mutation.saved import project_files
from ordeal._tools.mutation.source import Function, Source
from ordeal._tools.mutation.swap import codes_in
from ordeal._tools.mutation.verdicts import STATE_DIFFERS, Verdict

#: Files with one of these ends may name parts of a program.
_TEXTS = {
    *(".py", ".pyi", ".toml", ".cfg", ".ini", ".yml", ".yaml", ".json"),
    *(".txt", ".rst", ".md", ".html", ".jinja", ".j2"),
}
_TEXT_BYTES_MAX = 1 << 20
Death = Literal["DEAD", "DEAD?"]
_SPIES = {"locals", "vars", "eval", "exec"}
_DELETES = "delete_statement"
_WORD = re.compile(r"\w+")


def told(sources: Sequence[Source], verdicts: Sequence[Verdict], folder: Path) -> list[Verdict]:
    """Return the verdicts, with ``dead`` for what nothing noticed and cannot matter, and doubts about the others.

    A doubt is a question to a person, and counts in the score: nothing needs a statement without which all tests pass,
    nor a function that no test runs and no file of the project names.
    """
    by_name = {source.shown: source for source in sources}
    words = cache(lambda: words_in(project_files([folder])))
    unnamed = cache(lambda shown, definition: unreferenced(by_name[shown], definition, words()))
    return [
        each if each.word not in ("survived", "uncovered") else _told(by_name[each.mutant.shown], each, unnamed)
        for each in verdicts
    ]


def _told(source: Source, verdict: Verdict, unnamed: Callable[[str, ast.stmt | None], str]) -> Verdict:
    mutant, statement = verdict.mutant, statement_of(source, verdict.mutant)
    stored = stored_only(source, mutant, statement)
    if stored is not None:
        label, why = stored
        return replace(verdict, word="dead", note=why) if label == "DEAD" else replace(verdict, doubt=why)
    if equals_original(source, mutant):
        return replace(verdict, word="dead", note="the compiler leaves it out")
    if verdict.word == "uncovered":
        name = unnamed(mutant.shown, _definition(source, statement)) if statement is not None else ""
        return replace(verdict, doubt=f"nothing else names `{name}`") if name else verdict
    if mutant.operator == _DELETES and verdict.note != STATE_DIFFERS:
        return replace(verdict, doubt="nothing notices when the statement is gone")
    return verdict


def _definition(source: Source, statement: ast.stmt) -> ast.stmt | None:
    chain = (statement, *source.ancestors(statement))
    return next((each for each in chain if isinstance(each, Function | ast.ClassDef)), None)


def words_in(paths: Iterable[Path]) -> Counter[str]:
    """Return how often each word stands in the files that may name parts of a program."""
    found: Counter[str] = Counter()
    for path in paths:
        if path.suffix in _TEXTS and path.is_file() and path.stat().st_size < _TEXT_BYTES_MAX:
            found.update(_WORD.findall(read_whole(path).decode("utf-8", "replace")))
    return found


def statement_of(source: Source, mutant: Mutant) -> ast.stmt | None:
    """Return the innermost statement that holds the broken node."""
    found: ast.stmt | None = None
    for node in ast.walk(source.tree):
        if isinstance(node, ast.stmt):
            start, end = source.span(node)
            if start <= mutant.start and mutant.end <= end:
                found = node
    return found


def unreferenced(source: Source, statement: ast.stmt | None, words: Counter[str]) -> str:
    """Return what a definition or an import names, or the function that holds the node, if nothing else names it."""
    if statement is None:
        return ""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        names = [(each.asname or each.name).partition(".")[0] for each in statement.names]
        # What a package imports, it may hand on.
        where = words if source.path.name == "__init__.py" else Counter(_WORD.findall(source.text.decode()))
        return names[0] if len(names) == 1 and names[0] != "*" and _only_in(names[0], source, statement, where) else ""
    for node in (statement, *source.ancestors(statement)):
        if isinstance(node, Function | ast.ClassDef) and not node.decorator_list:
            special = node.name.startswith("__") and node.name.endswith("__")
            if not special and _only_in(node.name, source, node, words):
                return node.name
    return ""


def _only_in(name: str, source: Source, statement: ast.stmt, words: Counter[str]) -> bool:
    return words[name] <= _WORD.findall(source.part(source.span(statement))).count(name)


def stored_only(source: Source, mutant: Mutant, statement: ast.stmt | None) -> tuple[Death, str] | None:
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
