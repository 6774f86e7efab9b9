"""``ordeal doctor``: says why a machine finds nothing; ``ordeal env``: describes the environment."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from msgspec import structs, to_builtins

from ordeal._base.formatting import JSON_SCHEMA_VERSION, aligned, counted
from ordeal._report.formats.document import line
from ordeal._tools.doctor.checks import Advice
from ordeal._tools.doctor.env import environment
from ordeal._tools.doctor.running import examine
from ordeal.cli import terminal
from ordeal.config.flags import DoctorFlags, EnvFlags
from ordeal.config.settings_file import load_config_for
from ordeal.errors import WRONG_USE


def run(flags: DoctorFlags | EnvFlags) -> int:
    """Examine the classes, or print the environment. Return the exit code."""
    return _print_environment(flags) if isinstance(flags, EnvFlags) else _examine(flags)


def _examine(flags: DoctorFlags) -> int:
    """Examine the classes. Return 1 for a warning that fails, 2 for an error."""
    config = load_config_for(flags.classes, flags.config)
    fail_on = {*config.health.fail_on, *flags.fail_on}
    checks: list[Advice] = []
    subject = None
    for check in examine(config, Path.cwd()):
        checks.append(check)
        if flags.json or (check.status == "ok" and not flags.verbose):
            continue
        if check.subject != subject:
            subject = check.subject
            terminal.write(f"{subject or 'environment'}\n")
        said = f": {check.message}" if check.message else ""
        terminal.write(f"  ok: {check.name}{said}\n" if check.status == "ok" else f"  {check.status}{said}\n")
        if check.hint:
            terminal.write(f"    hint: {check.hint}\n")
    worst = {check.status for check in checks}
    ok = worst <= {"ok"}
    if flags.json:
        listed = [dataclasses.asdict(check) for check in checks]
        terminal.write(json.dumps({"ok": ok, "checks": listed}, indent=2) + "\n")
    else:
        passed = sum(check.status == "ok" for check in checks)
        bad = len(checks) - passed
        terminal.write(f"{counted(passed, 'check')} passed" + (f", {bad} did not\n" if bad else "\n"))
    if "error" in worst:
        return WRONG_USE
    named = {check.name for check in checks if check.status == "warning"}
    strict = flags.strict or "all" in fail_on
    return 1 if (strict and not ok) or named & fail_on else 0


def _print_environment(flags: EnvFlags) -> int:
    found = environment()
    if flags.json:
        # What the environment holds need not be text: the json module escapes it.
        terminal.write(json.dumps({"schema_version": JSON_SCHEMA_VERSION, **to_builtins(found)}, indent=2) + "\n")
        return 0
    for name, values in structs.asdict(found).items():
        terminal.write(f"{name.replace('_', ' ')}\n")
        rows = values.items() if isinstance(values, dict) else [(each, "") for each in values]
        terminal.write("".join(f"  {line(each)}\n" for each in aligned(rows)) or "  none\n")
    return 0
