"""``ordeal env``: describes the environment, for a report of a bug in ordeal and for scripts."""

from __future__ import annotations

import json

from msgspec import structs, to_builtins

from ordeal._base.formatting import JSON_SCHEMA_VERSION
from ordeal._report.formats.document import line
from ordeal._tools.doctor.env import environment
from ordeal.cli import terminal
from ordeal.config.flags import EnvFlags


def run(flags: EnvFlags) -> int:
    """Print it, and return 0."""
    found = environment()
    if flags.json:
        # What the environment holds need not be text: the json module escapes it.
        terminal.write(json.dumps({"schema_version": JSON_SCHEMA_VERSION, **to_builtins(found)}, indent=2) + "\n")
        return 0
    for name, values in structs.asdict(found).items():
        terminal.write(f"{name.replace('_', ' ')}\n")
        rows = values.items() if isinstance(values, dict) else [(each, "") for each in values]
        width = max((len(key) for key, _ in rows), default=0)
        terminal.write("".join(f"  {line(f'{key:{width}}  {value}'.rstrip())}\n" for key, value in rows) or "  none\n")
    return 0
