"""The board of a fleet: a few small records in the store, by which launcher, members and onlookers inform each other.

A member writes its record. Its launcher writes it before each start, and when it gives the member up. Records come from
a store that others can write, so all that is read is checked.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ordeal._base.formatting import one_line
from ordeal._base.limits import RECORDED_CHARS_MAX
from ordeal.errors import StoreError
from ordeal.store.backend import RECORD_SIZE_MAX, UnreachableError
from ordeal.store.open import open_records

Record = dict[str, Any]

LAUNCHER = "launcher"
#: A record that is older is of a launcher that is gone, or of a member that may be lost: the launcher's is written each
#: two seconds, and a member's each second.
STALE_SECONDS = 15.0
#: The states of a member that has ended.
OVER = frozenset(("ended", "failed", "lost"))
_KEY = re.compile(r"launcher|member-[0-9]{6}", re.ASCII)
_FLEET = re.compile(r"[a-z0-9-]{1,60}", re.ASCII)


class BoardError(StoreError):
    """The board cannot be used now; the message says why."""

    def __init__(self, message: str) -> None:
        super().__init__(
            message, hint="check that this computer can reach the store, and that this user may write to it"
        )


def member_key(number: int) -> str:
    """Return the key of a member's record."""
    return f"member-{number:06}"


class Board:
    """The records of one fleet. Every method may raise ``BoardError``."""

    def __init__(self, url: str, fleet: str) -> None:
        """Open the store at ``url``.

        Raises:
            StoreError: the address is wrong, or the store cannot be reached.
        """
        self._backend = open_records(url)
        self._fleet = fleet

    def begin(self) -> None:
        """Make the board. Before, and while the store is away, nothing can be read or written."""
        with _reached():
            self._backend.begin(self._fleet)

    def put(self, key: str, record: Mapping[str, Any]) -> None:
        """Write a record over what was there."""
        with _reached():
            self._backend.put(self._fleet, key, json.dumps({**record, "at": time.time()}).encode())

    def get(self, key: str) -> Record:
        """Return a record, an empty one if there is none."""
        with _reached():
            data = self._backend.get(self._fleet, key)
        return {} if data is None else decoded(data)

    def remove(self, key: str) -> None:
        """Delete a record, which a store without room can still do."""
        with _reached():
            self._backend.drop(self._fleet, key)

    def all(self) -> dict[str, Record]:
        """Return all records by key."""
        with _reached():
            found = self._backend.all(self._fleet)
        return {key: record for key in sorted(found) if _KEY.fullmatch(key) and (record := decoded(found[key]))}


def launchers(url: str) -> dict[str, Record]:
    """Return the launchers' records of the fleets in a store by name, the one that began last at the end.

    Raises:
        StoreError: the address is wrong, or the store cannot be reached.
    """
    backend = open_records(url)
    found: dict[str, Record] = {}
    with _reached():
        for name in filter(_FLEET.fullmatch, backend.groups()):
            data = backend.get(name, LAUNCHER)
            if data is not None and (record := decoded(data)):
                found[name] = record
    return dict(sorted(found.items(), key=lambda each: (number_of(each[1], "began"), each[0])))


def when_back[T](action: Callable[[], T], seconds: float) -> T:
    """Return what ``action`` returns, tried again for at most this long while the store is away.

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


@contextmanager
def _reached() -> Iterator[None]:
    try:
        yield
    except UnreachableError as error:
        raise BoardError(str(error)) from error


def decoded(data: bytes) -> Record:
    """Return a record with only numbers and short texts in it; an empty one for anything else."""
    if len(data) > RECORD_SIZE_MAX:
        return {}
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    record: Record = {}
    for key, value in found.items():
        if isinstance(value, str):
            record[key] = "\n".join(one_line(line, limit=500) for line in value[:RECORDED_CHARS_MAX].splitlines())
        elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63:
            record[key] = value
    return record


def text_of(record: Record, name: str) -> str:
    """Return a text of a record, empty if there is none."""
    value = record.get(name)
    return value if isinstance(value, str) else ""


def number_of(record: Record, name: str) -> float:
    """Return a number of a record that is not below 0, else 0."""
    value = record.get(name)
    return max(0, value) if isinstance(value, int | float) else 0


def total_of(record: Record, name: str) -> int:
    """Return a number of a member with that of its former attempts."""
    return int(number_of(record, name) + number_of(record, f"past_{name}"))


def member_state(record: Record, now: float) -> str:
    """Return the state of a member: its own, or ``silent`` if it should have written since."""
    state = text_of(record, "state") or "unknown"
    is_late = state in ("starting", "running") and now - number_of(record, "at") > STALE_SECONDS
    return "silent" if is_late else state


def runs_other_code(record: Record, launcher: Record) -> bool:
    """Return True if a member explores other code than its launcher has: then it shares nothing with the others."""
    code = text_of(record, "code")
    return bool(code) and bool(text_of(launcher, "code")) and code != text_of(launcher, "code")


def state_of(records: Mapping[str, Record], now: float) -> str:
    """Return the state of a fleet: its launcher's record, unless that is gone or all members have ended since."""
    launcher = records.get(LAUNCHER, {})
    members = [text_of(record, "state") for key, record in records.items() if key != LAUNCHER]
    state = text_of(launcher, "state")
    if state in ("left", "stopping") and len(members) >= max(1, number_of(launcher, "members")) and {*members} <= OVER:
        return "ended"
    if state in ("running", "stopping") and now - number_of(launcher, "at") > STALE_SECONDS:
        return "lost"
    return state or "unknown"
