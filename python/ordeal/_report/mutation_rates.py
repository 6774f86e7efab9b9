"""What is counted of mutants: by operator and function, and by what machines noticed; one table for all reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ordeal._base.formatting import aligned, counted, one_line
from ordeal._report.formats.md import cell
from ordeal._tools.mutation.machines.evidence import table_of
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.verdicts import Score, Verdict, rates


@dataclass(frozen=True)
class RateTable:
    """A table whose first column names things. All texts are on one line."""

    title: str
    columns: Sequence[str]
    rows: list[list[Any]]

    @classmethod
    def of(cls, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> RateTable:
        """Return a table of any texts and numbers."""
        return cls(
            title, columns, [[one_line(each) if isinstance(each, str) else each for each in row] for row in rows]
        )

    @property
    def words(self) -> set[str]:
        """The columns of texts; numbers stand to the right."""
        return {
            name for at, name in enumerate(self.columns) if any(isinstance(row[at], str) for row in self.rows) or not at
        }

    def text(self) -> str:
        """Return aligned columns."""
        words = self.words
        numbers = [at for at, name in enumerate(self.columns) if name not in words]
        return "".join(
            f"{each}\n" for each in aligned(([*map(str, row)] for row in (self.columns, *self.rows)), numbers)
        )

    def markdown(self) -> str:
        """Return a title, and a table of Markdown."""
        lines = [f"| {' | '.join(self.columns)} |", f"|---|{'---:|' * (len(self.columns) - 1)}"]
        lines += [f"| {cell(name)} | {' | '.join(map(str, figures))} |" for name, *figures in self.rows]
        return f"### {self.title}\n\n" + "\n".join(lines) + "\n"


def operator_of(verdict: Verdict) -> str:
    """Return the operator of a mutant."""
    return verdict.mutant.operator


def function_of(verdict: Verdict) -> tuple[str, str]:
    """Return the file and the function that a mutant is in."""
    return verdict.mutant.shown, verdict.mutant.name or "module"


def rates_json(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return the detection rates by operator and by function, as plain values."""

    def values(score: Score) -> dict[str, Any]:
        return {name: getattr(score, name) for name in ("detected", "undetected", "uncovered", "not_run", "percent")}

    return {
        "operators": [{"operator": name, **values(score)} for name, score in rates(verdicts, operator_of)],
        "functions": [
            {"file": file, "name": name, **values(score)} for (file, name), score in rates(verdicts, function_of)
        ],
    }


def rate_tables(verdicts: Sequence[Verdict]) -> list[RateTable]:
    """Return tables of the detection rates by operator and by function."""

    def table(what: str, found: Sequence[tuple[str, Score]]) -> RateTable:
        rows = [
            (name, score.judged, score.detected, "-" if score.percent is None else f"{score.percent} %")
            for name, score in found
        ]
        return RateTable.of(f"Noticed by {what}", (what, "mutants", "noticed", "score"), rows)

    by_function = [(" ".join(place), score) for place, score in rates(verdicts, function_of)]
    return [table("operator", rates(verdicts, operator_of)), table("function", by_function)]


# Machines


def machine_lines(judgement: Judgement) -> list[str]:
    """Return a line about each machine and its traces."""
    return [
        one_line(
            f"machine {machine.name}: {counted(machine.traces, 'trace')}, {counted(machine.steps, 'step')}"
            + (f", {machine.left_out} left out, for they do not run the same way twice" if machine.left_out else "")
            + (", cut short by its time: the next time others may be found" if machine.cut_short else "")
            + (
                f"; not compared, as it differs from run to run: {', '.join(machine.unsteady)}"
                if machine.unsteady
                else ""
            )
        )
        for machine in judgement.machines
    ]


def why_it_survived(mutant: Mutant, judgement: Judgement) -> list[str]:
    """Return, in lines, why machines did not notice a mutant; nothing if they did, or if tests judged."""
    finding = judgement.findings.get(mutant.id)
    if finding is None or not finding.why_it_survived:
        return []
    if finding.word == "uncovered":
        return ["no trace of a machine runs this"]
    ran = f"{counted(finding.replays, 'trace')} ran this, and nothing failed"
    if finding.replays < finding.traces:
        ran = f"{finding.replays} of {finding.traces} traces that reach this ran, and nothing failed"
    found = finding.difference
    if found is None:
        returned = ["and what it returns decides no assertion"] if mutant.operator == "return_none" else []
        return ["no state differs from that of the original", *returned, ran]
    reads = [pair for machine in judgement.machines for pair in machine.reads.items()]
    readers = [name for name, attributes in reads if found.attribute in attributes]
    read = f"read by {', '.join(readers)}" if readers else f"no invariant reads {found.attribute}"
    why = (
        f"state differs at step {found.step} of trace {found.trace} ({found.rule}): "
        f"{found.path} {found.mutant}, was {found.original}"
    )
    return [one_line(why), one_line(f"{ran}; {read}")]


def machine_tables(judgement: Judgement) -> list[RateTable]:
    """Return the tables of kills, and of why mutants survived; those that are not empty."""
    table = table_of(judgement.findings.values(), judgement.machines)
    reads = {name: found for machine in judgement.machines for name, found in machine.reads.items()}
    invariants = [
        (name, row.kills, row.only_it, ", ".join(reads.get(name, ())) or "nothing")
        for name, row in sorted(table.invariants.items(), key=lambda each: (-each[1].kills, each[0]))
    ]
    counts = {"rule": table.rules, "fault": table.faults, "rule under a fault": table.rule_faults}
    counts |= {"property": table.properties, "assert": table.asserts}
    why: dict[str, Counter[str]] = {}
    for each in judgement.findings.values():
        if each.why_it_survived:
            where = "" if each.difference is None else each.difference.attribute
            why.setdefault(each.why_it_survived, Counter())[where] += 1
    tables = [
        RateTable.of("Kills by invariant", ("invariant", "kills", "only it", "reads"), invariants),
        *(
            RateTable.of(f"Kills by {what}", (what, "kills"), sorted(found.items(), key=lambda one: (-one[1], one[0])))
            for what, found in counts.items()
        ),
        RateTable.of(
            "Why they survived",
            ("what was seen", "mutants", "first in"),
            [
                (name, found.total(), ", ".join(f"{place} {count}" for place, count in found.most_common() if place))
                for name, found in why.items()
            ],
        ),
    ]
    return [each for each in tables if each.rows]


def machine_remarks(judgement: Judgement) -> list[str]:
    """Return the attributes that no invariant reads, and the invariants and rules without a kill."""
    table = table_of(judgement.findings.values(), judgement.machines)
    listed = {
        "not read by any invariant": [name for machine in judgement.machines for name in machine.unread],
        "faults that had no part in any kill": [name for name, number in table.faults.items() if not number],
        "invariants that kill nothing": [name for name, row in table.invariants.items() if not row.kills],
    }
    remarks = [one_line(f"{what}: {', '.join(names)}", limit=2000) for what, names in listed.items() if names]
    if not table.invariants:
        remarks.insert(0, "no machine has an invariant: only what rules assert or raise notices a mutant")
    return remarks
