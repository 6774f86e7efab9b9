"""The page as a file: written whole, with the recordings of the failures that have a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ordeal._base.limits import LISTED_MAX
from ordeal._base.trace_file import Trace, TraceFailure
from ordeal._engine.runs.writer import RunWriter
from ordeal._engine.trace_view.view import TraceView
from ordeal._report.formats import html
from ordeal._report.formats.html import record_views, write

from ..html.test_page import CLASS, document, failure, result


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """The traces that are recorded, by their runs, and whether with likelihoods. None of them runs."""
    calls: list[tuple[int, bool]] = []

    def record(trace: Trace, *, likelihood: bool) -> TraceView:
        calls.append((trace.run_id, likelihood))
        return TraceView(reason=f"it is run {trace.run_id}")

    monkeypatch.setattr(html, "record_view", record)
    return calls


def saved(folder: Path, number: int) -> dict[str, Any]:
    path = folder / f"fail-run-{number}.json"
    Trace(number, 42, CLASS, failure=TraceFailure("E", "m", 1, "b")).save(path)
    return failure("text", id=str(number), trace_path=str(path))


def test_it_is_written_with_what_was_recorded(tmp_path: Path, asked: list[tuple[int, bool]]) -> None:
    path = write(document(result(saved(tmp_path, 7))), tmp_path / "new")
    assert path == tmp_path / "new/report.html"
    assert "it is run 7" in path.read_text("utf-8")
    assert asked == [(7, True)]


def test_some_failures_are_recorded_and_fewer_with_likelihoods(tmp_path: Path, asked: list[tuple[int, bool]]) -> None:
    failures = [saved(tmp_path, number) for number in range(1, 31)]
    record_views(document(result(*failures[:15]), result(*failures[15:])))
    assert len(asked) == LISTED_MAX
    assert sum(likelihood for _, likelihood in asked) == LISTED_MAX // 2


def test_a_trace_that_is_gone_or_damaged_has_a_reason(tmp_path: Path, asked: list[tuple[int, bool]]) -> None:
    (tmp_path / "damaged.json").write_text("{")
    views = record_views(
        document(
            result(
                failure(id="1", trace_path=str(tmp_path / "gone.json")),
                failure(id="2", trace_path=str(tmp_path / "damaged.json")),
                failure(id="3"),
            )
        )
    )
    assert sorted(views) == ["1", "2"]
    assert all(view.reason for view in views.values())
    assert not asked


def test_the_latest_run_shows_the_coverage_if_it_is_of_the_same_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "2.0.1" not in write(document(result()), tmp_path).read_text("utf-8")
    writer = RunWriter()
    writer.begun("2.0.1", [CLASS], {})
    writer.close()
    assert "2.0.1" in write(document(result()), tmp_path).read_text("utf-8")
    other = result(test_class="another:Machine")
    assert "2.0.1" not in write(document(other), tmp_path).read_text("utf-8")


def test_lone_surrogates_are_no_obstacle(tmp_path: Path) -> None:
    assert "\\ud800" in write(document(result(failure("\ud800"))), tmp_path).read_text("utf-8")
