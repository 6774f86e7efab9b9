"""Find what cannot matter, with the proof, and what perhaps does not: a change of it is no gap in the tests."""

from __future__ import annotations

import ast
import dis
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from math import inf
from pathlib import Path
from types import CodeType
from typing import Any

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
_SPIES = {"locals", "vars", "eval", "exec"}
_WORD = re.compile(r"\w+")
#: What an instruction, or its two halves, do to locals.
_FAST = re.compile(r"(LOAD|STORE|DELETE)_FAST")
_BOUNDS = ({"<", "<="}, {">", ">="})


def told(sources: Sequence[Source], verdicts: Sequence[Verdict], folder: Path) -> list[Verdict]:
    """Return the verdicts, with ``dead`` for what nothing noticed and cannot matter, and doubts about the others.

    A doubt is a question to a person, and counts in the score: nothing reads a local that is stored, or no file of the
    project names a function that no test runs.
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
    why = proof(source, mutant, statement)
    if why:
        return replace(verdict, word="dead", note=why)
    if (name := unread(source, mutant, statement)) and verdict.note != STATE_DIFFERS:
        return replace(verdict, doubt=f"`{name}` is stored and never read")
    if verdict.word == "uncovered" and statement is not None:
        name = unnamed(mutant.shown, _definition(source, statement))
        return replace(verdict, doubt=f"nothing else names `{name}`") if name else verdict
    return verdict


def proof(source: Source, mutant: Mutant, statement: ast.stmt | None) -> str:
    """Return why a mutant does what the original does; empty where that is not known."""
    if equals_original(source, mutant):
        return "the compiler leaves it out"
    if isinstance(statement, ast.Delete) and (name := unread(source, mutant, statement)):
        return f"`{name}` is not read after this, so that only how long it lives differs"
    if _does_nothing(statement) and (name := unread(source, mutant, statement)):
        return f"`{name}` is stored and never read"
    return _bound(source, mutant)


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


def unread(source: Source, mutant: Mutant, statement: ast.stmt | None) -> str:
    """Return a local that a statement stores or deletes, if nothing reads it before it is stored again."""
    if mutant.function is None:
        return ""
    targets: list[ast.expr] = getattr(statement, "targets", None) or [getattr(statement, "target", ast.Constant(None))]
    names = [each for each in targets if isinstance(each, ast.Name)]
    if len(names) < len(targets) or isinstance(statement, ast.For | ast.AsyncFor):
        return ""
    codes = [*codes_in(compiled_unit(source, source.text, mutant.function))]
    return names[0].id if all(_is_unread(codes, each) for each in names) else ""


def _is_unread(codes: Sequence[CodeType], name: ast.Name) -> bool:
    """Return whether no code reads a local that is stored or deleted at a place, before it is stored again."""
    found = []
    for code in codes:
        for operations, live_after in _with_liveness(code, name.id):
            for at, (operation, position) in enumerate(operations):
                if operation != "LOAD" and position == (name.lineno, name.col_offset):
                    later = [each for each, _ in operations[at + 1 :]]
                    found.append(later[0] != "STORE" if later else live_after)
                    if _SPIES & set(code.co_names):
                        return False
    return bool(found) and not any(found)


#: What an instruction does to a local, and where it stands in the file.
_Operation = tuple[str, tuple[int | None, int | None]]
_ENDS = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"}


def _with_liveness(code: CodeType, name: str) -> Iterator[tuple[list[_Operation], bool]]:
    """Yield what each instruction does to a local, and whether something may read or delete the local afterwards."""
    instructions = list(dis.get_instructions(code))
    numbers = {each.offset: number for number, each in enumerate(instructions)}
    following: list[set[int]] = []
    for number, each in enumerate(instructions):
        goes_on = each.opname not in _ENDS and not each.opname.startswith(("JUMP_FORWARD", "JUMP_BACKWARD"))
        following.append({number + 1} if goes_on and number + 1 < len(instructions) else set())
        if each.opcode in dis.hasjrel or each.opcode in dis.hasjabs:
            following[-1].add(numbers[each.argval])
    protected: Any = dis.Bytecode(code)  # the stubs of types lack its field
    for entry in protected.exception_entries:
        for number, each in enumerate(instructions):
            if entry.start <= each.offset < entry.end:
                following[number].add(numbers[entry.target])
    operations = [_operations(each, name) for each in instructions]
    live = [False] * len(instructions)  # whether the value that the local has before the instruction is read
    while True:
        after = [any(live[each] for each in following[number]) for number in range(len(instructions))]
        found = [each[0][0] != "STORE" if each else after[number] for number, each in enumerate(operations)]
        if found == live:
            yield from zip(operations, after, strict=True)
            return
        live = found


def _operations(instruction: dis.Instruction, name: str) -> list[_Operation]:
    """Return what an instruction does to a local, in order: one may do two things."""
    kinds = _FAST.findall(instruction.opname)
    names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,) * len(kinds)
    place = instruction.positions
    position = (place.lineno, place.col_offset) if place is not None else (None, None)
    return [(kind, position) for kind, each in zip(kinds, names, strict=False) if each == name]


_PLAIN = (ast.Constant, ast.Name, ast.Tuple, ast.List, ast.Dict, ast.expr_context)


def _does_nothing(statement: ast.stmt | None) -> bool:
    """Return whether a statement makes a value without calling anything, so that only the name of it can matter."""
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.AugAssign):
        return isinstance(value, ast.Constant) and isinstance(value.value, int | float)
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or value is None:
        return False
    return all(isinstance(each, _PLAIN) for each in ast.walk(value))


def _bound(source: Source, mutant: Mutant) -> str:
    """Return why a bound cannot be met otherwise than before: ``if a > b: a = b``, or ``max(0, len(a))``."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.If | ast.IfExp | ast.Call) and node.lineno <= mutant.line:
            start, end = source.span(node)
            if not start <= mutant.start < mutant.end <= end:
                continue
            if not isinstance(node, ast.Call) and _is_same_at_bound(node, source, mutant):
                return "at the bound both ways leave the same value"
            if isinstance(node, ast.Call) and _cannot_bind(node, source, mutant):
                return "the bound never binds, before and after"
    return ""


def _is_same_at_bound(node: ast.If | ast.IfExp, source: Source, mutant: Mutant) -> bool:
    test = node.test
    is_bound = isinstance(test, ast.Compare) and len(test.ops) == 1 and source.start(test) <= mutant.start
    if not (is_bound and {mutant.original, mutant.replacement} in _BOUNDS and mutant.end <= source.end(test)):
        return False
    compared = {ast.unparse(each) for each in ast.iter_child_nodes(test) if isinstance(each, ast.expr)}
    match node:
        case ast.IfExp():
            return {ast.unparse(node.body), ast.unparse(node.orelse)} == compared
        case ast.If(body=[ast.Assign(targets=[target], value=value)], orelse=[]):
            return {ast.unparse(target), ast.unparse(value)} == compared
    return False


def _cannot_bind(node: ast.Call, source: Source, mutant: Mutant) -> bool:
    """Return whether another argument of ``max`` is at least as large as a constant, before and after.

    So is the repetition of a text by it, where both are less than one.
    """
    if not (ast.unparse(node.func) == "max" and mutant.operator == "boundary"):
        return False
    others = [each for each in node.args if source.span(each) != (mutant.start, mutant.end)]
    highest = max(int(ast.literal_eval(each)) for each in (mutant.original, mutant.replacement))
    if len(others) == len(node.args):
        return False
    times = source.parents[node]
    is_text = (
        isinstance(times, ast.BinOp)
        and isinstance(times.op, ast.Mult)
        and (_is_text(times.left) or _is_text(times.right))
    )
    return any(_least(each) >= highest for each in others) or (is_text and highest <= 0)


def _least(node: ast.expr) -> float:
    """Return a number that the value of an expression is never below."""
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Call(func=ast.Name(id="len" | "abs" | "ord")):
            return 0
        case ast.Call(func=ast.Attribute(attr="count" | "bit_length" | "bit_count")):
            return 0
        case ast.Call(func=ast.Name(id="max")):
            return max(map(_least, node.args), default=-inf)
        case ast.BinOp(op=ast.Add()):
            return _least(node.left) + _least(node.right)
        case ast.BinOp(op=ast.Mult()) if min(_least(node.left), _least(node.right)) >= 0:
            return _least(node.left) * _least(node.right)
    return -inf


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
