"""The mutant that every judge must notice: a function that raises at once."""

from __future__ import annotations

import ast
import dataclasses

from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.source import Function, Source


def raising_at_once(source: Source, mutant: Mutant) -> Mutant | None:
    """Return a mutant whose function, the one that holds ``mutant``, raises; None where there is none."""
    for node in ast.walk(source.tree):
        if isinstance(node, Function) and mutant.function is not None and node.end_lineno == mutant.function[1]:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first == mutant.function[0]:
                start, end = source.start(node.body[0]), source.end(node.body[-1])
                # A function is compiled alone, by its lines: they stay as many.
                lines = "\n" * source.part((start, end)).count("\n")
                raised = f'raise RuntimeError("broken on purpose"{lines})'
                return dataclasses.replace(mutant, start=start, end=end, replacement=raised)
    return None
