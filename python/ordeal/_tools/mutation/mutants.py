"""The mutants of a file: each changes one place, and compiles to another program."""

from __future__ import annotations

import ast
import dataclasses
import dis
import hashlib
import types
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import itemgetter

from ordeal._base.code_objects import exact, shape
from ordeal._engine.coverage.function_source import lines_above
from ordeal._engine.coverage.gaps import statements_in
from ordeal._tools.mutation.chimp_sites import sites
from ordeal._tools.mutation.never_mutated import is_never_mutated
from ordeal._tools.mutation.operators import BODY_OPERATORS, OPERATORS, Change, padded
from ordeal._tools.mutation.source import Function, Source

CHIMP = "chimp"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of a file.

    Attributes:
        id: the same in every run, also after lines have moved.
        shown: the file, as people read it.
        name: the dotted name of what holds it; empty for a module.
        lines: the lines of its statement, without those of the statements within; a test that runs one covers it.
        start, end: the span in bytes that ``replacement`` replaces.
        function: the span in lines of the outermost function whose body, or literal default, holds it, decorators
            included; None outside.
    """

    id: str
    shown: str
    name: str
    operator: str
    line: int
    lines: tuple[int, int]
    start: int
    end: int
    original: str
    replacement: str
    function: tuple[int, int] | None

    @property
    def place(self) -> tuple[str, tuple[int, int] | None]:
        """The function that holds the mutant, or the file outside of functions: the unit that a swap replaces."""
        return self.shown, self.function

    def applied(self, text: bytes) -> bytes:
        """Return the text of the file with the change."""
        return text[: self.start] + self.replacement.encode() + text[self.end :]


def mutants_of(source: Source, operators: Sequence[str]) -> list[Mutant]:
    """Return the mutants that these operators make, in the order of the file; of two equal ones, the first.

    A change that compiles to the code of the original cannot be noticed, and is not a mutant.
    """
    return made_of(source, operators).mutants


@dataclass(frozen=True, slots=True)
class Made:
    """The mutants of a file, and the other changes: those that compile to the original or to an earlier mutant."""

    mutants: list[Mutant]
    equivalent: list[Mutant]
    duplicate: list[Mutant]


def made_of(source: Source, operators: Sequence[str]) -> Made:
    """Return the mutants that these operators make, and their changes that are not mutants."""
    made = Made([], [], [])
    for mutant, kind in _sorted_out(source, _all(source, operators)):
        getattr(made, kind).append(mutant)
    return made


def _all(source: Source, operators: Sequence[str]) -> Iterable[Mutant]:
    ordinals: Counter[tuple[str, ...]] = Counter()
    changes: list[tuple[str, Change]] = []
    if CHIMP in operators:
        changes += [(CHIMP, change) for change in sites(source)]
    chosen = [name for name in OPERATORS if name in operators]
    for node in ast.walk(source.tree) if chosen else ():
        found = [(name, change) for name in chosen for change in OPERATORS[name](source, node)]
        changes += [(name, change) for name, change in found if not is_never_mutated(source, change.node)]
    if CHIMP not in operators:
        changes.sort(key=lambda pair: pair[1].span)
    for name, change in changes:
        yield _mutant(source, name, change, ordinals)


def _mutant(source: Source, operator: str, change: Change, ordinals: Counter[tuple[str, ...]]) -> Mutant:
    statement = source.statement_of(change.node)
    first, last = _own_lines(statement)
    if operator in BODY_OPERATORS:
        holder = source.parents[change.node]
        assert isinstance(holder, Function)
        last = holder.end_lineno or last
    key = (source.shown, source.name_of(change.node), operator, source.part(source.span(statement)), change.replacement)
    digest = hashlib.sha256("\0".join((*key, str(ordinals[key]))).encode()).hexdigest()
    ordinals[key] += 1
    function = source.function_of(change.node)
    if function is None and (default := source.default_at(change.span)):
        function = default[0]
    return Mutant(
        digest[:12],
        source.shown,
        source.name_of(change.node),
        operator,
        source.line_of(change.span[0]),
        (first, last),
        *change.span,
        source.part(change.span),
        change.replacement,
        lines_of(function) if function is not None else None,
    )


def lines_of(function: Function) -> tuple[int, int]:
    """Return the first and last line of a function, decorators included."""
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    return first, function.end_lineno or first


def _own_lines(statement: ast.stmt | ast.ExceptHandler) -> tuple[int, int]:
    """Return the lines of a statement; for one that holds others, only those of its head."""
    body = getattr(statement, "body", None) or getattr(statement, "cases", None)
    if not body:
        return statement.lineno, statement.end_lineno or statement.lineno
    first = body[0].pattern if isinstance(body[0], ast.match_case) else body[0]
    return statement.lineno, max(statement.lineno, first.lineno - 1)


def _sorted_out(source: Source, mutants: Iterable[Mutant]) -> Iterator[tuple[Mutant, str]]:
    """Yield the mutants that compile; mark those with the code of the original, or of an earlier mutant there."""
    units = _Units(source)
    earlier: dict[tuple[int, int], set[tuple[object, ...]]] = {}
    for mutant in mutants:
        try:
            found, before = units.shapes(mutant)
        except (SyntaxError, ValueError):
            continue
        known = earlier.setdefault(mutant.lines, set())
        if mutant.operator != CHIMP and found == before:
            yield mutant, "equivalent"
        elif mutant.operator != CHIMP and found in known:
            yield mutant, "duplicate"
        else:
            known.add(found)
            yield mutant, "mutants"


class _Units:
    """Compiles the part that shows whether a mutant equals the original: its function, or statement of the module."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._statements = [source.span(each) for each in source.tree.body]
        self._of_function = cache(lambda function: shape(compiled_unit(source, source.text, function)))
        self._of_statement = cache(lambda span: self._statement(source.text[slice(*span)]))

    def shapes(self, mutant: Mutant) -> tuple[tuple[object, ...], tuple[object, ...]]:
        """Return the shape of the code of a mutant, and that of the original in its place.

        Raises:
            SyntaxError, ValueError: the mutant does not compile.
        """
        text = mutant.applied(self._source.text)
        if mutant.function is not None:
            changed = shape(compiled_unit(self._source, text, mutant.function))
            return changed, self._of_function(mutant.function)
        at = bisect_right(self._statements, mutant.start, key=itemgetter(0)) - 1
        first, last = self._statements[at]
        changed = self._statement(text[first : last + len(text) - len(self._source.text)])
        return changed, self._of_statement((first, last))

    def _statement(self, text: bytes) -> tuple[object, ...]:
        return shape(_compiled(text, self._source, _future_flags(self._source)))


def equals_original(source: Source, mutant: Mutant) -> bool:
    """Return True if a mutant compiles to the code of the original."""
    changed = compiled_unit(source, mutant.applied(source.text), mutant.function)
    return _instructions(changed) == _instructions(compiled_unit(source, source.text, mutant.function))


def _instructions(code: types.CodeType) -> tuple[object, ...]:
    """Return the instructions of code, without the names and constants that it never uses."""
    instructions = list(dis.get_instructions(code))
    # Without jumps, the distance between instructions does not matter.
    jumps = {*dis.hasjrel, *dis.hasjabs}
    moves = bool(code.co_exceptiontable) or any(each.opcode in jumps for each in instructions)
    done = tuple(
        (each.opname, _instructions(each.argval) if isinstance(each.argval, types.CodeType) else exact(each.argval))
        for each in instructions
        if moves or each.opname != "NOP"
    )
    return done, code.co_exceptiontable, code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], code.co_flags


def compiled_unit(
    source: Source, text: bytes, function: tuple[int, int] | None, taken: Mapping[int, Collection[str]] | None = None
) -> types.CodeType:
    """Return the code of a function (as a part of a module that holds little else), or that of the whole module.

    To compile a function alone takes a small part of the time of its file. It keeps its lines and its qualified name.
    ``taken`` has names that functions take from their surroundings even if they use none, by their first lines.
    """
    if function is None:
        return _compiled(text, source, _future_flags(source))
    first, last = function
    # A mutant is within its function, and has as many lines as the original.
    start, end = source.span_of_lines(first, last)
    flags, before = _surroundings(source, function)
    unit: bytes | ast.Module = before + text[start : end + len(text) - len(source.text)] + b"\n"
    if taken:
        unit = ast.parse(unit)
        for node in ast.walk(unit):
            if isinstance(node, Function) and (names := taken.get(lines_of(node)[0])):
                # The compiler leaves out what never runs only after it has seen what it names.
                never = ast.parse(f"if 0: {', '.join(names)}").body[0]
                node.body += [ast.increment_lineno(never, node.body[-1].lineno - 1)]
    return _compiled(unit, source, flags)


def _compiled(text: bytes | ast.Module, source: Source, flags: int) -> types.CodeType:
    with warnings.catch_warnings():
        # A mutant may call a tuple, or take an item of None: Python's warnings about that are not the user's.
        warnings.simplefilter("ignore", SyntaxWarning)
        code: types.CodeType = compile(text, str(source.path), "exec", flags, dont_inherit=True)
    return code


@lru_cache(maxsize=64)
def _imported_names(source: Source) -> list[str]:
    found: dict[str, None] = {}
    waiting: list[ast.AST] = [source.tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= dict.fromkeys((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif not isinstance(node, Function | ast.ClassDef):
            waiting += statements_in(node)
    return sorted(found.keys() - {"*"})


@lru_cache(maxsize=4096)
def _surroundings(source: Source, function: tuple[int, int]) -> tuple[int, bytes]:
    """Return how to compile a function alone, and what to put on the lines before it."""
    name, line = _names(source)[function], source.lines[function[0] - 1].decode()
    above = lines_above(function[0] - 1, line, name, _imported_names(source))
    return _future_flags(source), "".join(f"{each}\n" for each in above).encode()


@lru_cache(maxsize=64)
def _names(source: Source) -> dict[tuple[int, int], str]:
    return {lines_of(node): source.name_of(node) for node in ast.walk(source.tree) if isinstance(node, Function)}


@lru_cache(maxsize=64)
def _future_flags(source: Source) -> int:
    flags = 0
    for node in source.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                if alias.name == "annotations":
                    flags |= 0x1000000
    return flags


def raising(source: Source, mutant: Mutant) -> Mutant:
    """Return the mutant whose function raises as soon as it is called."""
    for node in ast.walk(source.tree):
        if isinstance(node, Function) and lines_of(node) == mutant.function:
            span = source.start(node.body[0]), source.end(node.body[-1])
            text = f"raise {padded(source.part(span), 'SystemError(1)')}"
            kept = " ; yield" if any(isinstance(each, ast.Yield) for each in ast.walk(node)) else ""
            return dataclasses.replace(mutant, start=span[0], end=span[1], replacement=text + kept)
    raise AssertionError("a mutant's function is in its file")
