"""The line that shows how far a judge is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict
from ordeal.cli.mutation.progress import MutationProgress

MUTANTS = mutants_of(Source(Path("a.py"), "a.py", b"x = 1\ny = 2\n"), ["boundary"])


def test_the_line_has_the_words_the_speed_and_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    progress = MutationProgress(len(MUTANTS))
    progress.take(Verdict(MUTANTS[0], "killed"))
    progress.take(Verdict(MUTANTS[1], "survived"))
    assert progress.line(2.0, 100) == "[##########----------]  2/4  killed 1  survived 1  1/s  0:02 left"
    assert progress.line(2.0, 26) == "[##########----------]  2/"
    progress.close()
    assert capsys.readouterr().err == "  1/4  survived 0\n  2/4  survived 1\n"


def test_how_far_the_tests_are_is_told_from_time_to_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 10.0
    monkeypatch.setattr("ordeal.cli.mutation.progress.monotonic", lambda: now)
    progress = MutationProgress(4)
    for now in (11.0, 13.5, 14.0, 17.0):
        progress.begin(f"{now:.0f} tests collected so far")
    assert capsys.readouterr().err == "  14 tests collected so far\n  17 tests collected so far\n"
