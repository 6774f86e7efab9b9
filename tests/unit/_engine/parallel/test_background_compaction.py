"""A process of its own compacts when it is due, one at a time, and not again at once."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ordeal._engine.parallel.background_compaction import BackgroundCompaction, StoreOptions
from ordeal.store import Entry, Outgoing, Store, open_store
from ordeal.store import store as store_module

from ...samples.stores import NAMESPACE, PATIENCE_SECONDS, medium_of

pytestmark = pytest.mark.forks


def bases(store: Store) -> int:
    medium_of(store).survey()
    return len(medium_of(store).bases())


def test_it_makes_a_base_when_it_is_due(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "COMPACTED_SIZE_MIN", 100)
    url = f"dir://{tmp_path / 'store'}"
    with open_store(url, NAMESPACE) as other, open_store(url, NAMESPACE) as store:
        other.join()
        store.join()
        other.sync(Outgoing((Entry(bytes(200), (1,)),)))
        due = [store.is_compaction_due()]
        store.sync(Outgoing())
        due.append(store.is_compaction_due())
        assert due == [False, True]
        background = BackgroundCompaction(StoreOptions(url, NAMESPACE, tmp_path))
        try:
            background.begin_if(False)
            background.begin_if(store.is_compaction_due())
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not bases(store):
                assert time.monotonic() < deadline
                time.sleep(0.01)
            while background.is_running:
                time.sleep(0.01)
            background.begin_if(True)
            assert not background.is_running  # it has just been done
        finally:
            background.close()
        store.sync(Outgoing())
        assert not store.is_compaction_due()
