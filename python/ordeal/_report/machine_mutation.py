"""What machines say of mutants, as text, as JSON, and as tables for the page of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from ordeal._base.formatting import counted, one_line
from ordeal._report.mutation import (
    assertion_text,
    dead_lines,
    difference,
    doubt_text,
    folded,
    score_json,
    score_text,
    verdict_json,
    words_text,
)
from ordeal._report.mutation_rates import rates_json
from ordeal._tools.mutation.machines.evidence import KillTable, table_of
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Score, Verdict, weakest_first

_NAMES_MAX = 6
_WIDTH = 120


def machine_mutation_text(sources: Sequence[Source], judgement: Judgement, *, every: bool = False) -> str:
    """Return the whole report as text, with the first survivor of each line, or all."""
    by_name = {source.shown: source for source in sources}
    open_ones, within = weakest_first(judgement.verdicts, every=every), folded(judgement.verdicts, every=every)
    parts = [_survivor(by_name[each.mutant.shown], each, judgement, within[each.mutant.id]) for each in open_ones]
    parts += _never_reached(judgement.verdicts)
    parts += _not_run(judgement.verdicts)
    parts += dead_lines(judgement.verdicts)
    parts.append(tables_text(judgement))
    parts.append(_summary(judgement))
    return "\n".join(part for part in parts if part)


def _survivor(source: Source, verdict: Verdict, judgement: Judgement, within: int) -> str:
    mutant = verdict.mutant
    head = f"{mutant.shown}:{mutant.line}  {mutant.name or 'module'}  survived  {mutant.operator}  {mutant.id}"
    head += f"  +{within} inside" if within else ""
    diff = "\n".join(f"  {line}" for line in difference(source, mutant).split("\n"))
    described = "".join(f"  {one_line(line)}\n" for line in why_it_survived(mutant, judgement))
    return f"{one_line(head)}\n{diff}\n{described}{doubt_text(verdict)}"


def why_it_survived(mutant: Mutant, judgement: Judgement) -> list[str]:
    """Return why machines did not notice a mutant, in lines; nothing where they did."""
    finding = judgement.findings.get(mutant.id)
    if finding is None or not finding.why_it_survived:
        return []
    if finding.word == "uncovered":
        return ["no trace of a machine runs this"]
    of_all = f", of the {finding.traces} that do" if finding.replays < finding.traces else ""
    ran = f"{counted(finding.replays, 'trace')} ran this{of_all}, and nothing failed"
    returned = ["and what it returns decides no assertion"] if mutant.operator == "return_none" else []
    found = finding.difference
    if found is None:
        return ["no state differs from that of the original", *returned, ran]
    why = (
        f"state differs at step {found.step} of trace {found.trace} ({found.rule}): "
        f"{found.path} {found.mutant}, was {found.original}"
    )
    return [why, f"{ran}; {_readers(found.attribute, judgement)}"]


def _readers(attribute: str, judgement: Judgement) -> str:
    reads = [pair for machine in judgement.machines for pair in machine.reads.items()]
    names = [name for name, attributes in reads if attribute in attributes]
    return f"read by {', '.join(names)}" if names else f"no invariant reads {attribute}"


def _never_reached(verdicts: Sequence[Verdict]) -> list[str]:
    found: dict[tuple[str, str], list[int]] = {}
    for verdict in verdicts:
        if verdict.word == "uncovered":
            found.setdefault((verdict.mutant.shown, verdict.mutant.name), []).append(verdict.mutant.line)
    lines = [
        f"UNCOVERED  {shown}:{_some(_spans(at), ',')}  {name}  no trace runs this ({counted(len(at), 'mutant')})"
        for (shown, name), at in found.items()
    ]
    return ["\n".join(map(one_line, lines)) + "\n"] if lines else []


def _spans(numbers: Sequence[int]) -> list[str]:
    """Return lines as spans: ``3``, ``5-7``."""
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return [f"{first}" if first == last else f"{first}-{last}" for first, last in spans]


def _not_run(verdicts: Sequence[Verdict]) -> list[str]:
    """Return why some mutants have no verdict, and where they are."""
    found: dict[str, dict[str, list[int]]] = {}
    for verdict in verdicts:
        if verdict.word == "not run" and verdict.note:
            found.setdefault(verdict.note, {}).setdefault(verdict.mutant.shown, []).append(verdict.mutant.line)
    lines = []
    for note, files in found.items():
        lines.append(f"NOT RUN  {counted(sum(map(len, files.values())), 'mutant')}: {note}")
        lines += _listed("  ", [f"{shown}:{','.join(_spans(at))}" for shown, at in files.items()])
    return ["\n".join(map(one_line, lines)) + "\n"] if lines else []


def tables_text(judgement: Judgement) -> str:
    """Return the tables of kills, and what kills nothing."""
    table = table_of(judgement.findings.values(), judgement.machines)
    reads = {name: found for machine in judgement.machines for name, found in machine.reads.items()}
    width = max((len(name) for name in table.invariants), default=0)
    lines = [f"{'invariant':<{max(width, 9)}}  kills  only it  reads"]
    if not table.invariants:
        lines = ["no machine has an invariant: only what rules assert or raise notices a mutant"]
    for name, row in sorted(table.invariants.items(), key=lambda each: (-each[1].kills, each[0])):
        lines.append(f"{name:<{max(width, 9)}}  {row.kills:>5}  {row.only_it:>7}  {_some(reads.get(name, ()))}")
    lines += _counts("rule", table.rules)
    lines += _counts("fault", table.faults)
    lines += _counts("rule under a fault", table.rule_faults)
    lines += _counts("property", table.properties)
    lines += _counts("assert", table.asserts)
    unread = [name for machine in judgement.machines for name in machine.unread]
    if unread:
        lines += _listed("not read by any invariant: ", unread)
    for head, names in kills_nothing(table):
        lines += _listed(head, names)
    return "\n".join(map(one_line, lines)) + "\n"


def _listed(head: str, names: Sequence[str]) -> list[str]:
    """Return names behind a head, in as many lines as they need; those behind the first are indented."""
    margin = " " * (len(head) - len(head.lstrip()) + 2)
    lines, text = [], head
    for name in [*(f"{name}, " for name in names[:-1]), *names[-1:]]:
        if len(text) + len(name.rstrip()) > _WIDTH and text.strip() and text != head:
            lines.append(text.rstrip())
            text = margin
        text += name
    return [*lines, text]


def _some(names: Sequence[str], separator: str = ", ") -> str:
    shown = separator.join(names[:_NAMES_MAX])
    return f"{shown} and {len(names) - _NAMES_MAX} more" if len(names) > _NAMES_MAX else shown or "nothing"


def _counts(what: str, counts: dict[str, int]) -> list[str]:
    found = [f"{name} {number}" for name, number in sorted(counts.items(), key=lambda each: (-each[1], each[0]))]
    return _listed(f"kills by {what}: ", found) if found else []


def kills_nothing(table: KillTable) -> list[tuple[str, list[str]]]:
    """Return what had no part in any kill, each kind with its names."""
    silent = [name for name, number in table.faults.items() if not number]
    weak = [name for name, row in table.invariants.items() if not row.kills]
    return [
        *([("faults that had no part in any kill: ", silent)] if silent else []),
        *([("invariants that kill nothing: ", weak)] if weak else []),
    ]


def _summary(judgement: Judgement) -> str:
    kinds = table_of(judgement.findings.values(), judgement.machines).kinds
    by = ", ".join(f"{kind} {kinds[kind]}" for kind in ("assertion", "exception") if kinds.get(kind))
    dead = {each.mutant.id for each in judgement.verdicts if each.word == "dead"}
    why = Counter(finding.why_it_survived for finding in judgement.findings.values() if finding.id not in dead)
    more = {"killed": f" ({by})"} if by else {}
    lines = machine_lines(judgement)
    lines += words_text(judgement.verdicts, judgement.seconds, judgement.left_out, more).splitlines()
    survived = [f"{name} {why[name]}" for name in ("state differs", "nothing differs", "never reached") if why[name]]
    if survived:
        lines.append(f"undetected: {', '.join(survived)}")
    score = Score.of(judgement.verdicts)
    return "\n".join(map(one_line, lines)) + "\n" + assertion_text(score) + score_text(score, judgement.drawn_from)


def machine_lines(judgement: Judgement) -> list[str]:
    """Return a line about each machine and its traces."""
    return [
        f"machine {machine.name}: {counted(machine.traces, 'trace')}, {counted(machine.steps, 'step')}"
        + (f", {machine.left_out} left out, for they do not run the same way twice" if machine.left_out else "")
        + (", cut short by its time: the next time others may be found" if machine.cut_short else "")
        + (f"; not compared, as it differs from run to run: {_some(machine.unsteady)}" if machine.unsteady else "")
        for machine in judgement.machines
    ]


def machine_mutation_json(sources: Sequence[Source], judgement: Judgement) -> dict[str, Any]:
    """Return the report as plain values."""
    by_name = {source.shown: source for source in sources}
    return {
        "schema": "ordeal-machine-mutation-1",
        "score": score_json(Score.of(judgement.verdicts), judgement.drawn_from),
        "left_out": dict(judgement.left_out),
        "rates": rates_json(judgement.verdicts),
        "seconds": round(judgement.seconds, 3),
        "judging_seconds": round(judgement.judging_seconds, 3),
        "judging_cpu_seconds": round(judgement.cpu_seconds, 3),
        "interrupted": judgement.was_interrupted,
        "machines": msgspec.to_builtins(judgement.machines),
        "table": msgspec.to_builtins(table_of(judgement.findings.values(), judgement.machines)),
        "mutants": [_by_machines(by_name[each.mutant.shown], each, judgement) for each in judgement.verdicts],
    }


def _by_machines(source: Source, verdict: Verdict, judgement: Judgement) -> dict[str, Any]:
    finding = judgement.findings.get(verdict.mutant.id)
    found: dict[str, Any] = msgspec.to_builtins(finding) if finding is not None else {}
    return {
        **verdict_json(source, verdict),
        "why_it_survived": finding.why_it_survived if finding is not None else "",
        "kills": found.get("kills", []),
        "difference": found.get("difference"),
        "traces": found.get("traces", 0),
        "replays": found.get("replays", 0),
    }


def machine_tables(judgement: Judgement) -> dict[str, Any]:
    """Return what the page shows: lines about each machine, tables, and remarks below them."""
    table = table_of(judgement.findings.values(), judgement.machines)
    tables = [
        _invariants(judgement, table),
        *_others(table),
        _why(judgement),
    ]
    unread = [name for machine in judgement.machines for name in machine.unread]
    remarks = [
        *([f"Not read by any invariant: {', '.join(unread)}"] if unread else []),
        *(f"{head}{', '.join(names)}" for head, names in kills_nothing(table)),
    ]
    return {
        "machines": [one_line(line) for line in machine_lines(judgement)],
        "tables": [each for each in tables if each["rows"]],
        "remarks": [one_line(line) for line in remarks],
    }


def _invariants(judgement: Judgement, table: KillTable) -> dict[str, Any]:
    reads = {name: found for machine in judgement.machines for name, found in machine.reads.items()}
    rows = [
        (name, row.kills, row.only_it, _some(reads.get(name, ())))
        for name, row in sorted(table.invariants.items(), key=lambda each: (-each[1].kills, each[0]))
    ]
    return _table("Kills by invariant", ("invariant", "kills", "only it", "reads"), rows, words=("reads",))


def _others(table: KillTable) -> list[dict[str, Any]]:
    kinds = {"rule": table.rules, "fault": table.faults, "rule and fault": table.rule_faults}
    kinds |= {"property": table.properties, "assert": table.asserts}
    return [
        _table(f"Kills by {what}", (what, "kills"), sorted(counts.items(), key=lambda each: (-each[1], each[0])))
        for what, counts in kinds.items()
    ]


def _why(judgement: Judgement) -> dict[str, Any]:
    found = Counter(each.why_it_survived for each in judgement.findings.values())
    attributes: dict[str, Counter[str]] = {}
    for each in judgement.findings.values():
        where = [each.difference.attribute] if each.difference is not None else []
        attributes.setdefault(each.why_it_survived, Counter()).update(where)
    rows = [
        (why, found[why], ", ".join(f"{name} {number}" for name, number in attributes[why].most_common(_NAMES_MAX)))
        for why in ("state differs", "nothing differs", "never reached")
        if found[why]
    ]
    return _table("Why they survived", ("what was seen", "mutants", "first in"), rows, words=("first in",))


def _table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], words: Sequence[str] = ()
) -> dict[str, Any]:
    plain = [[one_line(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    return {"title": title, "columns": columns, "rows": plain, "words": words}
