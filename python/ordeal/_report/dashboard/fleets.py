"""What the pages of the dashboard show of fleets: the members of a store, from the records that they keep there."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ordeal._engine.parallel.fleet.board import (
    LAUNCHER,
    Board,
    Record,
    edges_over_time,
    launchers,
    member_state,
    number_of,
    text_of,
    total_of,
)
from ordeal._report.fleet import member_text, remark, shown_state
from ordeal._report.html.chart import Point, coverage_chart
from ordeal.store.open import shown_address

#: So many fleets and members are on a page; `ordeal fleet status --json` has all members.
FLEETS_MAX = 50
MEMBERS_MAX = 500
_KINDS = {"failed": "bad", "lost": "bad", "silent": "warn"}


class Fleets:
    """The fleets of one store. It only reads. Every method may raise ``BoardError`` or ``StoreError``."""

    def __init__(self, url: str) -> None:
        self._url = url
        #: The address without a password.
        self.place = shown_address(url)

    def names(self) -> list[str]:
        """Return the names, the newest first."""
        return list(launchers(self._url))[: -FLEETS_MAX - 1 : -1]

    def records(self, name: str) -> dict[str, Record] | None:
        """Return the records of a fleet; None if there is none of that name."""
        return Board(self._url, name).all() if name in launchers(self._url) else None


def fleet_values(name: str, records: Mapping[str, Record], place: str, now: float | None = None) -> dict[str, Any]:
    """Return what the page of a fleet shows. Members that failed, are lost or silent come first."""
    launcher = records[LAUNCHER]
    now = time.time() if now is None else now
    members = [_member(key, record, launcher, now) for key, record in records.items() if key != LAUNCHER]
    running = sum(each["running"] for each in members)
    members.sort(key=lambda each: (not each["kind"], not each["failures"], each["number"]))
    state = shown_state(records, now)
    return {
        "title": f"{name}, {state} - ordeal",
        "name": name,
        "state": state,
        "class": text_of(launcher, "class"),
        "place": place,
        "on": text_of(launcher, "on"),
        "figures": [
            {"value": f"{running:,} of {int(number_of(launcher, 'members')):,}", "what": "members run"},
            {"value": f"{sum(each['runs'] for each in members):,}", "what": "runs"},
            {"value": f"{sum(each['rate'] for each in members):,.0f}", "what": "runs/s"},
            {"value": f"{max((each['edges'] for each in members), default=0):,}", "what": "edges at most"},
            {"value": f"{number_of(launcher, 'elapsed'):,.0f}", "what": "seconds"},
        ],
        "chart": _chart(records),
        "members": members[:MEMBERS_MAX],
        "more": max(0, len(members) - MEMBERS_MAX),
    }


def _chart(records: Mapping[str, Record]) -> str:
    grown = edges_over_time(record for key, record in records.items() if key != LAUNCHER)
    return coverage_chart([Point(seconds, 0, edges) for seconds, edges in grown], [], "growth")


def _member(key: str, record: Record, launcher: Record, now: float) -> dict[str, Any]:
    state = member_state(record, now)
    return {
        "number": int(key.rpartition("-")[2]),
        "state": member_text(record, now),
        "kind": _KINDS.get(state, ""),
        "running": state == "running",
        "runs": total_of(record, "runs"),
        "rate": number_of(record, "rate") if state == "running" else 0,
        "edges": int(number_of(record, "edges")),
        "failures": int(number_of(record, "failures")),
        "host": text_of(record, "host"),
        "said": remark(record, launcher),
    }
