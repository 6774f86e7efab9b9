"""A session's seed is told so that it can be pasted back, whatever the name of the test holds."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from ordeal._report.pytest_lines import (
    SeedRecord,
    property_sections,
    replay_command,
    seed_failure_sections,
    seed_section,
    session_seed_line,
    session_seed_replay,
)
from ordeal.assertions import always, declare, report, sometimes, tracker
from ordeal.trace import Trace, TraceStep


def test_the_seed_is_told_once_with_where_it_is_from() -> None:
    assert session_seed_line(255) == "ordeal seed: 0xff (replay with --ordeal-seed=0xff)"
    assert session_seed_line(0, origin="ORDEAL_SEED") == (
        "ordeal seed: 0x0, from ORDEAL_SEED (replay with --ordeal-seed=0x0)"
    )


@pytest.mark.parametrize(
    "node_id", ["tests/test_a.py::test", 'test_a.py::test[it\'s $HOME `x` "y"]', "a b.py::test[\\n;rm]", "-x.py::test"]
)
def test_a_replay_of_a_session_is_one_command(node_id: str) -> None:
    line = session_seed_replay(node_id, 16, options=["-p", "no:randomly"])
    assert shlex.split(line.removeprefix("replay: ")) == ["pytest", node_id, "--ordeal-seed=0x10", "-p", "no:randomly"]


@pytest.fixture(autouse=True)
def own_properties() -> Iterator[None]:
    """Only what the test itself asserts is known."""
    before = tracker.snapshot()
    tracker.reset()
    with tracker.recording():
        yield
    tracker.restore(before)


def lines(**options: Any) -> list[str]:
    values = {"chaos": True, "fails_run": False, "chaos_seed": None} | options
    ((title, found),) = property_sections(report(), **values)
    assert title == "Ordeal Property Results"
    return found


def test_without_properties_there_is_no_section() -> None:
    assert property_sections(report(), chaos=True, fails_run=False, chaos_seed=7) == []


def test_the_configuration_names_the_seed_and_the_types() -> None:
    sometimes(True, "sold")
    always(True, "never below zero")
    assert lines()[-1] == "  Config: assertion types used: always, sometimes"
    assert lines(chaos_seed=0)[-1] == "  Config: seed=0, assertion types used: always, sometimes"


def test_a_failed_property_says_what_it_does_to_the_run() -> None:
    always(False, "never below zero", mute=True)
    assert lines(fails_run=True)[-2] == "  The tests pass, but not all properties do: the run fails."
    assert lines(chaos=False)[-2] == "  Without --chaos this does not fail the run."
    assert lines()[-2] == "  1/1 properties FAILED"


def test_cells_have_a_section_of_their_own() -> None:
    declare("charged once", "always", operation="refund", fault="timeout")
    sections = property_sections(report(), chaos=True, fails_run=False, chaos_seed=None)
    ((title, found),) = sections
    assert title == "Ordeal Reliability Coverage"
    assert any("refund under timeout" in line for line in found)


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
        ("unreadable", "corrupt     seed-0a — it has no rule 'pay'"),
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
        "outdated: bring back what is gone, and keep a seed that passes: sub/b.json",
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
    assert lines[0].startswith("corrupt     a\\x1b[2J — b\\nc")
    assert len(lines[0]) < 500


def test_below_a_failure_stand_its_steps_and_what_it_was_before() -> None:
    trace = Trace(1, 42, "shop:Till", steps=[TraceStep("rule", "pay")], program=["state = Till()", "state.pay()"])
    assert seed_failure_sections(record("reproduced"), trace) == [
        ("steps", ["from shop import Till", "state = Till()", "state.pay()"]),
        ("replay", ["ordeal replay seeds/seed-0a.json"]),
    ]
    assert seed_failure_sections(record("fails_differently"), trace)[1] == (
        "recorded failure, which was another one",
        ["KeyError: then"],
    )
