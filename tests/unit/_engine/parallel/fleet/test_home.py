"""Failures come home from a store as seeds, and what does not fit is refused."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from ordeal._base.trace_file import Trace, TraceFailure, TraceStep
from ordeal._engine.parallel.fleet.board import when_back
from ordeal._engine.parallel.fleet.home import brought_home, read_failures
from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal.errors import StoreError
from ordeal.store import Entry, FailureReport, Outgoing, open_store


def test_each_failure_is_a_seed_and_others_are_refused(tmp_path: Path) -> None:
    url = f"dir://{tmp_path}/store"
    texts = []
    for test_class in ("m:A", "os:B"):
        trace = Trace(7, 42, test_class, steps=[TraceStep("rule", "go")])
        trace.failure = TraceFailure("ValueError", "bad", 1, "b")
        texts.append(trace.to_json())
    reports = [FailureReport(f"bucket {n}", text, 1, 1) for n, text in enumerate([*texts, b"{}", b""])]
    with open_store(url, "names") as store:
        store.sync(Outgoing(entries=(Entry(b"tape", (3, 4)),), failures=tuple(reports)))
    wrong, edges = brought_home(url, "names", "m:A", SeedCorpus(tmp_path / "seeds"))
    assert [Trace.load(path).test_class for path in (tmp_path / "seeds").rglob("seed-*.json")] == ["m:A"]
    assert (len(wrong), edges) == (2, 2)


def test_a_store_that_comes_back_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[StoreError | int] = [StoreError("away"), 7]
    monkeypatch.setattr("time.sleep", lambda _seconds: None)

    def ask() -> int:
        answer = answers.pop(0)
        if isinstance(answer, StoreError):
            raise answer
        return answer

    assert when_back(ask, 30.0) == 7
    answers.append(StoreError("away for good"))
    with pytest.raises(StoreError, match="for good"):
        when_back(ask, 0.0)


def test_failures_of_all_versions_are_read_and_nothing_is_written(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    for number, namespace in enumerate(["old code", "new code"]):
        trace = Trace(7, 42, "m:A", steps=[TraceStep("rule", f"go{number}")])
        trace.failure = TraceFailure("ValueError", "bad", 1, "b")
        with open_store(f"dir://{shared}", namespace) as store:
            store.sync(Outgoing(failures=(FailureReport("bucket", trace.to_json(), 1, 1),)))
    before = {path: path.stat().st_mtime_ns for path in shared.rglob("*")}
    # Relative to the project.
    saved, _ = read_failures("dir://shared", ["m:A"], tmp_path / "seeds", project=tmp_path, seconds=30)
    assert {Trace.load(path).steps[0].name for path in saved} == {"go0", "go1"}
    assert {path: path.stat().st_mtime_ns for path in shared.rglob("*")} == before


def test_a_server_that_hangs_is_left_in_time_and_its_password_is_not_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"redis://:hush@127.0.0.1:{server.getsockname()[1]}/0"
        with pytest.raises(StoreError, match="did not answer within") as caught:
            read_failures(url, ["m:A"], tmp_path, project=tmp_path, seconds=0.5)
    assert "hush" not in str(caught.value)


def test_a_missing_store_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="none: No such file"):
        read_failures(f"dir://{tmp_path}/none", ["m:A"], tmp_path, project=tmp_path, seconds=30)
    assert not (tmp_path / "none").exists()
