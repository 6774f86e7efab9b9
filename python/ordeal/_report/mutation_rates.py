"""How much of what each operator makes, and of what is in each function, was noticed: as values and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordeal._base.formatting import one_line
from ordeal._tools.mutation.verdicts import Score, Verdict, rates


def operator_of(verdict: Verdict) -> str:
    """Return the operator of a mutant."""
    return verdict.mutant.operator


def function_of(verdict: Verdict) -> tuple[str, str]:
    """Return the file and the function that a mutant is in."""
    return verdict.mutant.shown, verdict.mutant.name or "module"


def _share(score: Score) -> str:
    return "-" if score.percent is None else f"{score.percent} %"


def rates_json(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return both as plain values, in the order of the tables."""
    return {
        "operators": [{"operator": name, **_values(score)} for name, score in rates(verdicts, operator_of)],
        "functions": [
            {"file": file, "name": name, **_values(score)} for (file, name), score in rates(verdicts, function_of)
        ],
    }


def _values(score: Score) -> dict[str, Any]:
    names = ("detected", "undetected", "uncovered", "not_run", "percent")
    return {name: getattr(score, name) for name in names}


def rate_tables(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """Return both for a page."""
    by_function = rates(verdicts, function_of)
    return [
        _table("Noticed by operator", "operator", rates(verdicts, operator_of)),
        _table("Noticed by function", "function", [(" ".join(place), each) for place, each in by_function]),
    ]


def _table(title: str, what: str, found: Sequence[tuple[str, Score]]) -> dict[str, Any]:
    rows = [(one_line(name), score.judged, score.detected, _share(score)) for name, score in found]
    return {"title": title, "columns": (what, "mutants", "noticed", "score"), "rows": rows, "words": ()}
