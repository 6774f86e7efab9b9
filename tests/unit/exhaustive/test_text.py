"""What an exhaustive test says: counts that can be read, and notes that can be pasted back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from ordeal.exhaustive.text import (
    PERIOD,
    PROPERTY,
    CaseProgress,
    case_count,
    case_progress,
    failing_case,
    scope_incomplete,
    scope_statement,
    show_in_place,
)


def test_counts_are_of_how_many_where_that_is_known() -> None:
    assert case_count(1234, 1234) == "1,234/1,234 cases"
    assert case_count(1234, None) == "1,234 cases"
    assert case_progress(4096, 0.126) == "4,096 cases, about 13%"


@pytest.mark.parametrize(("text", "before"), [("ab", "longer"), ("longer", "ab"), ("", "gone"), ("", "")])
def test_a_line_covers_the_one_before_and_leaves_the_cursor_where_it_was(
    text: str, before: str, capsys: pytest.CaptureFixture[str]
) -> None:
    show_in_place(text, instead_of=before)
    shown = capsys.readouterr().out
    width = max(len(text), len(before))
    assert shown == text + " " * (width - len(text)) + "\b" * width


def test_a_case_is_replayed_by_what_ran_it() -> None:
    assert failing_case((0, 2), in_test=True) == "choices [0, 2]; replay with @ordeal.exhaustive.test(path=[0, 2])"
    assert failing_case([], in_test=False) == "choices []; replay with Gen.replay([])"


def test_a_scope_says_what_it_left_out() -> None:
    assert scope_statement(1500, 1, faults=False, cut=[]) == "All 1,500 rule sequences of up to 1 step were run."
    assert scope_statement(2, 3, faults=True, cut=["add.x"]) == (
        "All 2 rule sequences of up to 3 steps, faults switched among them, were run, "
        "with only the simplest values of add.x."
    )


def test_a_scope_that_ended_early_claims_nothing() -> None:
    assert scope_incomplete(1000, 2).startswith("INCOMPLETE: 1,000 rule sequences of up to 2 steps were run")


class Capture:
    """Pytest's capturing, which is to be off while the live line is written."""

    is_off = False

    @contextmanager
    def global_and_fixture_disabled(self) -> Iterator[None]:
        self.is_off = True
        yield
        self.is_off = False


class Request:
    """What pytest hands to a test of itself."""

    def __init__(self, *, isatty: bool, capture: Capture | None = None) -> None:
        plugins = {"terminalreporter": SimpleNamespace(isatty=isatty), "capturemanager": capture}
        self.config = SimpleNamespace(pluginmanager=SimpleNamespace(get_plugin=plugins.get))
        self.sections: list[tuple[str, str, str]] = []
        self.user_properties: list[tuple[str, str]] = []
        self.node = SimpleNamespace(
            user_properties=self.user_properties,
            add_report_section=lambda *section: self.sections.append(section),
        )


def run(progress: CaseProgress, cases: int) -> None:
    for done in range(1, cases + 1):
        progress.tick(done, done / 10_000)


def test_a_live_line_comes_after_each_period_and_is_wiped_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    progress = CaseProgress(Request(isatty=True))
    run(progress, PERIOD - 1)
    assert capsys.readouterr().out == ""
    run(progress, PERIOD + 1)
    shown = capsys.readouterr().out
    assert shown.count("cases") == 2
    progress.end(2 * PERIOD, 2 * PERIOD)
    assert capsys.readouterr().out.strip(" \b") == ""


def test_nobody_who_looks_means_no_live_line(capsys: pytest.CaptureFixture[str]) -> None:
    for request in (Request(isatty=False), None):
        progress = CaseProgress(request)
        run(progress, 2 * PERIOD)
        progress.end(2 * PERIOD, None)
    assert capsys.readouterr().out == ""


def test_the_report_has_the_count_whoever_looks() -> None:
    request = Request(isatty=False)
    CaseProgress(request).end(5, None)
    CaseProgress(request).end(7, 7)
    assert request.user_properties == [(PROPERTY, "5 cases"), (PROPERTY, "7/7 cases")]
    assert request.sections == [("call", "exhaustive", "5 cases"), ("call", "exhaustive", "7/7 cases")]


def test_capturing_is_off_while_the_line_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = Capture()
    seen: list[bool] = []
    monkeypatch.setattr("ordeal.exhaustive.text.show_in_place", lambda text, *, instead_of: seen.append(capture.is_off))
    run(CaseProgress(Request(isatty=True, capture=capture)), PERIOD)
    assert seen == [True]
    assert not capture.is_off


def test_without_pytests_terminal_nothing_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    request: Any = Request(isatty=True)
    request.config.pluginmanager.get_plugin = lambda name: None
    run(CaseProgress(request), PERIOD)
    assert capsys.readouterr().out == ""
