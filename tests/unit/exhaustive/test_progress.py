"""An exhaustive test tells pytest how many cases it ran: live on a terminal only, and in the report in any case."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from ordeal.exhaustive.text import PERIOD, PROPERTY, CaseProgress


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
