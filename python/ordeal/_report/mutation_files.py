"""What mutation testing found, for other programs: JUnit, SARIF, annotations of GitHub, a badge, and a page."""

from __future__ import annotations

import importlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ordeal._native as _native
from ordeal._base.formatting import counted, one_line, printable
from ordeal._report.formats.document import contained, junit_text
from ordeal._report.formats.github import annotation, limited
from ordeal._report.formats.md import BYTES_MAX, cell, fenced
from ordeal._report.formats.sarif import RESULTS_MAX, location, sarif_log
from ordeal._report.html.finding import highlighted
from ordeal._report.html.page import render
from ordeal._report.mutation import difference, score_text
from ordeal._report.mutation_rates import (
    machine_lines,
    machine_remarks,
    machine_tables,
    rate_tables,
    why_it_survived,
)
from ordeal._report.stryker import stryker_json
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import DETECTED, WORDS, Score, Verdict, weakest_first

_GOOD, _FAIR = 80, 60


def mutation_junit(sources: Sequence[Source], judgement: Judgement) -> str:
    """Return JUnit's XML: a suite for each file, with a failing case for each unnoticed mutant."""
    junit = importlib.import_module("junitparser")
    by_name = {source.shown: source for source in sources}
    report = junit.JUnitXml("ordeal mutate")
    for shown, source in by_name.items():
        suite = junit.TestSuite(shown)
        for verdict in judgement.verdicts:
            mutant = verdict.mutant
            if mutant.shown == shown:
                name = one_line(f"{mutant.id} {mutant.line} {mutant.name or 'module'} {mutant.operator}")
                case = junit.TestCase(name, classname=shown, time=0)
                if verdict.word in ("dead", "not run"):
                    case.result = [junit.Skipped(one_line(verdict.note) or verdict.word)]
                elif verdict.word not in DETECTED:
                    failure = junit.Failure(_told(verdict), verdict.word)
                    failure.text = contained(difference(source, mutant))
                    case.result = [failure]
                suite.add_testcase(case)
        suite.update_statistics()
        report.add_testsuite(suite)
    return junit_text(report)


def _told(verdict: Verdict) -> str:
    if verdict.word == "uncovered":
        who = "trace of a machine" if verdict.route == "machine" else "test"
        return f"no {who} runs this: {verdict.mutant.operator}"
    if verdict.route == "machine":
        note = f"; {verdict.note}" if verdict.note else ""
        return one_line(f"{counted(verdict.tests, 'trace')} ran this, nothing failed: {verdict.mutant.operator}{note}")
    nearest = f"; the nearest is {verdict.nearest}" if verdict.nearest else ""
    return one_line(f"{counted(verdict.tests, 'test')} ran this and passed ({verdict.mutant.operator}){nearest}")


def _open(judgement: Judgement) -> list[Verdict]:
    """Return one open verdict for each line: survivors first, then mutants that no test runs."""
    seen: dict[tuple[str, int], Verdict] = {}
    uncovered = [each for each in judgement.verdicts if each.word == "uncovered"]
    for each in [*weakest_first(judgement.verdicts), *uncovered]:
        seen.setdefault((each.mutant.shown, each.mutant.line), each)
    return list(seen.values())


def mutation_sarif(sources: Sequence[Source], judgement: Judgement) -> dict[str, Any]:
    """Return SARIF 2.1.0: a warning for each line with an unnoticed mutant."""
    by_name = {source.shown: source for source in sources}
    shown = _open(judgement)[:RESULTS_MAX]
    rules = sorted({each.mutant.operator for each in shown})
    described = [{"id": each, "shortDescription": {"text": f"No test notices: {each}"}} for each in rules]
    return sarif_log(described, [_sarif_result(by_name[each.mutant.shown], each) for each in shown])


def _sarif_result(source: Source, verdict: Verdict) -> dict[str, Any]:
    mutant = verdict.mutant
    return {
        "ruleId": mutant.operator,
        "level": "warning",
        "message": {"text": f"{_told(verdict)}\n{difference(source, mutant)}"},
        "partialFingerprints": {"ordealMutant/v1": mutant.id},
        "locations": [location(mutant.shown, mutant.line)],
    }


def mutation_annotations(sources: Sequence[Source], judgement: Judgement) -> str:
    """Return annotations for GitHub Actions, one for each line with an unnoticed mutant."""
    by_name = {source.shown: source for source in sources}

    def annotated(verdict: Verdict) -> str:
        mutant = verdict.mutant
        place = {"file": mutant.shown, "line": str(mutant.line), "title": f"ordeal mutate {mutant.id}"}
        return annotation("warning", place, f"{_told(verdict)}\n{difference(by_name[mutant.shown], mutant)}")

    found = _open(judgement)
    lines = limited("warning", "ordeal mutate", found, annotated, "more line")
    return "".join(f"{each}\n" for each in lines)


def mutation_badge(_sources: Sequence[Source], judgement: Judgement) -> dict[str, Any]:
    """Return the JSON from which shields.io makes a badge."""
    score = Score.of(judgement.verdicts)
    percent = score.range[0] if score.judged and score.range else None  # a badge has no room for what was not run
    color = "lightgrey" if percent is None else "green" if percent >= _GOOD else "yellow" if percent >= _FAIR else "red"
    return {
        "schemaVersion": 1,
        "label": "mutation score",
        "message": "none" if percent is None else f"{percent} %",
        "color": color,
    }


def mutation_markdown(sources: Sequence[Source], judgement: Judgement) -> str:
    """Return Markdown for the summary of a job or a comment: the score, rates and unnoticed mutants."""
    by_name = {source.shown: source for source in sources}
    counts = Counter(each.word for each in judgement.verdicts)
    words = ", ".join(f"{word} {counts[word]}" for word in WORDS if counts[word])
    parts = [f"## ordeal mutate: {score_text(Score.of(judgement.verdicts)).strip()}\n"]
    parts += [f"{counted(len(judgement.verdicts), 'mutant')}: {words}\n"] if words else []
    parts += [each.markdown() for each in rate_tables(judgement.verdicts) if each.rows]
    found = _open(judgement)
    size = len("".join(parts).encode())
    for number, each in enumerate(found):
        mutant = each.mutant
        head = f"{mutant.shown}:{mutant.line} {mutant.name or 'module'}, {each.word}"
        block = (
            f"### {cell(head)}\n\n{fenced(difference(by_name[mutant.shown], mutant), 'diff')}\n{cell(_told(each))}\n"
        )
        size += len(block.encode("utf-8", "backslashreplace")) + 1
        if size > BYTES_MAX:
            left = counted(len(found) - number, "more line")
            parts.append(f"{left} where nothing notices a change: see the other reports\n")
            break
        parts.append(block)
    return "\n".join(parts)


def mutation_page(sources: Sequence[Source], judgement: Judgement) -> str:
    """Return a self-contained page: the whole source, with what nothing noticed below the line that it changes.

    Where machines judged, it has their tables.
    """
    score, counts = Score.of(judgement.verdicts), Counter(each.word for each in judgement.verdicts)
    bars = {"survived": counts["survived"], "uncovered": score.uncovered, "noticed": score.detected}
    percent = "nothing was judged" if score.percent is None else f"{score.percent} % of {score.judged} were noticed"
    verdict = f"{counted(counts['survived'], 'mutant')} survived"
    made = [_file(source, judgement) for source in sources]
    files = sorted(made, key=lambda file: (-file["survived"], not file["is_open"]))
    found = [each for file in files for part in file["parts"] for each in part["open"]]
    for before, each, after in zip([None, *found], found, [*found[1:], None], strict=False):
        each |= {"before": before["id"] if before else "", "next": after["id"] if after else ""}
    values = {
        "version": _native.__version__,
        "title": f"{verdict} - ordeal mutate",
        "verdict": verdict,
        "score": percent,
        "total": score.judged,
        "bars": [{"word": word, "count": count} for word, count in bars.items() if count],
        "figures": [
            *((word, counts[word]) for word in WORDS if counts[word] and word not in bars),
            *((kind, number) for kind, number in judgement.left_out.items() if number),
        ],
        "files": files,
        "rates": rate_tables(judgement.verdicts) if judgement.verdicts else [],
        "machines": machine_lines(judgement),
        "tables": machine_tables(judgement),
        "remarks": machine_remarks(judgement) if judgement.machines else [],
    }
    return render("mutation.html", values)


def _file(source: Source, judgement: Judgement) -> dict[str, Any]:
    verdicts = [each for each in judgement.verdicts if each.mutant.shown == source.shown]
    score = Score.of(verdicts)
    found: dict[int, list[Verdict]] = {}
    for each in sorted(verdicts, key=lambda each: each.word != "survived"):
        if each.word in ("survived", "uncovered"):
            found.setdefault(source.line_of(each.mutant.end), []).append(each)
    return {
        "name": one_line(source.shown),
        "score": "no score" if score.percent is None else f"{score.percent} %",
        "noticed": f"{score.detected}/{score.judged}",
        "not_run": sorted(Counter(one_line(each.note) for each in verdicts if each.word == "not run").items()),
        "is_open": bool(found),
        "survived": sum(each.word == "survived" for each in verdicts),
        "parts": list(_parts(source, verdicts, found, judgement)),
    }


#: Lines of source that are shown before and after what nothing noticed; the others are folded.
_CONTEXT = 5


def _parts(
    source: Source, verdicts: Sequence[Verdict], found: dict[int, list[Verdict]], judgement: Judgement
) -> Iterator[dict[str, Any]]:
    """Yield the source in parts that end where something was not noticed."""
    markup = importlib.import_module("markupsafe").Markup
    lines = str(highlighted(printable(source.text.decode()).rstrip("\n"), first=1)).split("\n")
    noticed = Counter(each.mutant.line for each in verdicts if each.word in DETECTED)
    survived = {each.mutant.line for each in verdicts if each.word == "survived"}

    def part(first: int, last: int, *, folded: bool) -> dict[str, Any]:
        rows = []
        for number in range(first, last + 1):
            line = f'<span class="hit">{lines[number - 1]}</span>' if number in survived else lines[number - 1]
            rows.append(f"{line}<i>  # {noticed[number]} noticed</i>" if noticed[number] else line)
        text = f"Lines {first} to {last}, {sum(noticed[each] for each in range(first, last + 1))} noticed"
        shown = [_open_values(source, each, judgement) for each in found.get(last, ())]
        return {"code": markup("\n".join(rows)), "folded": text if folded else "", "open": shown}

    near = {other for line in found for other in range(line - _CONTEXT, line + _CONTEXT + 1)}
    for folded, run in itertools.groupby(range(1, len(lines) + 1), key=lambda line: line not in near):
        numbers = list(run)
        first = numbers[0]
        for last in [*(line for line in numbers[:-1] if line in found), numbers[-1]]:
            yield part(first, last, folded=folded)
            first = last + 1


def _open_values(source: Source, verdict: Verdict, judgement: Judgement) -> dict[str, Any]:
    changed = [row[2:].strip() for row in difference(source, verdict.mutant).split("\n") if row.startswith("+")]
    return {
        "id": verdict.mutant.id,
        "word": verdict.word,
        "becomes": " ".join(changed) or f"without this: {verdict.mutant.operator}",
        "told": [_told(verdict)] if verdict.route != "machine" else [],
        "doubt": f"DEAD? {verdict.doubt}" if verdict.doubt else "",
        "why": why_it_survived(verdict.mutant, judgement),
    }


#: The formats, each with the name of its file and what makes it.
FORMATS: dict[str, tuple[str, Callable[[Sequence[Source], Judgement], Any]]] = {
    "html": ("mutation.html", mutation_page),
    "md": ("mutation.md", mutation_markdown),
    "junit": ("junit.xml", mutation_junit),
    "sarif": ("mutation.sarif", mutation_sarif),
    "github": ("annotations.txt", mutation_annotations),
    "badge": ("badge.json", mutation_badge),
    "json": ("mutation.json", stryker_json),
}
