"""Brings the failures of a store home: as seeds, which every command replays, and which are confirmed here."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from ordeal._base.trace_file import Trace
from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal.errors import OrdealError, StoreError
from ordeal.store import FailureReport, Store, open_store
from ordeal.store.open import open_readers, shown_address

#: How long to wait for a store that is away when a member or a fleet ends, in seconds.
BACK_SECONDS = 45.0
#: How long for somebody who has pressed Ctrl-C.
SHORT_BACK_SECONDS = 5.0

TRACE_BYTES_MAX = 2**20
FAILURES_MAX = 1000


def pull(url: str, namespace: str, test_class: str, corpus: SeedCorpus) -> tuple[list[Path], list[str]]:
    """Save the shortest trace of each failure that members of ``namespace`` found; return the files, and what is wrong.

    The store is only read. A trace comes from a store that others can write, so it is checked like any file, and one of
    another class is refused.

    Raises:
        StoreError: the store cannot be reached.
    """
    with open_store(url, namespace) as store:
        reports = store.failures()
        _check(store, url)
    return saved(reports, {test_class}, corpus)


def pull_all(url: str, test_classes: Collection[str], corpus: SeedCorpus) -> tuple[list[Path], list[str]]:
    """Save the failures of some classes, whatever version of the code they were found in; see ``pull``.

    Raises:
        StoreError: the store cannot be reached.
    """
    reports: list[FailureReport] = []
    for store in open_readers(url):
        try:
            reports += store.failures()
            _check(store, url)
        finally:
            store.close()
    return saved(reports, test_classes, corpus)


def _check(store: Store, url: str) -> None:
    if store.trouble:
        hint = "see that this machine can reach it"
        raise StoreError(f"the store {shown_address(url)} cannot be read: {store.trouble}", hint=hint)


def saved(
    reports: Iterable[FailureReport], test_classes: Collection[str], corpus: SeedCorpus
) -> tuple[list[Path], list[str]]:
    """Save the traces of reports, each checked first; return the files, and what is wrong."""
    files, wrong = [], []
    for report in list(reports)[:FAILURES_MAX]:
        if not 0 < len(report.trace) <= TRACE_BYTES_MAX:
            continue
        try:
            trace = Trace.from_json(report.trace, where="a trace of the store")
            if trace.failure is None:
                wrong.append("a trace of the store records no failure")
            elif trace.test_class not in test_classes:
                wrong.append(f"a trace of another class was refused: {trace.test_class}")
            else:
                files.append(corpus.save(trace))
        except OrdealError as error:
            wrong.append(error.message)
    return list(dict.fromkeys(files)), list(dict.fromkeys(wrong))


def when_back[T](action: Callable[[], T], seconds: float) -> T:
    """Return what ``action`` returns, tried again for so long while the store is away.

    Raises:
        StoreError: the store is still away.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return action()
        except StoreError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(1.0)


def publish_left(url: str, namespace: str, folder: Path) -> None:
    """Publish what a member that has ended could not, because the store was away.

    Raises:
        StoreError: the store is still away. The next member that starts on this machine publishes it.
    """
    with open_store(url, namespace, folder=folder) as store:
        store.join()


def edges_in(url: str, namespace: str) -> int:
    """Return how many edges the members of ``namespace`` have reached.

    Raises:
        StoreError: the store cannot be reached.
    """
    with open_store(url, namespace) as store:
        edges = len(store.edges())
        _check(store, url)
        return edges
