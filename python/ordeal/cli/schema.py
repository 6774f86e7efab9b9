"""``ordeal schema``: prints the JSON Schema of the settings file, or of a file that ordeal writes."""

from __future__ import annotations

import json

from ordeal._engine.runs.report import schemas
from ordeal.cli import terminal
from ordeal.config.flags import SchemaFlags
from ordeal.errors import ConfigError


def run(flags: SchemaFlags) -> int:
    """Print the schema that is named. Return the exit code."""
    known = schemas()
    if flags.name not in known:
        raise ConfigError(f"`{flags.name}` has no schema", hint=f"name one of {', '.join(known)}")
    terminal.write(json.dumps(known[flags.name], indent=1, sort_keys=True) + "\n")
    return 0
