"""The board of a fleet: a few small records in the store, by which launcher, members and onlookers inform each other.

Each record has one writer. Records come from a store that others can write, so all that is read is checked.
"""

from __future__ import annotations

import errno
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from ordeal._base.formatting import one_line
from ordeal._base.trace_file import write_atomically
from ordeal.errors import StoreError
from ordeal.store.backend import UnreachableError
from ordeal.store.open import open_backend

Record = dict[str, Any]

LAUNCHER = "launcher"
RECORD_SIZE_MAX = 64 * 2**10
RECORDS_MAX = 100_001
FLEETS_MAX = 1000
#: A record that is older is of a launcher that is gone, or of a member that is lost.
STALE_SECONDS = 15.0
#: The states of a member that has ended.
OVER = frozenset(("ended", "failed", "lost"))
#: A server forgets a fleet after this long.
KEPT_SECONDS = 14 * 24 * 3600
#: How many points a member keeps of how its edges grew, and the name under which its record has them.
POINTS_MAX = 24
GROWTH = "growth"
_POINT = re.compile(r"([0-9]{1,9}(?:\.[0-9])?):([0-9]{1,12})", re.ASCII)
_TEXT_CHARS_MAX = 2000
_KEY = re.compile(r"launcher|member-[0-9]{6}", re.ASCII)
_FLEET = re.compile(r"[a-z0-9-]{1,60}", re.ASCII)


class BoardError(StoreError):
    """The board cannot be used now; the message says why."""

    def __init__(self, message: str) -> None:
        super().__init__(message, hint="see that this machine can reach the store, and that this user may write to it")


def member_key(number: int) -> str:
    """Return the key of a member's record."""
    return f"member-{number:06}"


class DirectoryBoard:
    """A folder with a file for each record. Every method may raise ``BoardError``."""

    def __init__(self, shared: Path, fleet: str) -> None:
        self._fleets = shared / "fleets"
        self._folder = self._fleets / fleet
        self._was_there = False

    def put(self, key: str, record: Mapping[str, Any]) -> None:
        """Write a record over what was there."""
        with self._asking():
            # Once only: later, a new folder would stand where a file system is away, and hide that.
            if not self._was_there:
                self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path(key), _encoded(record))
        self._was_there = True

    def get(self, key: str) -> Record | None:
        """Return a record, None if there is none."""
        with self._asking():
            try:
                with self._path(key).open("rb") as file:
                    return decoded(file.read(RECORD_SIZE_MAX + 1))
            except FileNotFoundError:
                self._must_be_there()
        return None

    def remove(self, key: str) -> None:
        """Delete a record, which a store without room can still do."""
        with self._asking():
            self._path(key).unlink(missing_ok=True)

    def all(self) -> dict[str, Record]:
        """Return all records by key."""
        with self._asking():
            keys = [path.stem for path in self._folder.glob("*.json")][:RECORDS_MAX]
            if not keys:
                self._must_be_there()
        return {key: record for key in sorted(keys) if _KEY.fullmatch(key) and (record := self.get(key)) is not None}

    def fleets(self) -> list[str]:
        """Return the names of all fleets of the store, the one with the newest launcher last."""
        with self._asking():
            found = [(path.stat().st_mtime, path.parent.name) for path in self._fleets.glob(f"*/{LAUNCHER}.json")]
        return [name for _, name in sorted(found) if _FLEET.fullmatch(name)][-FLEETS_MAX:]

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"

    def _must_be_there(self) -> None:
        """Tell a folder that is away from one in which nothing is written."""
        if self._was_there and not self._folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self._folder))

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise BoardError(f"{error.filename or self._folder}: {error.strerror or error}") from error


class RedisBoard:
    """A hash with a field for each record. ``backend`` is the connection of a store on that server."""

    def __init__(self, backend: Any, fleet: str) -> None:
        self._backend = backend
        self._client: Any = backend.client
        self._key = f"ordeal:fleet:{fleet}"
        self._fleet = fleet

    def put(self, key: str, record: Mapping[str, Any]) -> None:
        """See ``DirectoryBoard``."""

        def write() -> None:
            pipeline = self._client.pipeline(transaction=False)
            pipeline.hset(self._key, key, _encoded(record))
            pipeline.expire(self._key, KEPT_SECONDS)
            if key == LAUNCHER:
                pipeline.zadd("ordeal:fleets", {self._fleet: time.time()})
            # Raised by the library itself, an error would repeat the whole command.
            for answer in pipeline.execute(raise_on_error=False):
                if isinstance(answer, Exception):
                    raise answer

        self._asked(write)

    def get(self, key: str) -> Record | None:
        """See ``DirectoryBoard``."""
        data = self._asked(lambda: self._client.hget(self._key, key))
        return decoded(data) if isinstance(data, bytes) else None

    def remove(self, key: str) -> None:
        """See ``DirectoryBoard``."""
        self._asked(lambda: self._client.hdel(self._key, key))

    def all(self) -> dict[str, Record]:
        """See ``DirectoryBoard``."""
        found = self._asked(lambda: self._client.hgetall(self._key))
        named = {key.decode("ascii", "replace"): data for key, data in list(found.items())[:RECORDS_MAX]}
        kept = {key: decoded(named[key]) for key in sorted(named) if _KEY.fullmatch(key)}
        return {key: record for key, record in kept.items() if record is not None}

    def fleets(self) -> list[str]:
        """See ``DirectoryBoard``."""
        names = self._asked(lambda: self._client.zrange("ordeal:fleets", -FLEETS_MAX, -1))
        return [name for each in names if _FLEET.fullmatch(name := each.decode("ascii", "replace"))]

    def _asked(self, ask: Callable[[], Any]) -> Any:
        try:
            with self._backend.reached():
                return ask()
        except UnreachableError as error:
            raise BoardError(str(error)) from error


#: Where the records of one fleet are.
Board = DirectoryBoard | RedisBoard


def open_board(url: str, fleet: str) -> Board:
    """Open the board of a fleet in the store at ``url``.

    Raises:
        StoreError: the address is wrong, or the store cannot be reached.
    """
    scheme, _, rest = url.partition("://")
    if scheme == "dir" and rest and "\0" not in rest:
        return DirectoryBoard(Path(rest).expanduser(), fleet)
    # This checks the address, and says what is wrong with it or with the server.
    return RedisBoard(open_backend(url, "board"), fleet)


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


class Growth:
    """How the edges of one member grew: when it had a number of edges for the first time, as a few points."""

    def __init__(self) -> None:
        self._points: list[tuple[float, int]] = []

    def add(self, seconds: float, edges: int) -> None:
        """Take a new number of edges. Where there are too many points, every second one goes, but never the last."""
        if self._points and edges <= self._points[-1][1]:
            return
        self._points.append((max(0.0, seconds), edges))
        if len(self._points) > POINTS_MAX:
            del self._points[-2::-2]

    def __str__(self) -> str:
        """Return the points as the text of a record."""
        return " ".join(f"{seconds:.1f}:{edges}" for seconds, edges in self._points)


def edges_over_time(records: Iterable[Record]) -> list[tuple[float, int]]:
    """Return when the best of all members had how many edges, in seconds since the first of them started.

    Records come from a store that others can write, so what is no point in them is left out.
    """
    started = [(number_of(record, "since"), record) for record in records if text_of(record, GROWTH)]
    first = min((since for since, _ in started), default=0.0)
    points = sorted(
        (round(since - first + float(point[1]), 1), int(point[2]))
        for since, record in started
        for text in text_of(record, GROWTH).split()[:POINTS_MAX]
        if (point := _POINT.fullmatch(text))
    )
    grown: list[tuple[float, int]] = []
    for seconds, at_once in groupby(points, key=lambda point: point[0]):
        edges = max(edges for _, edges in at_once)
        if not grown or edges > grown[-1][1]:
            grown.append((seconds, edges))
    return grown
