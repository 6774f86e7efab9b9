"""Failures come home from a store as seeds, and what does not fit is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordeal._base.trace_file import Trace, TraceFailure, TraceStep
from ordeal._engine.parallel.fleet.home import edges_in, pull, when_back
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
        store.join()
        store.sync(Outgoing(entries=(Entry(b"tape", (3, 4)),), failures=tuple(reports)))
    saved, wrong = pull(url, "names", "m:A", SeedCorpus(tmp_path / "seeds"))
    assert [Trace.load(path).test_class for path in saved] == ["m:A"]
    assert len(wrong) == 2
    assert edges_in(url, "names") == 2


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
