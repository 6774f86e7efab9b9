"""Ranks functions by what no run, no mutant and no fault has tested in them: measured, and never guessed from names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ordeal._base.regular_file import source_text
from ordeal._tools.mutation.saved import Saved
from ordeal.result.exploration import ranges

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: Where a program waits, or holds something that it has to give back, by syntax alone.
_WAITS = (ast.Await, ast.AsyncFor, ast.AsyncWith, ast.With)


@dataclass(frozen=True, slots=True)
class FunctionRisk:
    """What is untested in a function.

    Attributes:
        missed: the number of lines that no run reached.
        survived: the number of mutants that no test noticed.
        unstruck: the number of places where it waits, or enters a `with`, and no fault has struck a call.
        machines: the classes of which a run reached it, and ``others`` those that have its file as a target as well.
    """

    file: str
    line: int
    name: str
    missed: int
    survived: int
    unstruck: int
    machines: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def risk(self) -> int:
        """Return by what functions are ranked."""
        return self.missed + self.survived + self.unstruck


def risks(results: Sequence[Mapping[str, Any]], saved: Saved | None, folder: Path) -> list[FunctionRisk]:
    """Return the functions with a risk, the largest first, by the results of a session and the last verdicts."""
    verdicts = saved.verdicts() if saved is not None else []
    # The report has the lines that ran as ranges.
    ran_in = [(each["test_class"], each["telemetry"]["behavior"]["covered_lines"]) for each in results]
    reached = [(name, {file: set(ranges(lines)) for file, lines in covered.items()}) for name, covered in ran_in]
    struck = {_target(fault["name"]) for each in results for fault in each["faults"] if fault["hits"]}
    files = dict.fromkeys(file for each in results for file in each["telemetry"]["behavior"]["missed_lines"])
    files |= dict.fromkeys(file for _, lines in reached for file in lines)
    found = []
    for file in files:
        by_test = [each["telemetry"]["behavior"]["missed_lines"].get(file) for each in results]
        holders = [
            test for (test, lines), own in zip(reached, by_test, strict=True) if file in lines or own is not None
        ]
        missed = [set(own or ()) for own in by_test]
        ran = set[int]().union(*(lines.get(file, ()) for _, lines in reached))
        try:
            tree = ast.parse(source_text(folder / file))
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        for name, node, own in _functions(tree, ""):
            waits = [each for each in ast.walk(node) if isinstance(each, _WAITS) and each.lineno in own]
            # A line of its body: what makes the function runs at import.
            machines = tuple(test for test, lines in reached if lines.get(file, set()) & (own - {node.lineno}))
            survivors = [each for each in verdicts if each.mutant.shown == file and each.mutant.line in own]
            risk = FunctionRisk(
                file=file,
                line=node.lineno,
                name=name,
                missed=len(own & (set[int]().union(*missed) - ran)),
                survived=sum(each.word in ("survived", "uncovered") for each in survivors),
                unstruck=sum(not _calls(each) & struck for each in waits),
                machines=machines,
                others=tuple(test for test in holders if test not in machines),
            )
            found += [risk] if risk.risk else []
    return sorted(found, key=lambda each: (-each.risk, each.file, each.line))


def _functions(tree: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, set[int]]]:
    """Yield each function with its name and its lines, without those of functions in it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _FUNCTIONS):
            inner = [*_functions(node, f"{prefix}{node.name}.")]
            own = set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            yield f"{prefix}{node.name}", node, own.difference(*(lines for _, _, lines in inner))
            yield from inner
        else:
            yield from _functions(node, f"{prefix}{node.name}." if isinstance(node, ast.ClassDef) else prefix)


def _target(fault: str) -> str:
    """Return the last word of what a fault is aimed at, which its name holds in parentheses."""
    return fault.partition("(")[2].partition(")")[0].partition(",")[0].rpartition(".")[2]


def _calls(node: ast.AST) -> set[str]:
    """Return the last words of what is called at a place."""
    parts = [each.context_expr for each in node.items] if isinstance(node, ast.With | ast.AsyncWith) else [node]
    calls = (each.func for part in parts for each in ast.walk(part) if isinstance(each, ast.Call))
    return {str(getattr(each, "attr", getattr(each, "id", ""))) for each in calls}
