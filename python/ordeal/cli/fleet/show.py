"""``ordeal fleet``: what the members of a fleet do, from the store alone, once or until the end; and an end to all."""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ordeal._engine.parallel.fleet.board import (
    LAUNCHER,
    Board,
    BoardError,
    Record,
    edges_over_time,
    launchers,
    number_of,
    state_of,
    text_of,
)
from ordeal._engine.parallel.fleet.plan import named_store
from ordeal._report.fleet import fleet_text, log_text
from ordeal.cli import terminal
from ordeal.config.flags import FleetFlags
from ordeal.config.options import DEFAULT_PATH, STORE_VARIABLE
from ordeal.config.settings_file import load_config
from ordeal.errors import ConfigError
from ordeal.store.open import shown_address

LOOK_SECONDS = 1.0
#: How often a line says how the fleet is, where nothing can be drawn again.
LINE_SECONDS = 10.0
#: How many fleets are named, the newest.
NAMES_MAX = 20
#: A fleet in which no record has changed for this long is over.
SILENT_SECONDS = 60.0
Records = Mapping[str, Record]


def run(flags: FleetFlags) -> int:
    """Show or end the fleet. Return 0."""
    if flags.follow and flags.action != "status":
        message = f"`--follow` is for `ordeal fleet status`, not for `{flags.action}`"
        raise ConfigError(message, hint="drop `--follow`")
    settings = load_config(needs_tests=False).fleet.store if Path(DEFAULT_PATH).exists() else None
    url = named_store(flags.url, settings)
    if not url:
        raise ConfigError("no store is named", hint=f"write its URL, or set {STORE_VARIABLE}")
    name = _name(url, flags.name)
    board = Board(url, name)
    records = board.all()
    if flags.action == "stop":
        _stop(board, records, name)
    elif flags.follow:
        follow(board, name, as_json=flags.json)
    elif flags.json:
        terminal.write(json.dumps(document(name, records), indent=2) + "\n")
    else:
        text = fleet_text if flags.action == "status" else log_text
        terminal.write(text(name, records, time.time()))
    return 0


def _name(url: str, given: str | None) -> str:
    """Return the fleet that is meant: of several that run, only the person who asks knows which."""
    known = launchers(url)
    where = f"in the store {shown_address(url)}"
    if not known:
        raise ConfigError(f"no fleet is {where}", hint="`ordeal explore --on` starts one; when it ends, it stays here")
    if given and given not in known:
        raise ConfigError(f"no fleet `{given}` is {where}", hint=f"these are: {', '.join([*known][-NAMES_MAX:])}")
    now = time.time()
    running = [name for name in known if state_of({LAUNCHER: known[name]}, now) in ("running", "stopping", "left")]
    if given or len(running) < 2:
        return given or (running or [*known])[-1]
    if not terminal.can_ask():
        hint = f"add `--name`, for example `--name {running[-1]}`"
        raise ConfigError(f"{len(running)} fleets run {where}: {', '.join(running[-NAMES_MAX:])}", hint=hint)
    shown = running[-NAMES_MAX:]
    for number, name in enumerate(shown, 1):
        terminal.say(f"  {number}  {name}")
    return shown[terminal.ask_number("Which fleet?", 1, len(shown), default=len(shown)) - 1]


def _stop(board: Board, records: Records, name: str) -> None:
    if state_of(records, time.time()) == "ended":
        terminal.say(f"The fleet {name} has ended.")
        return
    board.put(LAUNCHER, {**records[LAUNCHER], "state": "stopping"})
    terminal.say(f"The fleet {name} stops. Its members end within seconds; its launcher then replays what they found.")


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


def has_ended(records: Records, now: float) -> bool:
    """Return True if nothing more is to be expected of a fleet."""
    if not records or state_of(records, now) == "ended":
        return bool(records)
    return now - max(number_of(record, "at") for record in records.values()) > SILENT_SECONDS


def follow(board: Board, name: str, *, as_json: bool) -> None:
    """Show the fleet until it has ended, or until Ctrl-C, which leaves the fleet alone.

    As JSON, there is a document on a line, each second. On a terminal, the lines of the status are drawn in place.
    Elsewhere, a line says now and then how the fleet is. Findings are shown as they come.
    """
    # It takes time to import, and a log does not need it.
    region = importlib.import_module("ordeal.cli.live").Region() if not as_json and terminal.can_redraw() else None
    records: Records = {}
    seen: set[str] = set()
    due = 0.0
    try:
        while not has_ended(records, time.time()) and terminal.is_read():
            try:
                records = board.all() or records
            except BoardError as error:
                terminal.say(f"the store is away: {error.message}")
                time.sleep(LOOK_SECONDS)
                continue
            lines = fleet_text(name, records, time.time()).splitlines()
            findings = [text for text in map(_finding, records.values()) if text and text not in seen]
            seen.update(findings)
            if as_json:
                terminal.write(f"{json.dumps(document(name, records))}\n")
            elif region is not None:
                _draw(region, lines, findings)
            else:
                for finding in dict.fromkeys(findings):
                    terminal.say(f"found: {finding}")
                if time.monotonic() >= due:
                    due = time.monotonic() + LINE_SECONDS
                    terminal.say(lines[1].strip())
            time.sleep(LOOK_SECONDS)
    except KeyboardInterrupt:
        pass
    finally:
        if region is not None:
            region.clear()
        if not as_json:
            terminal.write(fleet_text(name, records, time.time()))


def _finding(record: Record) -> str:
    return text_of(record, "finding").partition("\n")[0]


def _draw(region: Any, lines: list[str], findings: list[str]) -> None:
    text = importlib.import_module("rich.text").Text
    room = region.height - 2
    if len(lines) > room:
        lines = [*lines[: room - 1], f"  ... and {len(lines) - room + 1} more lines"]
    found = [text.assemble(("\u2717 ", "bold red"), each) for each in dict.fromkeys(findings)]
    region.draw([text(line) for line in [*lines, "Ctrl-C leaves; the fleet goes on"]], above=found)
