"""What tests and machines say of the same mutants, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ordeal._base.formatting import one_line
from ordeal._report.machine_mutation import machine_mutation_json, tables_text, why_it_survived
from ordeal._report.mutation import (
    assertion_text,
    dead_lines,
    folded,
    mutation_json,
    score_json,
    score_text,
    survivor_text,
    words_text,
)
from ordeal._report.mutation_rates import rates_json, rates_text
from ordeal._tools.mutation.machines.beside_tests import Who, who_notices
from ordeal._tools.mutation.machines.running import MachineJudgement
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Score, Verdict, weakest_first

_SHOWN_MAX = 8
_TOLD: dict[Who, str] = {
    "both": "tests and machines",
    "only tests": "only tests",
    "only machines": "only machines",
    "nobody": "nobody",
}
_BY_HYPOTHESIS: dict[Who, str] = {
    "both": "runs and examples",
    "only tests": "only examples",
    "only machines": "only recorded runs",
    "nobody": "neither",
}


def both_text(
    sources: Sequence[Source],
    verdicts: Sequence[Verdict],
    tests: Judgement,
    machines: MachineJudgement,
    examples: Judgement | None = None,
    *,
    every: bool = False,
    with_rates: bool = False,
) -> str:
    """Return the whole report as text, with all survivors of each line or the first.

    ``examples`` are the tests in which Hypothesis runs the machines.
    """
    by_name = {source.shown: source for source in sources}
    of_tests = {each.mutant.id: each for each in tests.verdicts}
    parts, within = [], folded(verdicts, every=every)
    for each in weakest_first(verdicts, every=every):
        verdict = replace(of_tests[each.mutant.id], doubt=each.doubt)
        text = survivor_text(by_name[each.mutant.shown], verdict, within[each.mutant.id])
        told = why_it_survived(each.mutant, machines) if each.mutant.id in machines.findings else []
        parts.append(text + "".join(f"  {one_line(line)}\n" for line in told))
    parts.append(tables_text(machines))
    parts.append(_who(tests, machines))
    if examples is not None:
        parts.append(_differences(examples, machines))
    elif tests.apart:
        names = ", ".join(tests.apart[:_SHOWN_MAX])
        parts.append(one_line(f"not asked, as their machines judge; --hypothesis asks them: {names}") + "\n")
    parts += dead_lines(verdicts)
    parts += [rates_text(verdicts)] if with_rates else []
    score = Score.of(verdicts)
    head = words_text(verdicts, tests.seconds + machines.seconds, tests.left_out)
    parts.append(f"{head}{assertion_text(score)}{score_text(score, tests.drawn_from)}")
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


def _differences(examples: Judgement, machines: MachineJudgement) -> str:
    """Return what recorded runs notice of the same machines, and what the examples of Hypothesis do."""
    found = who_notices(*_words(examples, machines))
    places = {each.mutant.id: f"{each.mutant.shown}:{each.mutant.line} {each.mutant.id}" for each in examples.verdicts}
    lines = ["of the machines       mutants"]
    for who, names in found.items():
        shown = [places[name] for name in names[:_SHOWN_MAX]] if who.startswith("only") else []
        more = f" and {len(names) - len(shown)} more" if shown and len(shown) < len(names) else ""
        lines.append(f"{_BY_HYPOTHESIS[who]:<20}  {len(names):>7}{'  ' if shown else ''}{', '.join(shown)}{more}")
    lines.append(f"examples of Hypothesis took {examples.seconds:.1f} s, recorded runs {machines.seconds:.1f} s")
    return "\n".join(map(one_line, lines)) + "\n"


def _words(tests: Judgement, machines: MachineJudgement) -> tuple[dict[str, Any], dict[str, Any]]:
    of_tests = {each.mutant.id: each.word for each in tests.verdicts}
    return of_tests, {each.mutant.id: each.word for each in machines.verdicts}


def both_json(
    sources: Sequence[Source],
    verdicts: Sequence[Verdict],
    tests: Judgement,
    machines: MachineJudgement,
    examples: Judgement | None = None,
) -> dict[str, Any]:
    """Return the report as plain values: those of each judge, and who notices what.

    What is dead is so for each judge.
    """
    dead = {each.mutant.id: each for each in verdicts if each.word == "dead"}
    tests, machines = _with_dead(tests, dead), _with_dead(machines, dead)
    more: dict[str, Any] = {}
    if examples is not None:
        found = who_notices(*_words(examples, machines))
        noticed = dict(zip(("both", "only examples", "only runs", "neither"), found.values(), strict=True))
        more = {"hypothesis": mutation_json(sources, examples), "machines_noticed_by": noticed}
    return {
        **more,
        "schema": "ordeal-both-mutation-1",
        "score": score_json(Score.of(verdicts), tests.drawn_from),
        "noticed_by": who_notices(*_words(tests, machines)),
        "rates": rates_json(verdicts),
        "dead": {name: each.note for name, each in dead.items()},
        "doubts": {each.mutant.id: each.doubt for each in verdicts if each.doubt},
        "tests": mutation_json(sources, tests),
        "machines": machine_mutation_json(sources, machines),
    }


def _with_dead[J: (Judgement, MachineJudgement)](judgement: J, dead: Mapping[str, Verdict]) -> J:
    verdicts = [
        replace(each, word="dead", note=dead[each.mutant.id].note) if each.mutant.id in dead else each
        for each in judgement.verdicts
    ]
    return replace(judgement, verdicts=verdicts)
