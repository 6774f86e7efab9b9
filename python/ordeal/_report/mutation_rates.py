"""How much of what each operator makes, and of what is in each function, was noticed: as text, values and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordeal._base.formatting import counted, one_line
from ordeal._tools.mutation.verdicts import Score, Verdict, rates

_FUNCTIONS_MAX = 10
_WIDEST = 60


def operator_of(verdict: Verdict) -> str:
    """Return the operator of a mutant."""
    return verdict.mutant.operator


def function_of(verdict: Verdict) -> tuple[str, str]:
    """Return the file and the function that a mutant is in."""
    return verdict.mutant.shown, verdict.mutant.name or "module"


def _by_function(verdicts: Sequence[Verdict]) -> list[tuple[str, Score]]:
    """Return the scores of functions, each named with its file."""
    return [(" ".join(place), score) for place, score in rates(verdicts, function_of)]


def rates_text(verdicts: Sequence[Verdict]) -> str:
    """Return both tables, the weakest rows first; of functions those alone in which something was not noticed."""
    functions = _by_function(verdicts)
    weak = [pair for pair in functions if pair[1].undetected]
    lines = _rows("operator", rates(verdicts, operator_of))
    lines += ["", *_rows("function", weak[:_FUNCTIONS_MAX])] if weak else []
    lines += [f"and {counted(len(weak) - _FUNCTIONS_MAX, 'more function')}"] if len(weak) > _FUNCTIONS_MAX else []
    whole = sum(score.percent == 100 for _, score in functions)
    lines += [f"each mutant is noticed in {counted(whole, 'function')} of {len(functions)}"] if whole else []
    return "\n".join(map(one_line, lines)) + "\n"


def _rows(what: str, found: Sequence[tuple[str, Score]]) -> list[str]:
    width = min(max(len(name) for name in (what, *(name for name, _ in found))), _WIDEST)
    lines = [f"{what:<{width}}  mutants  noticed   score"]
    for name, score in found:
        lines.append(f"{name:<{width}}  {score.judged:>7}  {score.detected:>7}  {_share(score):>7}")
    return lines


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
    return [
        _table("Noticed by operator", "operator", rates(verdicts, operator_of)),
        _table("Noticed by function", "function", _by_function(verdicts)),
    ]


def _table(title: str, what: str, found: Sequence[tuple[str, Score]]) -> dict[str, Any]:
    rows = [(one_line(name), score.judged, score.detected, _share(score)) for name, score in found]
    return {"title": title, "columns": (what, "mutants", "noticed", "score"), "rows": rows, "words": ()}
