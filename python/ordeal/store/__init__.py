"""Shares entries, edges and failures with other process trees and machines, through a folder or a Redis server."""

from ordeal.store.open import open_store
from ordeal.store.records import Entry, FailureReport, Incoming, Outgoing
from ordeal.store.store import Store

__all__ = ["Entry", "FailureReport", "Incoming", "Outgoing", "Store", "open_store"]
