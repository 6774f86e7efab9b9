"""``ordeal schema``: prints the JSON Schema of the settings file, or of a file that ordeal writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ordeal._engine.runs.report import schemas
from ordeal.cli import terminal
from ordeal.errors import ConfigError


def run(given: Mapping[str, Any]) -> int:
    """Print the schema that is named. Return the exit code."""
    known = schemas()
    name = given["name"]
    if name not in known:
        raise ConfigError(f"there is no schema of `{name}`", hint=f"name one of {', '.join(known)}")
    terminal.write(json.dumps(known[name], indent=1, sort_keys=True) + "\n")
    return 0
