"""Mutants by chance: small changes to lines that a machine reaches, drawn by a seed."""

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OPERATORS = ("statement", "boundary", "condition", "constant")

_BOUNDARIES = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_DELETED = (ast.Assign, ast.AugAssign, ast.Delete, ast.Expr, ast.Raise)


@dataclass(frozen=True, slots=True, order=True)
class Mutant:
    """A change to one place of a file: the text between two offsets is replaced."""

    file: str
    line: int
    operator: str
    start: int
    end: int
    text: str

    @property
    def name(self) -> str:
        """A name that tells it from all others of its library."""
        return f"{self.file}:{self.line}:{self.start}:{self.operator}"

    def applied(self, source: str) -> str:
        """The mutated text of the file."""
        data = source.encode()
        return (data[: self.start] + self.text.encode() + data[self.end :]).decode()

    def described(self, source: str) -> str:
        """What it changes, on one line."""
        before = " ".join(source.encode()[self.start : self.end].decode().split())
        return f"{self.file}:{self.line} `{before[:60]}` -> `{self.text[:60]}`"


def drawn(folder: Path, reached: dict[str, list[int]], seed: int) -> list[Mutant]:
    """All mutants of the reached lines, in an order that the seed decides: each operator is as likely as another."""
    chance = random.Random(seed)
    by_operator: dict[str, list[Mutant]] = {operator: [] for operator in OPERATORS}
    for file, lines in sorted(reached.items()):
        for mutant in sorted(mutants_of(file, (folder / file).read_text("utf-8"), set(lines))):
            by_operator[mutant.operator].append(mutant)
    for mutants in by_operator.values():
        chance.shuffle(mutants)
    order = []
    while any(by_operator.values()):
        operator = chance.choice([name for name, mutants in by_operator.items() if mutants])
        order.append(by_operator[operator].pop())
    return order


def mutants_of(file: str, source: str, lines: set[int]) -> Iterator[Mutant]:
    """The mutants of a file whose statement or expression begins on one of the lines, within functions."""
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for statement in function.body:
            for node in ast.walk(statement):
                if getattr(node, "lineno", None) in lines:
                    for operator, place, text in _changes(node):
                        assert place.end_lineno is not None, "parsed nodes have an end"
                        assert place.end_col_offset is not None, "parsed nodes have an end"
                        start = starts[place.lineno - 1] + place.col_offset
                        end = starts[place.end_lineno - 1] + place.end_col_offset
                        yield Mutant(file, place.lineno, operator, start, end, text)


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    if isinstance(node, _DELETED) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        yield "statement", node, "pass"
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _BOUNDARIES:
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        yield "boundary", node, f"({left} {_BOUNDARIES[type(node.ops[0])]} {right})"
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield "condition", node.test, f"(not ({ast.unparse(node.test)}))"
    if isinstance(node, ast.Constant) and isinstance(node.value, int):  # bool included
        yield "constant", node, repr(not node.value if isinstance(node.value, bool) else node.value + 1)
