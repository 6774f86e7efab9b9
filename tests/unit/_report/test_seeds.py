"""Seeds as text and as JSON: a listing of a corpus, and what an exploration says of those of its class."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ordeal._engine.seed_corpus.corpus import SeedReplay
from ordeal._report.seeds import (
    seed_details,
    seed_line,
    seeds_header,
    seeds_json,
    seeds_pruned,
    seeds_saved,
    seeds_summary,
)
from ordeal.result import SeedStatus
from ordeal.trace import Trace, TraceFailure, TraceStep

FOLDER = Path("seeds")
PATH = FOLDER / "shop.Till" / "seed-0123456789ab.json"
TRACE = Trace(
    1,
    42,
    "shop:Till",
    steps=[TraceStep("rule", "pay")],
    failure=TraceFailure("KeyError", "'till'", 1),
    program=["state = Till()", "state.pay()"],
)
FILE = "seed-0123456789ab.json"


def replay(status: SeedStatus, **changes: Any) -> SeedReplay:
    return SeedReplay(PATH, status, **{"trace": TRACE, **changes})


def test_the_header_says_how_many_and_where() -> None:
    assert seeds_header(2, FOLDER, exists=True) == "Seed corpus: 2 seed(s) in seeds/\n"
    assert seeds_header(0, FOLDER, exists=True) == "Seed corpus is empty."
    assert seeds_header(0, FOLDER, exists=False) == (
        "No seed corpus found.\n\n"
        "hint: `ordeal explore` saves the failures that it finds in seeds/; name another folder with `--dir`"
    )


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (replay(SeedStatus.FIXED), f"  fixed       {FILE}  shop:Till (1 step)"),
        (
            replay(SeedStatus.REPRODUCED, error=KeyError("till")),
            f"  REGRESSION  {FILE}  shop:Till (1 step) — KeyError: 'till'",
        ),
        (
            replay(SeedStatus.FAILS_DIFFERENTLY, error=OSError("gone")),
            f"  DIFFERENT   {FILE}  shop:Till (1 step) — fails differently: OSError: gone; recorded: KeyError: 'till'",
        ),
        (
            replay(
                SeedStatus.NO_LONGER_APPLIES,
                reason="the trace no longer applies to shop:Till: it has no rule 'pay'",
            ),
            f"  outdated    {FILE}  shop:Till (1 step) — no longer applies: it has no rule 'pay'",
        ),
        (
            replay(SeedStatus.UNREADABLE, trace=None, reason="no JSON\n\x1b[2J"),
            f"  corrupt     {FILE} — no JSON\\n\\x1b[2J",
        ),
    ],
)
def test_each_seed_has_a_line(found: SeedReplay, line: str) -> None:
    assert seed_line(found) == line


def test_details_are_the_program_and_the_traceback() -> None:
    blanks = " " * 14
    assert seed_details(replay(SeedStatus.REPRODUCED), "Traceback:\n  x\x07\n") == (
        f"{blanks}from shop import Till\n{blanks}state = Till()\n{blanks}state.pay()\n\n"
        f"{blanks}Traceback:\n{blanks}  x\\x07\n"
    )
    assert seed_details(replay(SeedStatus.UNREADABLE, trace=None), "") == ""


@pytest.mark.parametrize(
    ("number", "failing", "pruned", "text"),
    [
        (3, 0, 0, "\nNo seed fails."),
        (1, 1, 0, "\n1 of 1 seed still fails."),
        (3, 2, 0, "\n2 of 3 seeds still fail."),
        (3, 0, 2, "\nPruned 2 fixed seed(s).\nNo seed fails."),
    ],
)
def test_the_summary(number: int, failing: int, pruned: int, text: str) -> None:
    assert seeds_summary(number, failing, pruned) == text


def test_json_of_a_listing() -> None:
    replays = [
        replay(SeedStatus.REPRODUCED, error=KeyError("x" * 2000)),
        replay(SeedStatus.UNREADABLE, trace=None, reason="no JSON"),
    ]
    found = json.loads(seeds_json(replays, FOLDER, [PATH]))
    assert {name: found[name] for name in ("schema_version", "tool", "corpus_dir")} == {
        "schema_version": 1,
        "tool": "seeds",
        "corpus_dir": "seeds",
    }
    first, second = found["seeds"]
    assert len(first.pop("error_message")) == 500
    assert first == {
        "name": "seed-0123456789ab",
        "path": PATH.as_posix(),
        "status": "reproduced",
        "test_class": "shop:Till",
        "trace_steps": 1,
        "recorded_error": "KeyError: 'till'",
        "error_type": "KeyError",
        "reason": "",
        "pruned": True,
    }
    assert [second[name] for name in ("status", "test_class", "trace_steps", "error_type", "reason")] == [
        "unreadable",
        None,
        None,
        None,
        "no JSON",
    ]


def test_what_was_done_with_seeds() -> None:
    assert seeds_pruned(2) == "  Pruned 2 fixed seed(s)."
    assert seeds_saved(1, 0, "my\nseeds") == "  Seeds saved: 1 in my\\nseeds/, replayed by the next run"
