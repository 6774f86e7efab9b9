"""``ordeal env``: what there is here, for a report of a bug in ordeal and for scripts."""

from __future__ import annotations

from msgspec import structs, to_builtins
from msgspec.json import encode, format  # noqa: A004 - its name

from ordeal._base.formatting import JSON_SCHEMA_VERSION
from ordeal._report.formats.document import line
from ordeal._tools.doctor.env import environment
from ordeal.cli import terminal
from ordeal.config.flags import EnvFlags


def run(flags: EnvFlags) -> int:
    """Print it, and return 0."""
    found = environment()
    if flags.json:
        document = {"schema_version": JSON_SCHEMA_VERSION, **to_builtins(found)}
        terminal.write(format(encode(document)).decode() + "\n")
        return 0
    for name, values in structs.asdict(found).items():
        terminal.write(f"{name.replace('_', ' ')}\n")
        rows = values.items() if isinstance(values, dict) else [(each, "") for each in values]
        width = max((len(key) for key, _ in rows), default=0)
        terminal.write("".join(f"  {line(f'{key:{width}}  {value}'.rstrip())}\n" for key, value in rows) or "  none\n")
    return 0
