"""``ordeal report html``: makes the page of a run that was kept."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ordeal._engine.execution.class_path import trust_settings
from ordeal._engine.regular_file import read_regular
from ordeal._engine.runs.folder import RESULT_BYTES_MAX, RUNS_PATH, find_run, read_result
from ordeal.cli import terminal
from ordeal.config import DEFAULT_PATH
from ordeal.errors import ConfigError


def run(given: Mapping[str, Any]) -> int:
    """Make the page of the run that the command line names, and return the exit code."""
    name, output = given["run"], given["output"]
    trust_settings(Path(DEFAULT_PATH))
    folder, document = _document(name)
    target = Path(output) if output is not None else folder or Path()
    html = importlib.import_module("ordeal._report.formats.html")
    try:
        path = html.write(document, target, run=folder)
    except OSError as error:
        message = f"cannot write the page into `{target}`: {error.strerror or error}"
        raise ConfigError(message, hint="name another folder with -o") from None
    except (KeyError, TypeError, AttributeError, ValueError):
        message = f"`{name or folder}` holds no report of this version"
        raise ConfigError(message, hint="`ordeal explore` writes a new one") from None
    terminal.write(f"{path}\n")
    return 0


def _document(name: str | None) -> tuple[Path | None, dict[str, Any]]:
    """Return the folder of a run, None for a file, and the report in it."""
    if name is not None and Path(name).is_file():
        try:
            document = msgspec.json.decode(read_regular(Path(name), RESULT_BYTES_MAX), type=dict[str, Any])
        except (OSError, msgspec.DecodeError, RecursionError):
            raise ConfigError(f"`{name}` holds no report", hint="`ordeal explore --json > FILE` writes one") from None
        return None, document
    folder = find_run(name, Path(RUNS_PATH))
    found = read_result(folder)
    if found is None:
        raise ConfigError(f"the run in `{folder}` has no result", hint="it goes on, or it was ended before its report")
    return folder, found
