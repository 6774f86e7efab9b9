"""What becomes of whole functions whose bodies are exchanged: tested, partially tested, pseudo-tested, not covered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.operators import BODY_OPERATORS
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import DETECTED, Verdict

Depth = Literal["tested", "partially tested", "pseudo-tested", "not covered"]
DEPTHS: tuple[Depth, ...] = ("tested", "partially tested", "pseudo-tested", "not covered")


@dataclass(frozen=True, slots=True)
class FunctionVerdict:
    """A function, and whether anybody notices when it does something else altogether.

    It is tested if each other body is noticed, partially tested if some are, pseudo-tested if it runs and none is.
    """

    shown: str
    name: str
    line: int
    word: Depth
    verdicts: tuple[Verdict, ...]


def functions_of(sources: Sequence[Source], verdicts: Iterable[Verdict]) -> list[FunctionVerdict]:
    """Return the functions of which each other body was judged, in their order."""
    judged = {each.mutant.id: each for each in verdicts if each.mutant.operator in BODY_OPERATORS}
    found: dict[tuple[str, str, tuple[int, int]], list[Verdict | None]] = {}
    for mutant in (each for source in sources if judged for each in mutants_of(source, BODY_OPERATORS)):
        found.setdefault((mutant.shown, mutant.name, mutant.lines), []).append(judged.get(mutant.id))
    functions = []
    for (shown, name, lines), each in found.items():
        whole = tuple(verdict for verdict in each if verdict is not None and verdict.word != "not run")
        if len(whole) == len(each):
            functions.append(FunctionVerdict(shown, name, lines[0], _depth(whole), whole))
    return functions


def _depth(verdicts: Sequence[Verdict]) -> Depth:
    noticed = sum(each.word in DETECTED for each in verdicts)
    if noticed == len(verdicts):
        return "tested"
    if noticed:
        return "partially tested"
    return "pseudo-tested" if any(each.word == "survived" for each in verdicts) else "not covered"
