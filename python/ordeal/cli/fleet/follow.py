"""``ordeal fleet status --follow``: shows a fleet anew each second until it has ended, from the store alone."""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ordeal._engine.parallel.fleet.board import LAUNCHER, Board, BoardError, Record, number_of, state_of, text_of
from ordeal._engine.parallel.fleet.growth import edges_over_time
from ordeal._report.fleet import fleet_text
from ordeal.cli import terminal

LOOK_SECONDS = 1.0
#: How often a line says how the fleet is, where nothing can be drawn anew.
LINE_SECONDS = 10.0
#: A fleet of which nobody has said anything for this long is over.
SILENT_SECONDS = 60.0
Records = Mapping[str, Record]


class _View(Protocol):
    """Where what is seen goes."""

    def show(self, records: Records) -> None:
        """Show how the fleet is now."""

    def close(self, records: Records) -> None:
        """Show how it ended."""


def follow(board: Board, name: str, *, as_json: bool) -> None:
    """Show the fleet until it has ended, or until Ctrl-C, which leaves the fleet alone."""
    view: _View = _Json(name) if as_json else _Drawn(name) if terminal.can_redraw() else _Lines(name)
    records: Records = {}
    try:
        while not has_ended(records, time.time()):
            try:
                records = board.all() or records
            except BoardError as error:
                terminal.say(f"the store is away: {error}")
            else:
                view.show(records)
            time.sleep(LOOK_SECONDS)
    except KeyboardInterrupt:
        pass
    finally:
        view.close(records)


def has_ended(records: Records, now: float) -> bool:
    """Return whether nothing more is to be expected of a fleet."""
    if not records:
        return False
    if state_of(records, now) == "ended":
        return True
    return now - max(number_of(record, "at") for record in records.values()) > SILENT_SECONDS


def document(name: str, records: Records) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    members = {key: record for key, record in records.items() if key != LAUNCHER}
    return {
        "fleet": name,
        "state": state_of(records, time.time()),
        "launcher": records.get(LAUNCHER, {}),
        "members": members,
        "edges_over_time": edges_over_time(members.values()),
    }


def _text(name: str, records: Records) -> str:
    return fleet_text(name, records, time.time())


class _Findings:
    """What members found that was not seen before."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def new(self, records: Records) -> list[str]:
        """Return the newest failure of each member that is new."""
        found = dict.fromkeys(text for record in records.values() if (text := text_of(record, "finding")))
        fresh = [text for text in found if text not in self._seen]
        self._seen.update(fresh)
        return [text.splitlines()[0] for text in fresh]


class _Json(_View):
    """A document on a line, each second."""

    def __init__(self, name: str) -> None:
        self._name = name

    def show(self, records: Records) -> None:
        terminal.write(f"{json.dumps(document(self._name, records))}\n")

    def close(self, records: Records) -> None:
        pass


class _Lines(_View):
    """A line now and then, and one for each finding."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._name, self._clock = name, clock
        self._findings = _Findings()
        self._due = 0.0

    def show(self, records: Records) -> None:
        for finding in self._findings.new(records):
            terminal.say(f"found: {finding}")
        if self._clock() >= self._due:
            self._due = self._clock() + LINE_SECONDS
            terminal.say(_text(self._name, records).splitlines()[1].strip())

    def close(self, records: Records) -> None:
        terminal.write(_text(self._name, records))


class _Drawn(_View):
    """The lines of ``ordeal fleet status``, drawn anew in place, and each finding above them."""

    def __init__(self, name: str) -> None:
        # They take time to import, and a log does not need them.
        self._text: Any = importlib.import_module("rich.text").Text
        self._region: Any = importlib.import_module("ordeal.cli.live").Region()
        self._name = name
        self._findings = _Findings()

    def show(self, records: Records) -> None:
        lines = _text(self._name, records).splitlines()
        room = self._region.height - 2
        if len(lines) > room:
            lines = [*lines[: room - 1], f"  ... and {len(lines) - room + 1} more lines"]
        found = [self._text.assemble(("\u2717 ", "bold red"), text) for text in self._findings.new(records)]
        self._region.draw([self._text(line) for line in [*lines, "Ctrl-C leaves; the fleet goes on"]], above=found)

    def close(self, records: Records) -> None:
        self._region.clear()
        terminal.write(_text(self._name, records))
