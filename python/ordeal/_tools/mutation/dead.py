"""Find dead code, with the proof, and code that may be dead: a change of it is not a gap in the tests."""

from __future__ import annotations

import ast
import dis
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import CodeType

from ordeal._base.code_objects import codes_in
from ordeal._base.limits import MEBIBYTE
from ordeal._base.regular_file import read_whole
from ordeal._tools.mutation.mutants import Mutant, compiled_unit, equals_original
from ordeal._tools.mutation.never_mutated import is_for_others, names_of_systems
from ordeal._tools.mutation.saved import project_files
from ordeal._tools.mutation.source import Function, Source
from ordeal._tools.mutation.verdicts import STATE_DIFFERS, Verdict

#: Files with one of these ends may name parts of a program.
_TEXTS = {
    *(".py", ".pyi", ".toml", ".cfg", ".ini", ".yml", ".yaml", ".json"),
    *(".txt", ".rst", ".md", ".html", ".jinja", ".j2"),
}
_SPIES = {"locals", "vars", "eval", "exec"}
_WORD = re.compile(r"\w+")
_JUMPS = {*dis.hasjrel, *dis.hasjabs}
#: What an instruction, or each of its two halves, does to locals.
_FAST = re.compile(r"(LOAD|STORE|DELETE)_FAST")


def told(sources: Sequence[Source], verdicts: Sequence[Verdict], folder: Path) -> list[Verdict]:
    """Return the verdicts, with ``dead`` for unnoticed mutants that cannot matter, and doubts about the others.

    A doubt is a question to a person; the mutant still counts in the score. Either nothing reads a local that is
    stored, or no file of the project names a function that no test runs.
    """
    by_name = {source.shown: source for source in sources}
    words = cache(lambda: words_in(project_files([folder])))
    unnamed = cache(lambda shown, definition: unreferenced(by_name[shown], definition, words()))
    return [
        each if each.word not in ("survived", "uncovered") else _told(by_name[each.mutant.shown], each, unnamed, words)
        for each in verdicts
    ]


def _told(
    source: Source,
    verdict: Verdict,
    unnamed: Callable[[str, ast.stmt | None], str],
    words: Callable[[], Counter[str]],
) -> Verdict:
    mutant, statement = verdict.mutant, statement_of(source, verdict.mutant)
    why = proof(source, mutant, statement)
    if not why and (default := source.default_at((mutant.start, mutant.end))):
        why = "every call passes this argument" if _is_passed(source, *default, words()) else ""
    if why:
        return replace(verdict, word="dead", note=why)
    if (name := unread(source, mutant, statement)) and verdict.note != STATE_DIFFERS:
        return replace(verdict, doubt=never_read(name))
    if verdict.word == "uncovered" and statement is not None:
        chain = (statement, *source.ancestors(statement))
        definition = next((each for each in chain if isinstance(each, Function | ast.ClassDef)), None)
        name = unnamed(mutant.shown, definition)
        return replace(verdict, doubt=f"nothing else names `{name}`") if name else verdict
    return verdict


def proof(source: Source, mutant: Mutant, statement: ast.stmt | None) -> str:
    """Return why a mutant does what the original does; empty where that is not known."""
    if equals_original(source, mutant):
        return "the compiler leaves it out"
    chain = [] if statement is None else [*_within(source, statement, mutant), *source.ancestors(statement)]
    if any(is_for_others(*pair, names_of_systems(source)) for pair in pairwise(chain)):
        return "only other versions of Python or other systems run it"
    if _does_nothing(statement) and (name := unread(source, mutant, statement)):
        return never_read(name)
    return ""


def _within(source: Source, statement: ast.stmt, mutant: Mutant) -> list[ast.AST]:
    """Return the expressions of a statement that hold a mutant, from the inside out, and the statement."""
    spans = ((each, source.span(each)) for each in ast.walk(statement) if isinstance(each, ast.expr))
    found = [(each, span) for each, span in spans if span[0] <= mutant.start and mutant.end <= span[1]]
    # `walk` comes to outer expressions first.
    return [*(each for each, _ in reversed(found)), statement]


def never_read(name: str) -> str:
    """Return why a statement that stores a local may not matter."""
    return f"this value of `{name}` is never read"


def words_in(paths: Iterable[Path]) -> Counter[str]:
    """Count each word in the files that may name parts of a program."""
    found: Counter[str] = Counter()
    for path in paths:
        if path.suffix in _TEXTS and path.is_file() and path.stat().st_size < MEBIBYTE:
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
        # A package may re-export what it imports.
        where = words if source.path.name == "__init__.py" else Counter(_WORD.findall(source.text.decode()))
        return names[0] if len(names) == 1 and names[0] != "*" and _only_in(names[0], source, statement, where) else ""
    for node in (statement, *source.ancestors(statement)):
        if isinstance(node, Function | ast.ClassDef) and not node.decorator_list:
            special = node.name.startswith("__") and node.name.endswith("__")
            if not special and _only_in(node.name, source, node, words):
                return node.name
    return ""


def _is_passed(source: Source, function: Function, default: ast.expr, words: Counter[str]) -> bool:
    """Return True if a private function of a module is only called, in its file, and each time without a default."""
    own, name = function.args, function.name
    if not name.startswith("_") or source.parents[function] is not source.tree or function.decorator_list:
        return False
    positional = [*own.posonlyargs, *own.args]
    arguments = [*reversed(positional), *own.kwonlyargs]
    defaults = [*reversed(own.defaults), *[None] * (len(positional) - len(own.defaults)), *own.kw_defaults]
    argument = arguments[defaults.index(default)]
    nodes = (each for each in ast.walk(source.tree) if isinstance(each, ast.Call))
    calls = [each for each in nodes if isinstance(each.func, ast.Name) and each.func.id == name]
    at = positional.index(argument) if argument in positional else sys.maxsize

    def is_given(call: ast.Call) -> bool:
        is_known = not any(isinstance(each, ast.Starred) for each in call.args)
        return any(each.arg == argument.arg for each in call.keywords) or (is_known and at < len(call.args))

    return words[name] == 1 + len(calls) and all(map(is_given, calls))


def _only_in(name: str, source: Source, statement: ast.stmt, words: Counter[str]) -> bool:
    return words[name] <= _WORD.findall(source.part(source.span(statement))).count(name)


def unread(source: Source, mutant: Mutant, statement: ast.stmt | None) -> str:
    """Return a local that a statement stores, if nothing reads or deletes it before it is set again."""
    if mutant.function is None:
        return ""
    targets: list[ast.expr] = getattr(statement, "targets", None) or [getattr(statement, "target", ast.Constant(None))]
    names = [each for each in targets if isinstance(each, ast.Name)]
    if len(names) < len(targets) or isinstance(statement, ast.For | ast.AsyncFor):
        return ""
    codes = [*codes_in(compiled_unit(source, source.text, mutant.function))]
    return names[0].id if all(_is_unread(codes, each) for each in names) else ""


def _is_unread(codes: Sequence[CodeType], name: ast.Name) -> bool:
    """Return True if no path through the code leads from a store of a local to a read or deletion of it."""
    for code in codes:
        flow = _Flow(code)
        stores = [
            at
            for at, each in enumerate(flow.instructions)
            if not {(kind, name.lineno, name.col_offset) for kind in ("STORE", "DELETE")}.isdisjoint(
                _operations(each, name.id)
            )
        ]
        if stores:  # the compiler may repeat what stands behind `finally`
            return _SPIES.isdisjoint(code.co_names) and not any(flow.is_read_after(at, name.id) for at in stores)
    return False


#: Instructions after which the next one never runs.
_ENDS = re.compile(r"RETURN_|RAISE_|RERAISE|JUMP_FORWARD|JUMP_BACKWARD")


class _Flow:
    """The paths through a piece of code: from instruction to instruction, by jumps and to handlers."""

    def __init__(self, code: CodeType) -> None:
        found = dis.Bytecode(code)
        self.instructions = [*found]
        self._at = {each.offset: at for at, each in enumerate(self.instructions)}
        self._handlers = [(each.start, each.end, each.target) for each in found.exception_entries]  # type: ignore[attr-defined]

    def is_read_after(self, store: int, name: str) -> bool:
        """Return True if a local is read or deleted on any path from an instruction that stores it."""
        instruction = self.instructions[store]
        if [kind for kind, *_ in _operations(instruction, name)][-1] == "LOAD":
            return True
        waiting, seen = self._next(instruction, store), {store}
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            instruction = self.instructions[at]
            kind = next((kind for kind, *_ in _operations(instruction, name)), "")
            if kind in ("LOAD", "DELETE"):
                return True
            if not kind:
                waiting += self._next(instruction, at)
        return False

    def _next(self, instruction: dis.Instruction, at: int) -> list[int]:
        found = [at + 1] if not _ENDS.match(instruction.opname) else []
        if instruction.opcode in _JUMPS:
            found.append(self._at[instruction.argval])
        return found + [self._at[target] for start, end, target in self._handlers if start <= instruction.offset < end]


def _operations(instruction: dis.Instruction, name: str) -> list[tuple[str, int | None, int | None]]:
    """Return what an instruction does to a local, in order, and where: it may do two things."""
    kinds = _FAST.findall(instruction.opname)
    names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,) * len(kinds)
    place = instruction.positions
    position = (place.lineno, place.col_offset) if place is not None else (None, None)
    return [(kind, *position) for kind, each in zip(kinds, names, strict=False) if each == name]


_PLAIN = (ast.Constant, ast.Name, ast.Tuple, ast.List, ast.Dict, ast.expr_context)


def _does_nothing(statement: ast.stmt | None) -> bool:
    """Return True if a statement makes a value without calling anything, so that only its name can matter.

    To delete a local does nothing as well, but for what is freed with it: tests that ask for that have noticed.
    """
    if isinstance(statement, ast.Delete):
        return True
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.AugAssign):
        return isinstance(value, ast.Constant) and isinstance(value.value, int | float)
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or value is None:
        return False
    return all(isinstance(each, _PLAIN) for each in ast.walk(value))
