"""Brings the failures of a store home: as seeds, which every command replays, and which are confirmed here."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from ordeal._base.interpreter import finish, start
from ordeal._base.limits import MEBIBYTE
from ordeal._base.trace_file import Trace
from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal.errors import OrdealError, StoreError
from ordeal.store import FailureReport, Store, open_store
from ordeal.store.open import open_readers, shown_address

#: How long to wait for a store that is away when a member or a fleet ends, in seconds.
BACK_SECONDS = 45.0


def brought_home(url: str, namespace: str, test_class: str, corpus: SeedCorpus) -> tuple[list[str], int]:
    """Save the shortest trace of each failure in ``namespace``; return what is wrong, and how many edges were reached.

    The store is only read. A trace comes from a store that others can write, so it is checked like any file, and one of
    another class is refused.

    Raises:
        StoreError: the store cannot be reached.
    """
    with open_store(url, namespace) as store:
        reports, edges = store.failures(), len(store.edges())
        _check(store, url)
    return saved(reports, {test_class}, corpus)[1], edges


def pull_all(url: str, test_classes: Collection[str], corpus: SeedCorpus) -> tuple[list[Path], list[str]]:
    """Save the failures of some classes, of all versions of the code. Return the files, and what is wrong.

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
        hint = "check that this computer can reach it"
        raise StoreError(f"the store {shown_address(url)} cannot be read: {store.trouble}", hint=hint)


def saved(
    reports: Iterable[FailureReport], test_classes: Collection[str], corpus: SeedCorpus
) -> tuple[list[Path], list[str]]:
    """Save the traces of reports, each checked first; return the files, and what is wrong."""
    files, wrong = [], []
    for report in list(reports)[:1_000]:
        if not 0 < len(report.trace) <= MEBIBYTE:
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


def read_failures(
    url: str, test_classes: Sequence[str], folder: Path, *, project: Path, seconds: float
) -> tuple[list[Path], list[str]]:
    """Save the failures of some classes as ``pull_all`` does, in a process that ends in time; see there.

    A server may answer slowly and a network file system not at all, and neither may hold up a run of tests. A relative
    ``dir://`` begins at ``project``. The address reaches the process through a pipe, as it may hold a password.

    Raises:
        StoreError: the store cannot be read in time.
    """
    given = {"url": url, "classes": list(test_classes), "folder": str(folder.absolute())}
    try:
        # -P: no file of the project stands in for a library.
        command = [sys.executable, "-P", "-m", __name__]
        process = start(command, pipes=["stdin", "stdout"], folder=project)
    except OSError as error:
        raise StoreError(f"the store cannot be read: {error.strerror or error}") from error
    answer, _ = finish(process, json.dumps(given).encode(), seconds=seconds)
    try:
        found: Any = json.loads(answer)
        if "error" in found:
            raise StoreError(str(found["error"]), hint=found["hint"])
        return [Path(each) for each in found["saved"]], [str(each) for each in found["wrong"]]
    except (ValueError, TypeError, KeyError):
        hint = "check that this computer can reach it"
        raise StoreError(f"the store did not answer within {seconds:g} s", hint=hint) from None


def main() -> None:
    """Read failures as stdin says, and write what came of it to stdout."""
    given = json.load(sys.stdin)
    try:
        saved_files, wrong = pull_all(given["url"], given["classes"], SeedCorpus(given["folder"]))
        answer: dict[str, Any] = {"saved": list(map(str, saved_files)), "wrong": wrong}
    except OrdealError as error:
        answer = {"error": error.message, "hint": error.hint}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
