"""What machines said the last time, kept beside the verdicts in ``.ordeal/mutate``: for the page of a report."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from ordeal._base.regular_file import read_regular
from ordeal._base.trace_file import write_atomically
from ordeal._tools.mutation.machines.evidence import Finding, Machine
from ordeal._tools.mutation.machines.running import MachineJudgement
from ordeal._tools.mutation.verdicts import Verdict

_FILE = Path(".ordeal", "mutate", "machines.json")
_BYTES_MAX = 1 << 28


class _Kept(msgspec.Struct):
    findings: list[Finding]
    machines: list[Machine]


def keep(folder: Path, judgement: MachineJudgement) -> None:
    """Write what machines said; a failure to write is ignored."""
    kept = _Kept(list(judgement.findings.values()), judgement.machines)
    with suppress(OSError):
        path = folder / _FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, msgspec.json.encode(kept))


def forget(folder: Path) -> None:
    """Keep nothing: the last run had no machines."""
    with suppress(OSError):
        (folder / _FILE).unlink(missing_ok=True)


def of_last(folder: Path, verdicts: Sequence[Verdict]) -> MachineJudgement | None:
    """Return what machines said of these mutants; None if they did not judge them all."""
    try:
        kept = msgspec.json.decode(read_regular(folder / _FILE, _BYTES_MAX), type=_Kept)
    except (OSError, ValueError, msgspec.MsgspecError, RecursionError):
        return None
    findings = {each.id: each for each in kept.findings}
    if any(each.mutant.id not in findings for each in verdicts):
        return None
    return MachineJudgement(list(verdicts), findings, kept.machines)
