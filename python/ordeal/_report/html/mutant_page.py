"""The page of one mutant: a run of a machine on the original and on it, beside each other."""

from __future__ import annotations

from typing import Any

import ordeal._native as _native
from ordeal._base.formatting import one_line
from ordeal._report.html.page import render
from ordeal._report.mutation import difference
from ordeal._tools.mutation.machines.views import Side, SideBySide
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.source import Source


def mutant_page(source: Source, mutant: Mutant, view: SideBySide) -> str:
    """Return a page that needs nothing beside it."""
    return render("mutant.html", mutant_values(source, mutant, view))


def mutant_values(source: Source, mutant: Mutant, view: SideBySide) -> dict[str, Any]:
    """Return what the template shows."""
    told = f"The mutant fails in {view.failure}." if view.failure else "Nothing fails on the mutant."
    if view.first >= 0:
        told += f" The states part at step {view.first}."
    elif not view.failure:
        told += " No state differs."
    return {
        "version": _native.__version__,
        "head": one_line(f"{mutant.shown}:{mutant.line} {mutant.name} {mutant.operator}"),
        "facts": [mutant.id, one_line(view.machine), f"trace {view.trace}"],
        "diff": difference(source, mutant).split("\n"),
        "told": one_line(told),
        "first": view.first,
        "steps": [
            {
                "number": number,
                "call": one_line(step.call),
                "sides": [_side(step.original, is_mutant=False), _side(step.mutant, is_mutant=True)],
            }
            for number, step in enumerate(view.steps)
        ],
    }


def _side(side: Side, *, is_mutant: bool) -> dict[str, Any]:
    others = dict(side.others)
    return {
        "kind": "happened" if others and is_mutant else "",
        "is_there": side.is_there,
        "changes": [(one_line(path), one_line(text)) for path, text in side.changes if path not in others],
        "others": [(one_line(path), one_line(text)) for path, text in side.others],
    }
