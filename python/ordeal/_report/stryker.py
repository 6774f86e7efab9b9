"""What mutation testing found as JSON of the schema that the tools of Stryker read, version 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordeal._tools.mutation.machines.evidence import MachineFinding
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict

_SCHEMA = "https://git.io/mutation-testing-schema"
_STATUS = {
    "killed": "Killed",
    "timeout": "Timeout",
    "memory": "RuntimeError",
    "crash": "RuntimeError",
    "survived": "Survived",
    "uncovered": "NoCoverage",
    "dead": "Ignored",
    "not run": "Ignored",
}


def stryker_json(sources: Sequence[Source], judgement: Judgement) -> dict[str, Any]:
    """Return the report; what the schema has no field for stands below ``ordeal`` of each mutant.

    Where machines judged, it has what noticed a mutant, such as ``invariant:NAME``, and why others survived: how far
    what they change came, and the first state that differs.

    The schema knows no mutant that memory or a crash detected: its status is RuntimeError, which the schema leaves out
    of the score, and ``statusReason`` says why.
    """
    findings = judgement.findings
    killers = {name for each in judgement.verdicts for name in _noticed(each, findings.get(each.mutant.id))}
    names = sorted(killers.union(judgement.names))
    numbers = {name: str(number) for number, name in enumerate(names)}
    by_file: dict[str, list[Verdict]] = {source.shown: [] for source in sources}
    for verdict in judgement.verdicts:
        by_file[verdict.mutant.shown].append(verdict)
    return {
        "$schema": _SCHEMA,
        "schemaVersion": "2",
        "framework": {"name": "ordeal"},
        "thresholds": {"high": 80, "low": 60},
        "files": {
            source.shown: {
                "language": "python",
                "source": source.text.decode(),
                "mutants": [
                    _mutant(source, each, numbers, findings.get(each.mutant.id)) for each in by_file[source.shown]
                ],
            }
            for source in sources
        },
        "testFiles": {"": {"tests": [{"id": numbers[name], "name": name} for name in names]}},
    }


def _noticed(verdict: Verdict, finding: MachineFinding | None) -> list[str]:
    """Return what noticed a mutant: a test, or what failed in machines."""
    tests = [verdict.killer] if verdict.killer else []
    kills = finding.kills if finding is not None else ()
    failed = [name for kill in kills for name in [f"invariant:{each}" for each in kill.invariants] or [kill.by]]
    return list(dict.fromkeys([*tests, *failed]))


def _mutant(
    source: Source, verdict: Verdict, numbers: dict[str, str], finding: MachineFinding | None
) -> dict[str, Any]:
    mutant = verdict.mutant
    found: dict[str, Any] = {
        "id": mutant.id,
        "mutatorName": mutant.operator,
        "replacement": mutant.replacement,
        "location": {"start": _place(source, mutant.start), "end": _place(source, mutant.end)},
        "status": _STATUS[verdict.word],
        "static": verdict.route == "import",
        "coveredBy": [numbers[name] for name in verdict.covering],
        "ordeal": {"verdict": verdict.word, "route": verdict.route},
    }
    if noticed := _noticed(verdict, finding):
        found["killedBy"] = [numbers[name] for name in noticed]
    if finding is not None:
        first = finding.difference
        reached = "never reached" if finding.word == "uncovered" else "revealed" if finding.kills else ""
        difference = None
        if first is not None:
            names = ("trace", "step", "path", "original", "mutant")
            difference = {name: getattr(first, name) for name in names}
        traces = {"covering": finding.traces, "replayed": finding.replays}
        found["ordeal"] |= {
            "ripr": reached or finding.why_it_survived,
            "first_difference": difference,
            "traces": traces,
        }
    if verdict.tests:
        found["testsCompleted"] = verdict.tests
    if verdict.note or verdict.word in ("memory", "crash"):
        found["statusReason"] = verdict.note or verdict.word
    return found


def _place(source: Source, offset: int) -> dict[str, int]:
    """Return a place as line and column, both from 1; columns count characters as JavaScript does, in UTF-16."""
    begin = source.text.rfind(b"\n", 0, offset) + 1
    before = source.text[begin:offset].decode()
    return {"line": source.line_of(offset), "column": len(before.encode("utf-16-le")) // 2 + 1}
