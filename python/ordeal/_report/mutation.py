"""What mutation testing found, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ordeal._engine.formatting import counted, one_line, safe_lines
from ordeal._engine.mutation.mutants import Mutant
from ordeal._engine.mutation.running import Judgement
from ordeal._engine.mutation.source import Source
from ordeal._engine.mutation.verdicts import WORDS, Score, Verdict, weakest_first

_LINES_MAX = 6


def difference(source: Source, mutant: Mutant) -> str:
    """Return the lines that a mutant changes, as a diff."""
    changed = mutant.applied(source.text).decode().split("\n")
    before = source.text.decode().split("\n")
    first = source.line_of(mutant.start) - 1
    last = source.line_of(mutant.end) - 1
    grown = len(changed) - len(before)
    old = before[first : last + 1]
    new = [line for line in changed[first : last + 1 + grown] if line.strip(" )")]
    lines = [*_cut("-", old), *_cut("+", new)]
    return safe_lines("\n".join(lines))


def _cut(sign: str, lines: list[str]) -> list[str]:
    shown = [f"{sign} {line}" for line in lines[:_LINES_MAX]]
    return shown if len(lines) <= _LINES_MAX else [*shown, f"{sign} ... {len(lines) - _LINES_MAX} more lines"]


def survivor_text(source: Source, verdict: Verdict) -> str:
    """Return the place of a survivor, its diff, and who did not notice."""
    mutant = verdict.mutant
    head = f"{mutant.shown}:{mutant.line}  {mutant.name or 'module'}  survived  {mutant.operator}  {mutant.id}"
    diff = "\n".join(f"  {line}" for line in difference(source, mutant).split("\n"))
    return f"{one_line(head)}\n{diff}\n  {_passed(verdict)}\n"


def _passed(verdict: Verdict) -> str:
    """Return who ran a survivor, and did not notice."""
    if verdict.word == "uncovered":
        return "no test runs this"
    if verdict.route == "machine":
        return f"{counted(verdict.tests, 'trace')} of machines ran this, and nothing failed"
    ran = "test ran this and passed" if verdict.tests == 1 else "tests ran this and passed"
    if verdict.route == "import":
        ran = "test passed, with this imported" if verdict.tests == 1 else "tests passed, with this imported"
    nearest = one_line(f"; nearest: {verdict.nearest}") if verdict.nearest else ""
    return f"{verdict.tests} {ran}{nearest}"


def mutation_text(sources: Sequence[Source], judgement: Judgement) -> str:
    """Return the whole report as text."""
    by_name = {source.shown: source for source in sources}
    parts = [survivor_text(by_name[each.mutant.shown], each) for each in weakest_first(judgement.verdicts)]
    parts += _uncovered(judgement.verdicts)
    counts = Counter(verdict.word for verdict in judgement.verdicts)
    words = "  ".join(f"{word} {counts[word]}" for word in WORDS if counts[word])
    parts.append(f"{counted(len(judgement.verdicts), 'mutant')}  {words}  {judgement.seconds:.1f} s\n")
    if judgement.flaky:
        names = ", ".join(judgement.flaky)
        parts.append(f"left out, as they do not pass each time without a mutant: {one_line(names)}\n")
    parts.append(score_text(Score.of(judgement.verdicts)))
    return "\n".join(parts[:-1]) + parts[-1] if len(parts) > 1 else parts[0]


def score_text(score: Score) -> str:
    """Return the line of the score."""
    if score.percent is None:
        return "no score: nothing was judged\n"
    text = f"score {score.detected}/{score.judged} ({score.percent} %)"
    if score.uncovered and score.covered_percent is not None:
        text += f"  covered {score.detected}/{score.judged - score.uncovered} ({score.covered_percent} %)"
    return f"{text}\n"


def _uncovered(verdicts: Sequence[Verdict]) -> list[str]:
    found: dict[tuple[str, str], list[Mutant]] = {}
    for verdict in verdicts:
        if verdict.word == "uncovered":
            found.setdefault((verdict.mutant.shown, verdict.mutant.name), []).append(verdict.mutant)
    lines = [
        f"UNCOVERED  {shown}:{mutants[0].line}  {name}  no test runs this ({counted(len(mutants), 'mutant')})"
        for (shown, name), mutants in found.items()
    ]
    return ["\n".join(one_line(line) for line in lines) + "\n"] if lines else []


def mutation_json(sources: Sequence[Source], judgement: Judgement) -> dict[str, Any]:
    """Return the report as plain values."""
    by_name = {source.shown: source for source in sources}
    return {
        "schema": "ordeal-mutation-1",
        "score": score_json(Score.of(judgement.verdicts)),
        "tests": judgement.tests,
        "flaky": judgement.flaky,
        "seconds": round(judgement.seconds, 3),
        "cpu_seconds": round(judgement.cpu_seconds, 3),
        "interrupted": judgement.was_interrupted,
        "mutants": [_by_tests(by_name[each.mutant.shown], each) for each in judgement.verdicts],
    }


def score_json(score: Score) -> dict[str, Any]:
    """Return a score as plain values."""
    return {
        "detected": score.detected,
        "undetected": score.undetected,
        "uncovered": score.uncovered,
        "not_run": score.not_run,
        "percent": score.percent,
        "covered_percent": score.covered_percent,
    }


def mutant_json(source: Source, verdict: Verdict) -> dict[str, Any]:
    """Return a mutant and its verdict as plain values: what every judge says."""
    mutant = verdict.mutant
    return {
        "id": mutant.id,
        "file": mutant.shown,
        "line": mutant.line,
        "name": mutant.name,
        "operator": mutant.operator,
        "original": mutant.original,
        "replacement": mutant.replacement,
        "verdict": verdict.word,
        "killer": verdict.killer,
        "note": verdict.note,
        "diff": difference(source, mutant) if verdict.word == "survived" else None,
    }


def _by_tests(source: Source, verdict: Verdict) -> dict[str, Any]:
    return {**mutant_json(source, verdict), "tests": verdict.tests, "route": verdict.route}
