"""Brings the failures of a store home: as seeds, which every command replays, and which are confirmed here."""

from __future__ import annotations

from pathlib import Path

from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal._engine.storage.trace_file import Trace
from ordeal.errors import OrdealError
from ordeal.store import open_store

TRACE_BYTES_MAX = 2**20
FAILURES_MAX = 1000


def pull(url: str, namespace: str, test_class: str, corpus: SeedCorpus) -> tuple[list[Path], list[str]]:
    """Save the shortest trace of each failure that members of ``namespace`` found; return the files, and what is wrong.

    The store is only read. A trace comes from a store that others can write, so it is checked like any file, and one of
    another class is refused.

    Raises:
        StoreError: the store cannot be reached.
    """
    saved, wrong = [], []
    store = open_store(url, namespace)
    try:
        reports = store.failures()
    finally:
        store.close()
    for report in list(reports)[:FAILURES_MAX]:
        if not 0 < len(report.trace) <= TRACE_BYTES_MAX:
            continue
        try:
            trace = Trace.from_json(report.trace, where="a trace of the store")
            if trace.test_class != test_class:
                wrong.append(f"a trace of another class was refused: {trace.test_class}")
                continue
            saved.append(corpus.save(trace))
        except OrdealError as error:
            wrong.append(error.message)
    return list(dict.fromkeys(saved)), list(dict.fromkeys(wrong))


def edges_in(url: str, namespace: str) -> int:
    """Return how many edges the members of ``namespace`` have reached.

    Raises:
        StoreError: the store cannot be reached.
    """
    store = open_store(url, namespace)
    try:
        return len(store.edges())
    finally:
        store.close()
