"""What tests and machines say of the same mutants, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordeal._engine.formatting import one_line
from ordeal._engine.mutation.machines.beside_tests import Who, who_notices
from ordeal._engine.mutation.machines.running import MachineJudgement
from ordeal._engine.mutation.running import Judgement
from ordeal._engine.mutation.source import Source
from ordeal._engine.mutation.verdicts import Score, Verdict, weakest_first
from ordeal._report.machine_mutation import machine_mutation_json, tables_text, why_it_survived
from ordeal._report.mutation import (
    assertion_text,
    dead_lines,
    mutation_json,
    score_json,
    score_text,
    survivor_text,
    words_text,
)

_SHOWN_MAX = 8
_TOLD: dict[Who, str] = {
    "both": "tests and machines",
    "only tests": "only tests",
    "only machines": "only machines",
    "nobody": "nobody",
}


def both_text(
    sources: Sequence[Source], verdicts: Sequence[Verdict], tests: Judgement, machines: MachineJudgement
) -> str:
    """Return the whole report as text."""
    by_name = {source.shown: source for source in sources}
    of_tests = {each.mutant.id: each for each in tests.verdicts}
    parts = []
    for each in weakest_first(verdicts):
        text = survivor_text(by_name[each.mutant.shown], of_tests[each.mutant.id])
        told = why_it_survived(each.mutant, machines) if each.mutant.id in machines.findings else []
        parts.append(text + "".join(f"  {one_line(line)}\n" for line in told))
    parts.append(tables_text(machines))
    parts.append(_who(tests, machines))
    parts += dead_lines(verdicts)
    score = Score.of(verdicts)
    head = words_text(verdicts, tests.seconds + machines.seconds, tests.left_out)
    parts.append(f"{head}{assertion_text(score)}{score_text(score)}")
    return "\n".join(parts)


def _who(tests: Judgement, machines: MachineJudgement) -> str:
    found = who_notices(*_words(tests, machines))
    places = {each.mutant.id: f"{each.mutant.shown}:{each.mutant.line} {each.mutant.id}" for each in tests.verdicts}
    lines = ["noticed by          mutants"]
    for who, names in found.items():
        shown = [places[name] for name in names[:_SHOWN_MAX]] if who == "only machines" else []
        more = f" and {len(names) - len(shown)} more" if shown and len(shown) < len(names) else ""
        lines.append(f"{_TOLD[who]:<18}  {len(names):>7}{'  ' if shown else ''}{', '.join(shown)}{more}")
    return "\n".join(map(one_line, lines)) + "\n"


def _words(tests: Judgement, machines: MachineJudgement) -> tuple[dict[str, Any], dict[str, Any]]:
    of_tests = {each.mutant.id: each.word for each in tests.verdicts}
    return of_tests, {each.mutant.id: each.word for each in machines.verdicts}


def both_json(
    sources: Sequence[Source], verdicts: Sequence[Verdict], tests: Judgement, machines: MachineJudgement
) -> dict[str, Any]:
    """Return the report as plain values: those of each judge, and who notices what."""
    return {
        "schema": "ordeal-both-mutation-1",
        "score": score_json(Score.of(verdicts)),
        "noticed_by": who_notices(*_words(tests, machines)),
        "tests": mutation_json(sources, tests),
        "machines": machine_mutation_json(sources, machines),
    }
