"""The section of a pytest summary on saved seeds: what needs a person first, and commands that can be pasted."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

import pytest

from ordeal._report.pytest_lines import SeedRecord, replay_command, seed_failure_sections, seed_section
from ordeal.trace import Trace, TraceStep

RECORD = SeedRecord(
    name="seed-0a",
    path="seeds/seed-0a.json",
    start="",
    status="fixed",
    test_class="shop:Till",
    error="ValueError: now",
    recorded="KeyError: then",
    reason="it has no rule 'pay'",
)


def section(*records: SeedRecord, verbose: bool = False, folders: dict[str, str] | None = None) -> list[str]:
    return [line.strip() for line in seed_section(records, verbose=verbose, folders=folders or {})]


def record(status: str, **changes: Any) -> SeedRecord:
    return replace(RECORD, status=status, **changes)


@pytest.mark.parametrize(
    ("status", "line"),
    [
        ("reproduced", "REGRESSION  seed-0a: shop:Till — ValueError: now"),
        ("fails_differently", "DIFFERENT   seed-0a: shop:Till — ValueError: now; recorded: KeyError: then"),
        ("no_longer_applies", "outdated    seed-0a: shop:Till — no longer applies: it has no rule 'pay'"),
        ("unreadable", "corrupt     seed-0a: it has no rule 'pay'"),
        ("fixed", "fixed       seed-0a: shop:Till — no longer reproduces"),
    ],
)
def test_each_seed_has_a_line(status: str, line: str) -> None:
    assert section(record(status))[0] == line


def test_what_needs_a_person_comes_first_with_the_command_that_shows_it() -> None:
    lines = section(record("fixed"), record("fails_differently", path="b.json"), record("reproduced", path="a.json"))
    assert [line.split()[0] for line in lines[:3]] == ["REGRESSION", "DIFFERENT", "fixed"]
    assert lines[4:] == [
        "1 regression(s) still reproduce, 1 seed fails differently now",
        "replay: ordeal replay b.json",
    ]


def test_ten_of_a_kind_are_shown_unless_asked_for_more() -> None:
    records = [record("fixed", name=f"seed-{number:02}") for number in range(12)]
    lines = section(*records)
    assert len(lines[: lines.index("")]) == 11
    assert lines[10] == "... and 2 more"
    assert len(section(*records, verbose=True)[: -len(lines[11:])]) == 12


@pytest.mark.parametrize(
    ("fixed", "start", "folder", "verdict"),
    [
        (1, "", "", "1 seed fixed; ordeal seeds --prune-fixed removes it"),
        (2, "", "", "2 seeds fixed; ordeal seeds --prune-fixed removes them"),
        (1, "sub", "my seeds", "1 seed fixed; cd sub && ordeal seeds --prune-fixed --dir 'my seeds' removes it"),
    ],
)
def test_where_all_are_fixed_they_can_go(fixed: int, start: str, folder: str, verdict: str) -> None:
    assert section(*[record("fixed", start=start)] * fixed, folders={start: folder})[-1] == verdict


def test_seeds_of_several_projects_say_where_they_are() -> None:
    lines = section(record("fixed"), record("fixed", start="sub"))
    assert lines[:2] == [
        "fixed       seed-0a: shop:Till in . — no longer reproduces",
        "fixed       seed-0a: shop:Till in sub — no longer reproduces",
    ]
    assert lines[-1] == (
        "2 seeds fixed; ordeal seeds --prune-fixed and cd sub && ordeal seeds --prune-fixed remove them"
    )


def test_seeds_that_say_nothing_come_with_advice() -> None:
    lines = section(record("unreadable", path="a.json"), record("no_longer_applies", path="b.json", start="sub"))
    assert lines[-3:] == [
        "2 seeds say nothing about the code",
        "outdated: bring back what is gone, or delete the file: sub/b.json",
        "corrupt: take the file from version control again, or delete it: a.json",
    ]
    assert "1 seed fixed, 1 says nothing about the code" in section(record("fixed"), record("unreadable"))
    assert section(record("unreadable"), record("unreadable"))[-1].endswith("seeds/seed-0a.json and 1 more")


@pytest.mark.parametrize(
    ("path", "start", "words"),
    [
        ("a.json", "", ["ordeal", "replay", "a.json"]),
        ("-a.json", "", ["ordeal", "replay", "./-a.json"]),
        ("it's a.json", "my sub", ["cd", "my sub", "&&", "ordeal", "replay", "it's a.json"]),
    ],
)
def test_a_replay_is_one_command_for_the_shell(path: str, start: str, words: list[str]) -> None:
    assert shlex.split(replay_command(record("reproduced", path=path, start=start))) == words


def test_nothing_in_a_seed_breaks_a_line() -> None:
    lines = section(record("unreadable", name="a\x1b[2J", reason="b\nc" * 1000))
    assert lines[0].startswith("corrupt     a\\x1b[2J: b\\nc")
    assert len(lines[0]) < 500


def test_below_a_failure_stand_its_steps_and_what_it_was_before() -> None:
    trace = Trace(1, 42, "shop:Till", steps=[TraceStep("rule", "pay")], program=["state = Till()", "state.pay()"])
    assert seed_failure_sections(record("reproduced"), trace) == [
        ("steps", ["state = Till()", "state.pay()"]),
        ("replay", ["ordeal replay seeds/seed-0a.json"]),
    ]
    assert seed_failure_sections(record("fails_differently"), trace)[1] == (
        "recorded failure, which was another one",
        ["KeyError: then"],
    )
