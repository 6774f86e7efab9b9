"""``ordeal fleet``: shows what the members of a fleet do, read from the store alone, or stops them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ordeal._base.limits import LISTED_MAX
from ordeal._engine.parallel.fleet.board import (
    LAUNCHER,
    Board,
    Record,
    launchers,
    state_of,
)
from ordeal._engine.parallel.fleet.plan import named_store
from ordeal._report.fleet import fleet_text, log_text
from ordeal.cli import terminal
from ordeal.config.flags import FleetFlags
from ordeal.config.options import DEFAULT_PATH, STORE_VARIABLE
from ordeal.config.settings_file import load_config
from ordeal.errors import ConfigError
from ordeal.store.open import shown_address

Records = Mapping[str, Record]


def run(flags: FleetFlags) -> int:
    """Show or end the fleet. Return 0."""
    settings = load_config(needs_tests=False).fleet.store if Path(DEFAULT_PATH).exists() else None
    url = named_store(flags.url, settings)
    if not url:
        raise ConfigError("no store is named", hint=f"write its URL, or set {STORE_VARIABLE}")
    known = launchers(url)
    where = f"in the store {shown_address(url)}"
    if not known:
        raise ConfigError(
            f"no fleet is {where}", hint="start one with `ordeal explore --on`; it stays here when it ends"
        )
    if flags.name and flags.name not in known:
        raise ConfigError(f"no fleet `{flags.name}` is {where}", hint=f"these are: {', '.join([*known][-LISTED_MAX:])}")
    now = time.time()
    running = [name for name in known if state_of({LAUNCHER: known[name]}, now) in ("running", "stopping", "left")]
    if flags.name or len(running) < 2:
        name = flags.name or (running or [*known])[-1]
    else:
        hint = f"add `--name`, for example `--name {running[-1]}`"
        raise ConfigError(f"{len(running)} fleets run {where}: {', '.join(running[-LISTED_MAX:])}", hint=hint)
    board = Board(url, name)
    records = board.all()
    if flags.action == "stop" and state_of(records, time.time()) == "ended":
        terminal.say(f"The fleet {name} has ended.")
    elif flags.action == "stop":
        board.put(LAUNCHER, {**records[LAUNCHER], "state": "stopping"})
        then = "Its members end within seconds; its launcher then replays what they found."
        terminal.say(f"The fleet {name} stops. {then}")
    elif flags.json:
        terminal.write(json.dumps(document(name, records), indent=2) + "\n")
    else:
        text = fleet_text if flags.action == "status" else log_text
        terminal.write(text(name, records, time.time()))
    return 0


def document(name: str, records: Records) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    members = {key: record for key, record in records.items() if key != LAUNCHER}
    return {
        "fleet": name,
        "state": state_of(records, time.time()),
        "launcher": records.get(LAUNCHER, {}),
        "members": members,
    }
