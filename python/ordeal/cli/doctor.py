"""``ordeal doctor``: says why a machine finds nothing."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from ordeal._base.formatting import counted
from ordeal._tools.doctor.checks import Advice
from ordeal._tools.doctor.running import examine
from ordeal.cli import terminal
from ordeal.config.flags import DoctorFlags
from ordeal.config.settings_file import load_config_for
from ordeal.errors import WRONG_USE


def run(flags: DoctorFlags) -> int:
    """Examine the classes. Return the exit code: 0, 1 for a warning that fails, 2 for an error."""
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
