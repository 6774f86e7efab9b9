"""Failures come home from a store as seeds, and what does not fit is refused."""

from __future__ import annotations

from pathlib import Path

from ordeal._engine.parallel.fleet.home import edges_in, pull
from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal._engine.storage.trace_file import Trace, TraceFailure, TraceStep
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
