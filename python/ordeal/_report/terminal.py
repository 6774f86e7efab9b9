"""The report of an exploration on a terminal: what broke comes first, and figures last."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import click

from ordeal._base.formatting import counted, describe_error, indented, name_list, one_line, program_lines, short_names
from ordeal._base.limits import LINE_CHARS_MAX, LISTED_MAX
from ordeal._report.exploration import ending_lines, found_lines, remaining_blocks, trace_facts
from ordeal.result import ExplorationResult, Failure
from ordeal.result.exploration import coverage_figures, run_figures
from ordeal.result.failure import failure_program, replay_command, run_name, struck_text
from ordeal.result.parts import asserted_label, where_lines

#: A trace is shown as one line where that takes up to five lines of a terminal.
LINE_MAX = 400


def terminal_report(
    results: Sequence[ExplorationResult], *, coloured: bool, all_failures: bool = False, by_path: bool = False
) -> str:
    """Return the report of each class; ``all_failures`` and ``by_path`` are those of `exploration_report`."""
    text = "\n".join(chain.from_iterable(["", *_section(result, all_failures, by_path)] for result in results))
    return f"{text if coloured else click.unstyle(text)}\n"


def _section(result: ExplorationResult, all_failures: bool, by_path: bool) -> list[str]:
    shown = result.failures if all_failures else result.failures[:LISTED_MAX]
    lines = [click.style(one_line(result.test_class), bold=True)]
    for failure in shown:
        lines += ["", *indented(_failure(failure, by_path), 2)]
    # A single failure is shown already.
    verdict = [] if len(result.failures) == 1 else found_lines(result, all_failures=all_failures)
    if not result.failures:
        verdict[0] = click.style(verdict[0], fg="yellow" if result.inconclusive else "green", bold=True)
    verdict += ending_lines(result)
    figures = "; ".join([run_figures(result), *coverage_figures(result)])
    for block in [verdict, [click.style(figures, dim=True)], *remaining_blocks(result)]:
        lines += ["", *indented(block, 2)] if block else []
    return lines


def _failure(failure: Failure, by_path: bool) -> list[str]:
    asserted = () if failure.place is None else failure.place.asserted
    title = describe_error(failure.error)
    if ":" not in title and asserted_label(asserted) == "Asserted":
        title, asserted = f"{title}: {one_line(asserted[0])}", asserted[1:]
    lines = [click.style(title, fg="red", bold=True), *indented(map(one_line, asserted), 2)]
    lines += ["", *indented(program_lines(failure_program(failure)), 4), ""] if failure.program else []
    lines += _needed(failure)
    lines += where_lines(failure.place)
    if failure.place is not None and failure.place.raised_at is None and not failure.place.asserted:
        lines += indented([one_line(failure.place.at.code)] if failure.place.at.code else [], 2)
    if failure.broken_by:
        lines.append(f"Invariant broken by: {name_list(failure.broken_by)}")
    if failure.flaky_reason:
        lines.append(f"Flaky: {one_line(failure.flaky_reason, limit=2 * LINE_CHARS_MAX)}")
    seen = [f"seen in {counted(failure.count, 'run')}"] if failure.count > 1 else []
    lines.append(click.style(", ".join([*trace_facts(failure), run_name(failure), *seen]), dim=True))
    path = failure.trace_path or failure.seed_path
    if path is not None and (by_path or not failure.bucket):
        lines.append(f"Replay: {replay_command(path)}")
    elif path is not None:
        lines.append(f"See each step: {click.style(f'ordeal view {failure.id}', fg='cyan')}")
    word = failure.trace.to_line() if path is not None and failure.trace is not None else ""
    if 0 < len(word) <= LINE_MAX:
        lines.append(click.style(f"Elsewhere: ordeal replay {word}", dim=True))
    return lines


def _needed(failure: Failure) -> list[str]:
    """Return what struck in a simulated world, and on one line which faults were on and which the failure needs."""
    struck = [f"Struck by: {struck_text(failure.struck)}"] if failure.struck else []
    needed = failure.necessary_faults or {}
    faults = list(dict.fromkeys([*failure.active_faults, *needed]))
    if not faults:
        return struck
    shown = dict(zip(faults, short_names(faults), strict=True))
    if failure.necessary_faults is None:
        parts = [_enumerated([shown[name] for name in faults])]
    else:
        kept = [shown[name] for name in faults if needed.get(name)]
        others = [shown[name] for name in failure.active_faults if not needed.get(name)]
        quantity = {1: "needed", 2: "both needed"}.get(len(kept), "all needed")
        parts = [f"{_enumerated(kept)}, {quantity}"] if kept else []
        parts += [f"{_enumerated(others)} on, not needed"] if others else []
    return [*struck, f"Faults: {one_line('; '.join(parts) or 'none needed', limit=2 * LINE_CHARS_MAX)}"]


def _enumerated(names: Sequence[str]) -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
