"""``ordeal fleet``: what the members of a fleet do, from the store alone, and an end to all of them."""

from __future__ import annotations

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
    number_of,
    open_board,
    reached,
    state_of,
)
from ordeal._engine.parallel.fleet.plan import STORE_VARIABLE, named_store
from ordeal._report.fleet import fleet_text, log_text
from ordeal.cli import terminal
from ordeal.cli.fleet.follow import document, follow
from ordeal.config import DEFAULT_PATH, load_config
from ordeal.errors import ConfigError, StoreError
from ordeal.store.open import shown_address


def run(given: Mapping[str, Any]) -> int:
    """Show or end the fleet. Return 0."""
    if given["follow"] and given["action"] != "status":
        message = f"`--follow` is for `ordeal fleet status`, not for `{given['action']}`"
        raise ConfigError(message, hint="drop `--follow`")
    settings = load_config(needs_tests=False).fleet.store if Path(DEFAULT_PATH).exists() else None
    url = named_store(given["url"], settings)
    if not url:
        raise ConfigError("no store is named", hint=f"write its URL, or set {STORE_VARIABLE}")
    name = given["name"] or _newest(url)
    board = open_board(url, name)
    records = reached(board, url)
    if LAUNCHER not in records:
        raise ConfigError(
            f"no fleet `{name}` is in the store {shown_address(url)}",
            hint="without `--name` the fleet that was started last is shown",
        )
    if given["action"] == "stop":
        _stop(board, records, name, url)
    elif given["follow"]:
        follow(board, name, as_json=given["json"])
    elif given["json"]:
        terminal.write(json.dumps(document(name, records), indent=2) + "\n")
    else:
        text = fleet_text if given["action"] == "status" else log_text
        terminal.write(text(name, records, time.time()))
    return 0


def _newest(url: str) -> str:
    try:
        names = open_board(url, "none").fleets()
    except BoardError as error:
        raise StoreError(
            f"the store {shown_address(url)} cannot be read: {error}", hint="see that this machine can reach it"
        ) from error
    if not names:
        raise ConfigError(f"no fleet is in the store {shown_address(url)}", hint="`ordeal explore --on` starts one")
    return names[-1]


def _stop(board: Board, records: dict[str, Record], name: str, url: str) -> None:
    launcher = records[LAUNCHER]
    if state_of(records, time.time()) == "ended":
        terminal.say(f"The fleet {name} has ended.")
        return
    try:
        board.put(LAUNCHER, {**launcher, "state": "stopping", "elapsed": number_of(launcher, "elapsed")})
    except BoardError as error:
        raise StoreError(
            f"the store {shown_address(url)} cannot be written: {error}", hint="see that this user may write to it"
        ) from error
    terminal.say(f"The fleet {name} is told to stop; its members do so within seconds.")
