"""``ordeal mutate doctor``: whether the tests of a project can judge mutants, before any mutant is tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ordeal._base.formatting import counted, one_line
from ordeal._tools.mutation.running import Judgement, judge_with_pytest
from ordeal._tools.mutation.source import Source
from ordeal.cli import terminal
from ordeal.cli.mutation.settings import test_arguments


def run(given: Mapping[str, Any], sources: Sequence[Source]) -> int:
    """Run the tests without a mutant, and say what they are good for. Return 1 if something is to be mended, else 0.

    Raises:
        NoVerdictError: they cannot judge at all.
    """
    found = judge_with_pytest(
        *(sources, []),
        tests=test_arguments(given),
        folder=Path.cwd(),
        workers=1,
        leave_out_failing=given["deselect_failing"],
    )
    unreached = [each.shown for each in sources if each.shown not in found.reached]
    terminal.write("".join(f"{one_line(line)}\n" for line in _lines(found, len(sources), unreached)))
    return int(bool(found.flaky or unreached))


def _lines(found: Judgement, files: int, unreached: Sequence[str]) -> list[str]:
    others = len(found.names) - found.tests - len(found.flaky)
    lines = [f"{counted(found.tests, 'test')} passed twice, and can judge, {found.baseline_seconds:.1f} s"]
    if others:
        lines.append(f"{counted(others, 'test')} cannot: skipped, or expected to fail")
    lines += [f"does not pass each time, and will be left out: {name}" for name in found.flaky]
    reached = files - len(unreached)
    how = "runs in the tests, or when it is imported" if reached == 1 else "run in the tests, or when they are imported"
    lines.append(f"{reached} of {counted(files, 'file')} {how}")
    lines += [f"no test runs or imports {name}" for name in unreached]
    return lines
