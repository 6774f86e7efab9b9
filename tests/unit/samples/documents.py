"""Documents of reports, as an exploration may give them, from a random number generator: hostile texts everywhere."""

from __future__ import annotations

import random
from typing import Any

from ordeal._base.property_tracker import PROPERTY_TYPES, PropertyResult, PropertyTally
from ordeal._base.trace_file import Trace, TraceFailure, TraceStep
from ordeal._report.exploration import json_document
from ordeal.result import (
    Discovery,
    ExplorationResult,
    Failure,
    FaultUse,
    KnownFailure,
    RuleUse,
    SeedOutcome,
    SeedStatus,
    UnderFault,
)
from ordeal.result.parts import CodeLine, FailurePlace, Inconclusive, PlaceKind

#: Texts that break what does not expect them.
HOSTILE = (
    "",
    "plain",
    "two\nlines\r\nand a third",
    "\x00\x01\x08\x0b\x0c\x1b[31mred\x1b[0m\x7f\x85",
    "\ud800 and \udfff",
    "\ufffe\uffff\U0010ffff",
    "]]></failure><script>alert(1)</script>",
    "&lt;&#0;&amp;\"'<>",
    "| a | b |\n|---|---|",
    "```\n# heading\n```` @someone #1 <img src=x onerror=alert(1)>",
    "::error file=a::b%0A::set-output name=x::y",
    "a,b:c%25\\",
    "\u202eright to left\u2066",
    "x" * 100_000,
    "\u200b\xa0\t",
)
KINDS: tuple[PlaceKind, ...] = ("rule", "initialize", "invariant", "teardown", "constructor", "other")


def make_document(seed: int, *, failures_max: int = 4) -> dict[str, Any]:
    """A document that depends on ``seed`` alone."""
    rng = random.Random(seed)
    results = [_result(rng, failures_max) for _ in range(rng.randint(0, 3))]
    return json_document(results, {"seed": seed, "config": _text(rng)}, kept_runs=rng.random() < 0.5)


def _text(rng: random.Random) -> str:
    # A text of a hundred thousand characters is rare, as it costs time in each format.
    texts = HOSTILE if rng.random() < 0.02 else [text for text in HOSTILE if len(text) < 1000]
    return "".join(rng.choice(texts) for _ in range(rng.randint(1, 2)))


def _line(rng: random.Random) -> CodeLine:
    return CodeLine(rng.choice(["shop.py", "a b/ü.py", _text(rng)]), rng.randint(0, 500), _text(rng), _text(rng))


def _failure(rng: random.Random) -> Failure:
    names = [_text(rng) for _ in range(rng.randint(0, 5))]
    place = None
    if rng.random() < 0.7:
        raised_at = _line(rng) if rng.random() < 0.5 else None
        place = FailurePlace(rng.choice(KINDS), _text(rng), _line(rng), raised_at, (_text(rng),))
    faults = [_text(rng) for _ in range(rng.randint(0, 2))]
    return Failure(
        error=rng.choice([ValueError, AssertionError, KeyError])(_text(rng)),
        step=len(names),
        run_id=rng.randint(0, 3),
        active_faults=faults,
        rule_log=names,
        trace=Trace(1, 42, "tests.test_shop:Shop", steps=[TraceStep("rule", name) for name in names]),
        necessary_faults=dict.fromkeys(faults, True) if rng.random() < 0.5 else None,
        bucket=_text(rng),
        broken_by=names[:1],
        count=rng.randint(0, 9),
        flaky=rng.random() < 0.2,
        flaky_reason=rng.choice(["", _text(rng)]),
        trace_path=rng.choice([None, ".ordeal/traces/fail-run-1.json"]),
        seed_path=rng.choice([None, ".ordeal/seeds/seed-1.json", _text(rng)]),
        program=_text(rng),
        place=place,
    )


def _properties(rng: random.Random) -> list[PropertyResult]:
    names = {_text(rng) or "empty" for _ in range(rng.randint(0, 3))}
    tallies = [PropertyTally(name, rng.choice(PROPERTY_TYPES), details=_text(rng)) for name in sorted(names)]
    for tally in tallies:
        tally.count(rng.randint(0, 3), rng.randint(0, 3))
        tally.first_run = rng.choice([None, 7])
    return [PropertyResult.of(tally) for tally in tallies]


def _rules(rng: random.Random) -> list[RuleUse]:
    faults = [None, *(_text(rng) for _ in range(rng.randint(0, 2)))]
    return [
        RuleUse(_text(rng), tuple(UnderFault(fault, 7, rng.randint(0, 7)) for fault in faults))
        for _ in range(rng.randint(0, 3))
    ]


def _result(rng: random.Random, failures_max: int) -> ExplorationResult:
    failures = [_failure(rng) for _ in range(rng.randint(0, failures_max))]
    kept = Trace(5, 42, "a:B", steps=[TraceStep("rule", _text(rng))], program=[_text(rng)])
    failed = Trace(6, 42, "a:B", steps=[], failure=TraceFailure("ValueError", "", 1, "b"))
    gap = {"file": _text(rng), "line": rng.randint(1, 99), "code": _text(rng)}
    return ExplorationResult(
        test_class=rng.choice(["tests.test_shop:Shop", _text(rng)]),
        rng_seed=rng.randint(0, 99),
        total_runs=rng.randint(0, 9999),
        total_steps=rng.randint(0, 99999),
        unique_edges=rng.randint(0, 99),
        checkpoints_saved=3,
        duration_seconds=rng.choice([0.0, 1.5, 12345.678]),
        failures=failures,
        traces=[kept, failed],
        seed_replays=[
            SeedOutcome(_text(rng), _text(rng), status, _text(rng)) for status in SeedStatus if rng.random() < 0.5
        ],
        coverage_gaps=[gap] * rng.randint(0, 30),
        lines_covered=3,
        lines_total=rng.choice([0, 4]),
        missed_lines={"shop.py": [4]},
        covered_lines={"shop.py": [1, 2, 3, 9]},
        rules=_rules(rng),
        faults=[FaultUse(_text(rng), 3, rng.randint(0, 2), 0)] * rng.randint(0, 2),
        properties=_properties(rng),
        discovery=Discovery(what="edges", runs=9, seen=3, next_run=0.1, next_run_max=0.5, total=rng.random() * 9),
        notes=(_text(rng),),
        known=[KnownFailure(_text(rng), _text(rng), "ValueError", _text(rng), 2)],
        inconclusive=Inconclusive(_text(rng), _text(rng)) if rng.random() < 0.2 else None,
    )
