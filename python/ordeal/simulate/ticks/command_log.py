"""The log of commands that a program in production was sent: written line by line, and read to send them again."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ordeal.simulate.errors import SimulationError
from ordeal.simulate.ticks.commands import CommandType, as_fields

_BYTES = "bytes in base64"
_LINE_MAX = 10_000_000


@dataclass(frozen=True, slots=True)
class Sent:
    """One command of a log: when it was sent, in seconds since the first, and what became of it."""

    seconds: float
    command: Any
    outcome: str


class CommandLog:
    """Writes a log. Each command is in the file before it is sent."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def send(self, seconds: float, kind: CommandType, command: Any) -> None:
        """Write a command that is about to be sent."""
        self._write({"at": round(seconds, 6), "command": kind.name, "fields": as_fields(command)})

    def end(self, outcome: str) -> None:
        """Write what became of the last command; empty if it went well."""
        self._write({"outcome": outcome})

    def _write(self, line: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(line, default=_packed) + "\n")
        self._file.flush()


def _packed(value: Any) -> Any:
    if isinstance(value, bytes):
        return {_BYTES: base64.b64encode(value).decode()}
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    try:
        return as_fields(value)
    except TypeError:
        return str(value)


def _unpacked(found: dict[str, Any]) -> Any:
    if list(found) == [_BYTES]:
        return base64.b64decode(found[_BYTES])
    return found


def read_log(path: Path, kinds: Sequence[CommandType]) -> Iterator[Sent]:
    """Yield the commands of a log.

    Raises:
        SimulationError: the file cannot be read, is damaged, or has commands that the machine does not know.
    """
    by_name = {kind.name: kind for kind in kinds}
    waiting: tuple[float, Any] | None = None
    for number, line in enumerate(_lines(path), 1):
        row = _row(path, number, line)
        if waiting is not None:
            yield Sent(*waiting, outcome=str(row.get("outcome", "")))
            waiting = None
        if "command" in row:
            waiting = _command(path, number, row, by_name)
    if waiting is not None:
        yield Sent(*waiting, outcome="unknown")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SimulationError(f"the log {path} cannot be read: {error}", hint="give the path of a log") from error


def _row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line[:_LINE_MAX], object_hook=_unpacked)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, number) from error
    if not isinstance(row, dict):
        raise _damaged(path, number)
    return row


def _damaged(path: Path, number: int) -> SimulationError:
    return SimulationError(
        f"line {number} of the log {path} is damaged", hint="run the test again, which writes it anew"
    )


def _command(path: Path, number: int, row: Mapping[str, Any], kinds: Mapping[str, CommandType]) -> tuple[float, Any]:
    at, name, fields = row.get("at"), row["command"], row.get("fields")
    if isinstance(at, bool) or not isinstance(at, int | float) or not isinstance(fields, dict):
        raise _damaged(path, number)
    kind = kinds.get(name) if isinstance(name, str) else None
    if kind is None:
        known = ", ".join(kinds) or "none"
        raise SimulationError(f"the log {path} has a command {name!r:.100}", hint=f"the machine knows: {known}")
    try:
        return float(at), kind.read(fields)
    except (TypeError, ValueError) as error:
        raise SimulationError(
            f"line {number} of the log {path} is no {name} any more: {error}", hint="the class was changed since"
        ) from error
