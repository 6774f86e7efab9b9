"""The tables of machines as judges, for the page of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ordeal._base.formatting import one_line
from ordeal._report.machine_mutation import kills_nothing, machine_lines
from ordeal._tools.mutation.machines.evidence import KillTable
from ordeal._tools.mutation.machines.running import MachineJudgement

_NAMES_MAX = 12


def machine_tables(judgement: MachineJudgement) -> dict[str, Any]:
    """Return what the page shows: lines about each machine, tables, and remarks below them."""
    table = judgement.table
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


def _invariants(judgement: MachineJudgement, table: KillTable) -> dict[str, Any]:
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


def _why(judgement: MachineJudgement) -> dict[str, Any]:
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


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMES_MAX} more" if len(names) > _NAMES_MAX else ""
    return f"{', '.join(names[:_NAMES_MAX])}{more}" or "nothing"
