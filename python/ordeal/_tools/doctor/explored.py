"""What an exploration shows of the health of its machine, by the names that the doctor has for it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from itertools import chain

from ordeal._base.formatting import counted
from ordeal._base.property_text import json_properties
from ordeal._base.untrusted import source_line
from ordeal._tools.doctor.checks import RUNS_LONG, Check, faults_without_calls, properties_never_reached
from ordeal.result import ExplorationResult
from ordeal.result.exploration import blind_lines
from ordeal.result.uses import unused_remark


def unhealthy(result: ExplorationResult, wanted: Collection[str]) -> list[Check]:
    """Return the warnings about a class whose names are ``wanted``, or all of them."""
    return [check for check in _warnings(result) if "all" in wanted or check.name in wanted]


def _warnings(result: ExplorationResult) -> Iterator[Check]:
    runs = result.total_runs
    for line in blind_lines(result):
        what, _, hint = line.partition(". ")
        yield Check("target modules", "warning", what, hint)
    if remark := unused_remark(result.rules, runs):
        what, _, hint = remark.partition(": ")
        yield Check("rules", "warning", what, hint)
    yield from faults_without_calls([asdict(use) for use in result.faults], runs, called_faults(result))
    if runs >= RUNS_LONG:
        yield from properties_never_reached(json_properties(result.properties))
    if result.unconfirmed:
        what = f"{counted(result.unconfirmed, 'failure')} did not fail again from a fresh machine"
        yield Check("stability", "warning", what, "`ordeal doctor` says what differs when the same seed runs again")


def called_faults(result: ExplorationResult) -> list[str]:
    """Return the faults whose target a line of the target modules calls, as it is written there.

    A line that was reached must call it as an attribute: a name that another module has imported is not the one that a
    fault replaces. One that no run has reached may call it by any name.
    """
    idle = [use.name for use in result.faults if use.runs and not use.calls and not use.is_of_world]
    found = []
    for name in idle:
        named = re.search(r"\((?:\w+\.)+(\w+)", name)
        if named is None:
            continue
        own = re.escape(named[1])
        lines = chain(
            _matching(result.missed_lines, rf"\b{own}\s*\("), _matching(result.covered_lines, rf"\.\s*{own}\s*\(")
        )
        if any(lines):
            found.append(name)
    return found


def _matching(lines: Mapping[str, Collection[int]], pattern: str) -> Iterator[bool]:
    call = re.compile(pattern)
    for file, numbers in lines.items():
        for number in numbers:
            yield call.search(source_line(file, number)) is not None
