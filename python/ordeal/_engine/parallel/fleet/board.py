"""The board of a fleet: a few small records beside the store, by which launcher, members and onlookers tell each other.

Each record has one writer. Records come from a store that others can write, so all that is read is checked.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from ordeal._base.formatting import one_line
from ordeal._base.trace_file import write_atomically
from ordeal.errors import StoreError
from ordeal.store.open import open_store, shown_address

Record = dict[str, Any]

LAUNCHER = "launcher"
RECORD_SIZE_MAX = 64 * 2**10
RECORDS_MAX = 100_001
FLEETS_MAX = 1000
TIMEOUT_SECONDS = 3.0
#: A record that is older is of a launcher that is gone, or of a member that is lost.
STALE_SECONDS = 15.0
#: The states of a member that has ended.
OVER = frozenset(("ended", "failed", "lost"))
#: A server forgets a fleet after this long.
KEPT_SECONDS = 14 * 24 * 3600
_TEXT_CHARS_MAX = 2000
_KEY = re.compile(r"launcher|member-[0-9]{6}", re.ASCII)
_FLEET = re.compile(r"[a-z0-9-]{1,60}", re.ASCII)


class BoardError(Exception):
    """The board cannot be used now; the message says why."""


class Board(Protocol):
    """The records of one fleet. Every method may raise ``BoardError``."""

    def put(self, key: str, record: Mapping[str, Any]) -> None:
        """Write a record over what was there."""

    def get(self, key: str) -> Record | None:
        """Return a record, None if there is none."""

    def remove(self, key: str) -> None:
        """Delete a record, which a store without room can still do."""

    def all(self) -> dict[str, Record]:
        """Return all records by key."""

    def fleets(self) -> list[str]:
        """Return the names of all fleets of the store, the one with the newest launcher last."""


def member_key(number: int) -> str:
    """Return the key of a member's record."""
    return f"member-{number:06}"


def open_board(url: str, fleet: str) -> Board:
    """Open the board of a fleet in the store at ``url``.

    Raises:
        StoreError: the address is wrong, or the store cannot be reached.
    """
    scheme, _, rest = url.partition("://")
    if scheme == "dir" and rest and "\0" not in rest:
        return DirectoryBoard(Path(rest).expanduser(), fleet)
    # This checks the address, and says what is wrong with it or with the server.
    open_store(url, "board").close()
    return RedisBoard(url, fleet)


class DirectoryBoard(Board):
    """A folder with a file for each record."""

    def __init__(self, shared: Path, fleet: str) -> None:
        self._fleets = shared / "fleets"
        self._folder = self._fleets / fleet
        self._was_there = False

    def put(self, key: str, record: Mapping[str, Any]) -> None:
        try:
            # Once only: later, a new folder would stand where a file system is away, and hide that.
            if not self._was_there:
                self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._folder / f"{key}.json", _encoded(record))
        except OSError as error:
            raise BoardError(f"{self._folder}: {error.strerror or error}") from error
        self._was_there = True

    def get(self, key: str) -> Record | None:
        path = self._folder / f"{key}.json"
        try:
            with path.open("rb") as file:
                return decoded(file.read(RECORD_SIZE_MAX + 1))
        except FileNotFoundError:
            self._must_be_there()
            return None
        except OSError as error:
            raise BoardError(f"{path}: {error.strerror or error}") from error

    def remove(self, key: str) -> None:
        try:
            (self._folder / f"{key}.json").unlink(missing_ok=True)
        except OSError as error:
            raise BoardError(f"{self._folder}: {error.strerror or error}") from error

    def all(self) -> dict[str, Record]:
        try:
            keys = [path.stem for path in self._folder.glob("*.json")][:RECORDS_MAX]
        except OSError as error:
            raise BoardError(f"{self._folder}: {error.strerror or error}") from error
        if not keys:
            self._must_be_there()
        return {key: record for key in sorted(keys) if _KEY.fullmatch(key) and (record := self.get(key)) is not None}

    def _must_be_there(self) -> None:
        """Tell a folder that is away from one in which nothing is written."""
        if self._was_there and not self._folder.is_dir():
            raise BoardError(f"{self._folder}: {os.strerror(errno.ENOENT)}")

    def fleets(self) -> list[str]:
        try:
            found = [(path.stat().st_mtime, path.parent.name) for path in self._fleets.glob(f"*/{LAUNCHER}.json")]
        except OSError as error:
            raise BoardError(f"{self._fleets}: {error.strerror or error}") from error
        return [name for _, name in sorted(found) if _FLEET.fullmatch(name)][-FLEETS_MAX:]


class RedisBoard(Board):
    """A hash with a field for each record."""

    def __init__(self, url: str, fleet: str) -> None:
        redis = importlib.import_module("redis")
        parts = urlsplit(url)
        self._failed: type[Exception] = redis.RedisError
        self._place = shown_address(url)
        self._key = f"ordeal:fleet:{fleet}"
        self._fleet = fleet
        self._client: Any = redis.Redis(
            host=parts.hostname,
            port=parts.port or 6379,
            db=int(parts.path.removeprefix("/") or 0),
            username=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password) if parts.password else None,
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            # Whoever asks does so again by himself, and must notice in time that the server is away.
            retry=importlib.import_module("redis.retry").Retry(importlib.import_module("redis.backoff").NoBackoff(), 0),
        )

    def put(self, key: str, record: Mapping[str, Any]) -> None:
        pipeline = self._client.pipeline(transaction=False)
        pipeline.hset(self._key, key, _encoded(record))
        pipeline.expire(self._key, KEPT_SECONDS)
        if key == LAUNCHER:
            pipeline.zadd("ordeal:fleets", {self._fleet: time.time()})
        answers = self._asked(lambda: pipeline.execute(raise_on_error=False))
        for answer in answers:
            self._asked(lambda answer=answer: _checked(answer))

    def get(self, key: str) -> Record | None:
        data = self._asked(lambda: self._client.hget(self._key, key))
        return decoded(data) if isinstance(data, bytes) else None

    def remove(self, key: str) -> None:
        self._asked(lambda: self._client.hdel(self._key, key))

    def all(self) -> dict[str, Record]:
        found = self._asked(lambda: self._client.hgetall(self._key))
        named = {key.decode("ascii", "replace"): data for key, data in list(found.items())[:RECORDS_MAX]}
        kept = {key: decoded(named[key]) for key in sorted(named) if _KEY.fullmatch(key)}
        return {key: record for key, record in kept.items() if record is not None}

    def fleets(self) -> list[str]:
        names = self._asked(lambda: self._client.zrange("ordeal:fleets", -FLEETS_MAX, -1))
        texts = [name.decode("ascii", "replace") for name in names]
        return [name for name in texts if _FLEET.fullmatch(name)]

    def _asked(self, ask: Any) -> Any:
        try:
            return ask()
        except self._failed as error:
            raise BoardError(f"{self._place}: {one_line(str(error), limit=200)}") from error


def _checked(answer: object) -> object:
    if isinstance(answer, Exception):
        raise answer
    return answer


def _encoded(record: Mapping[str, Any]) -> bytes:
    return json.dumps({**record, "at": time.time()}).encode()


def decoded(data: bytes) -> Record | None:
    """Return a record with only numbers and short texts in it; None for anything that is none."""
    if len(data) > RECORD_SIZE_MAX:
        return None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    return {key: kept for key, value in found.items() if (kept := _plain(value)) is not None}


def _plain(value: object) -> float | str | None:
    if isinstance(value, str):
        return "\n".join(one_line(line, limit=500) for line in value[:_TEXT_CHARS_MAX].splitlines())
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 2**63:
        return None
    return value


def text_of(record: Record, name: str) -> str:
    """Return a text of a record, empty if there is none."""
    value = record.get(name)
    return value if isinstance(value, str) else ""


def number_of(record: Record, name: str) -> float:
    """Return a number of a record that is not below 0, else 0."""
    value = record.get(name)
    return max(0, value) if isinstance(value, int | float) else 0


def state_of(records: Mapping[str, Record], now: float) -> str:
    """Return how a fleet is: as its launcher says, unless that is gone or all members have ended since."""
    launcher = records.get(LAUNCHER, {})
    members = [text_of(record, "state") for key, record in records.items() if key != LAUNCHER]
    state = text_of(launcher, "state")
    if state in ("left", "stopping") and len(members) >= max(1, number_of(launcher, "members")) and {*members} <= OVER:
        return "ended"
    if state in ("running", "stopping") and now - number_of(launcher, "at") > STALE_SECONDS:
        return "lost"
    return state or "unknown"


def new_edges_an_hour(records: Iterable[Record]) -> float | None:
    """Return how many edges all members together may still find in an hour; None while one of them cannot say.

    Each says, with a confidence of 95 %, how likely its next run at most shows a new one. Several may find the same.
    """
    told = [(record.get("next_run_max"), number_of(record, "rate")) for record in records]
    bounds = [3600 * float(bound) * rate for bound, rate in told if isinstance(bound, int | float) and 0 <= bound <= 1]
    return sum(bounds) if bounds and len(bounds) == len(told) else None


def reached(board: Board, url: str) -> dict[str, Record]:
    """Return all records.

    Raises:
        StoreError: the store cannot be read.
    """
    try:
        return board.all()
    except BoardError as error:
        raise StoreError(
            f"the store {shown_address(url)} cannot be read: {error}", hint="see that this machine can reach it"
        ) from error
