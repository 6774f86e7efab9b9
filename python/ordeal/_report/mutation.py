"""What mutation testing found, as text and as JSON."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ordeal._base.formatting import counted, one_line, safe_lines
from ordeal._base.limits import LISTED_MAX
from ordeal._report.mutation_rates import (
    machine_lines,
    machine_remarks,
    machine_tables,
    rates_json,
    why_it_survived,
)
from ordeal._tools.mutation.machines.evidence import MachineFinding, table_of
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import (
    DEPTHS,
    WORDS,
    FunctionVerdict,
    Score,
    Verdict,
    functions_of,
    inside,
    weakest_first,
)
from ordeal.result.exploration import line_ranges

_PADDING = re.compile(r"\(([^\n]*)\n+\)")


def difference(source: Source, mutant: Mutant) -> str:
    """Return the lines that a mutant changes, as a diff."""
    first = source.line_of(mutant.start) - 1
    last = source.line_of(mutant.end) - 1
    old = source.text.decode().split("\n")[first : last + 1]
    # Without the blank lines that keep the lines after it in place.
    shorter = dataclasses.replace(mutant, replacement=_PADDING.sub(r"\1", mutant.replacement))
    changed = shorter.applied(source.text).decode().split("\n")
    new = [line for line in changed[first : first + 1 + shorter.replacement.count("\n")] if line.strip()]
    lines = [*_cut("-", old), *_cut("+", new)]
    return safe_lines("\n".join(lines))


def _cut(sign: str, lines: list[str]) -> list[str]:
    shown = [f"{sign} {line}" for line in lines[:LISTED_MAX]]
    return shown if len(lines) <= LISTED_MAX else [*shown, f"{sign} ... {len(lines) - LISTED_MAX} more lines"]


def survivor_text(source: Source, verdict: Verdict, within: int = 0, why: Sequence[str] = ()) -> str:
    """Return the place of a survivor, its diff, the passing tests or ``why``, and how many more are ``within`` it."""
    mutant = verdict.mutant
    head = f"{mutant.shown}:{mutant.line}  {mutant.name or 'module'}  survived  {mutant.operator}  {mutant.id}"
    head += f"  +{within} inside" if within else ""
    diff = "".join(f"  {line}\n" for line in difference(source, mutant).split("\n"))
    told = "".join(f"  {line}\n" for line in why or [_passed(verdict)])
    return f"{one_line(head)}\n{diff}{told}{doubt_text(verdict)}"


def doubt_text(verdict: Verdict) -> str:
    """Return, as a line, why the changed code may be unused; nothing without such a doubt."""
    return one_line(f"  DEAD?  {verdict.doubt}") + "\n" if verdict.doubt else ""


def _passed(verdict: Verdict) -> str:
    """Return which tests or machines ran a survivor and passed."""
    if verdict.word == "uncovered":
        return "no test runs this"
    if verdict.route == "machine":
        return f"{counted(verdict.tests, 'trace')} of machines ran this, and nothing failed"
    ran = "test ran this and passed" if verdict.tests == 1 else "tests ran this and passed"
    if verdict.route == "import":
        ran = "test passed, with this imported" if verdict.tests == 1 else "tests passed, with this imported"
    nearest = one_line(f"; nearest: {verdict.nearest}") if verdict.nearest else ""
    return f"{verdict.tests} {ran}{nearest}"


def mutation_text(sources: Sequence[Source], judgement: Judgement, *, every: bool = False) -> str:
    """Return the report as text: the first survivor of each line, then what no machine asks.

    With ``every`` it has all survivors, and the tables of machines.
    """
    by_name = {source.shown: source for source in sources}
    verdicts = judgement.verdicts
    # Those within another survivor are only counted there, unless all are shown.
    within = {} if every else {name: len(found) for name, found in inside(verdicts).items()}
    parts = []
    shown = weakest_first(verdicts, every=every)
    for each in shown:
        why = why_it_survived(each.mutant, judgement)
        parts.append(survivor_text(by_name[each.mutant.shown], each, within.get(each.mutant.id, 0), why))
    survived = sum(each.word == "survived" for each in verdicts)
    if others := survived - len(shown) - sum(within.get(each.mutant.id, 0) for each in shown):
        parts.append(f"{others} more of these lines survived: --all shows them\n")
    if judgement.machines:
        parts.append("".join(f"{line}\n" for line in machine_remarks(judgement)))
    parts += _uncovered(verdicts)
    parts += _not_run(verdicts) if judgement.machines else []
    found = functions_of(sources, verdicts)
    lines = [_function(each) for each in found if each.word in ("pseudo-tested", "partially tested")]
    counts = Counter(each.word for each in found)
    words = "  ".join(f"{word} {counts[word]}" for word in DEPTHS if counts[word])
    parts += ["\n".join(map(one_line, [*lines, f"{counted(len(found), 'function')}  {words}"])) + "\n"] if found else []
    parts += dead_lines(verdicts)
    by: dict[str, str] = {}
    if judgement.machines:
        parts += [table.text() for table in machine_tables(judgement)] if every else []
        parts.append("".join(f"{line}\n" for line in machine_lines(judgement)))
        kinds = Counter(
            each.kills[0].kind for each in judgement.findings.values() if each.word == "killed" and each.kills
        )
        by["killed"] = f" ({', '.join(f'{kind} {number}' for kind, number in sorted(kinds.items()))})" if kinds else ""
    parts.append(words_text(verdicts, judgement.seconds, judgement.left_out, by))
    if judgement.flaky:
        names = ", ".join(judgement.flaky)
        parts.append(f"left out, as they do not pass each time without a mutant: {one_line(names)}\n")
    score = Score.of(verdicts)
    last = (assertion_text(score) if score.asserted < score.detected else "") + score_text(score, judgement.drawn_from)
    return "\n".join(parts) + last


def words_text(
    verdicts: Sequence[Verdict], seconds: float, left_out: Mapping[str, int], words: Mapping[str, str] | None = None
) -> str:
    """Return how many mutants got each verdict, with details for some, and how many are not judged."""
    counts, more = Counter(verdict.word for verdict in verdicts), words or {}
    described = "  ".join(f"{word} {counts[word]}{more.get(word, '')}" for word in WORDS if counts[word])
    text = f"{counted(len(verdicts), 'mutant')}  {described}  {seconds:.1f} s\n"
    doubts = sum(bool(each.doubt) for each in verdicts)
    if doubts:
        text += f"of what nothing noticed, {doubts} might be dead code: DEAD? says why\n"
    others = "  ".join(f"{kind} {number}" for kind, number in left_out.items() if number)
    return text + (f"not judged: {others}\n" if others else "")


def dead_lines(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the dead code, with its proof."""
    found = [each for each in verdicts if each.word == "dead"]
    lines = [f"DEAD  {each.mutant.shown}:{each.mutant.line}  {each.mutant.id}  {each.note}" for each in found]
    return ["\n".join(map(one_line, lines)) + "\n"] if lines else []


def score_text(score: Score, drawn_from: int = 0) -> str:
    """Return the line of the score; of a sample, with where that of all mutants lies."""
    if score.percent is None:
        return "no score: nothing was judged\n"
    text = f"score {score.detected}/{score.judged} ({score.percent} %)"
    if score.not_run and score.range is not None:
        text += f", {score.range[0]} to {score.range[1]} % with the {score.not_run} not run"
    if score.uncovered and score.covered_percent is not None:
        text += f"  covered {score.detected}/{score.judged - score.uncovered} ({score.covered_percent} %)"
    if (interval := score.interval(drawn_from)) is not None:
        text += f"\nof all {drawn_from} mutants {interval[0]} to {interval[1]} %, with 95 percent"
    return f"{text}\n"


def assertion_text(score: Score) -> str:
    """Return the line with the assertion score."""
    return f"assertion score {score.asserted}/{score.judged} ({score.asserted_percent} %)\n" if score.judged else ""


def _function(function: FunctionVerdict) -> str:
    head = f"{function.word.upper():<16}  {function.shown}:{function.line}  {function.name}"
    unnoticed = [
        f"`{ast.unparse(ast.parse(each.mutant.replacement).body[0])}`"
        for each in function.verdicts
        if each.word == "survived"
    ]
    if function.word == "pseudo-tested":
        tests = max(each.tests for each in function.verdicts)
        return f"{head}  {counted(tests, 'test')} ran it, and none needs what it does"
    return f"{head}  nobody notices {' or '.join(unnoticed)} in its place"


def _uncovered(verdicts: Sequence[Verdict]) -> list[str]:
    found: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.word == "uncovered":
            found.setdefault((verdict.mutant.shown, verdict.mutant.name), []).append(verdict)
    lines = []
    for (shown, name), each in found.items():
        place, who = _place(shown, each), "trace" if each[0].route == "machine" else "test"
        head = f"UNCOVERED  {place}  {name}  no {who} runs this ({counted(len(each), 'mutant')})"
        lines.append(f"{head}; DEAD? {each[0].doubt}" if each[0].doubt else head)
    return ["".join(f"{one_line(line)}\n" for line in lines)] if lines else []


def _not_run(verdicts: Sequence[Verdict]) -> list[str]:
    """Return why some mutants have no verdict, and where they are."""
    found: dict[str, dict[str, list[Verdict]]] = {}
    for verdict in verdicts:
        if verdict.word == "not run" and verdict.note:
            found.setdefault(verdict.note, {}).setdefault(verdict.mutant.shown, []).append(verdict)
    lines = []
    for note, files in found.items():
        lines.append(f"NOT RUN  {counted(sum(map(len, files.values())), 'mutant')}: {note}")
        lines += [f"  {_place(shown, each)}" for shown, each in files.items()]
    return ["".join(f"{one_line(line)}\n" for line in lines)] if lines else []


def _place(shown: str, verdicts: Sequence[Verdict]) -> str:
    return f"{shown}:{','.join(line_ranges(sorted({each.mutant.line for each in verdicts})))}"


def mutation_json(sources: Sequence[Source], judgement: Judgement) -> dict[str, Any]:
    """Return the report as plain values, of the schema of the judges."""
    by_name = {source.shown: source for source in sources}
    shared = {
        "score": score_json(Score.of(judgement.verdicts), judgement.drawn_from),
        "left_out": dict(judgement.left_out),
        "rates": rates_json(judgement.verdicts),
        "seconds": round(judgement.seconds, 3),
        "interrupted": judgement.was_interrupted,
        "mutants": [_verdict_json(by_name[each.mutant.shown], each, judgement) for each in judgement.verdicts],
    }
    if judgement.machines:
        return {
            "schema": "ordeal-machine-mutation-1",
            **shared,
            "judging_seconds": round(judgement.judging_seconds, 3),
            "judging_cpu_seconds": round(judgement.cpu_seconds, 3),
            "machines": msgspec.to_builtins(judgement.machines),
            "table": msgspec.to_builtins(table_of(judgement.findings.values(), judgement.machines)),
        }
    return {
        "schema": "ordeal-mutation-1",
        **shared,
        "tests": judgement.tests,
        "flaky": judgement.flaky,
        "functions": [
            {"file": each.shown, "name": each.name, "line": each.line, "word": each.word}
            for each in functions_of(sources, judgement.verdicts)
        ],
        "cpu_seconds": round(judgement.cpu_seconds, 3),
    }


def score_json(score: Score, drawn_from: int = 0) -> dict[str, Any]:
    """Return a score as plain values; of a sample, with where that of all mutants lies."""
    return {
        "detected": score.detected,
        "undetected": score.undetected,
        "uncovered": score.uncovered,
        "not_run": score.not_run,
        "asserted": score.asserted,
        "percent": score.percent,
        "range": score.range,
        "covered_percent": score.covered_percent,
        "drawn_from": drawn_from or None,
        "interval": score.interval(drawn_from),
    }


def mutant_json(source: Source, mutant: Mutant) -> dict[str, Any]:
    """Return a mutant as plain values. Lines and columns count from 1, columns in characters."""
    return {
        "id": mutant.id,
        "file": mutant.shown,
        "line": mutant.line,
        "column": _column(source, mutant.start),
        "end_line": source.line_of(mutant.end),
        "end_column": _column(source, mutant.end),
        "name": mutant.name,
        "operator": mutant.operator,
        "original": mutant.original,
        "replacement": mutant.replacement,
        "diff": difference(source, mutant),
    }


def _column(source: Source, offset: int) -> int:
    return len(source.text[source.text.rfind(b"\n", 0, offset) + 1 : offset].decode()) + 1


def _verdict_json(source: Source, verdict: Verdict, judgement: Judgement) -> dict[str, Any]:
    """Return a mutant and its verdict as plain values, with what its judge says besides."""
    shared = {
        **mutant_json(source, verdict.mutant),
        "verdict": verdict.word,
        "killer": verdict.killer,
        "asserted": verdict.asserted,
        "note": verdict.note,
        "doubt": verdict.doubt,
    }
    if not judgement.machines:
        return {**shared, "tests": verdict.tests, "route": verdict.route}
    # An interrupted run has no finding of some.
    finding = judgement.findings.get(verdict.mutant.id) or MachineFinding(verdict.mutant.id, "not run")
    names = ("kills", "difference", "traces", "replays")
    found: dict[str, Any] = msgspec.to_builtins(finding)
    return {**shared, "why_it_survived": finding.why_it_survived, **{name: found[name] for name in names}}
