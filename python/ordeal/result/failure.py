"""A failure as an exploration returns it, and the text that says what happened."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from ordeal._engine.formatting import (
    MESSAGE_CHARS_MAX,
    describe_error,
    indented,
    name_list,
    one_line,
    program_lines,
    short_names,
    weights_text,
)

if TYPE_CHECKING:
    from ordeal._engine.storage.trace_file import Trace


_SEQUENCE_STEPS_MAX = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Failure:
    """One distinct failure: all runs that failed in the same place with the same type of exception.

    ``step`` counts from one inside run ``run_id``, which is 0 for the replay of a saved seed. ``rule_log`` names the
    steps in order; ``trace`` replays them from a fresh machine, and ``program`` is the same as Python text.
    ``necessary_faults`` tells for each fault of the trace whether the failure needs it, and is ``None`` when that was
    not tried. ``broken_by`` names the rule after which an invariant failed; where
    others turned out to be one failure with it, their steps follow. It is empty when something else failed.
    ``bucket`` is what made failures count as the same one, ``id`` a short name of it for ``known`` and ``--ignore``,
    and ``count`` how many runs of the exploration met it. ``flaky`` means that replaying the trace did not always fail,
    ``flaky_reason`` what a fresh process showed of that, if it was asked; ``shrunk`` means that the trace was shrunk.
    ``trace_path`` is where the trace was saved, ``seed_path`` where it is kept as a seed, or ``None``.
    """

    error: BaseException
    step: int
    run_id: int
    active_faults: list[str]
    rule_log: list[str]
    trace: Trace | None = None
    necessary_faults: dict[str, bool] | None = None
    error_traceback: str = ""
    bucket: str = ""
    broken_by: list[str] = field(default_factory=list)
    count: int = 1
    flaky: bool = False
    flaky_reason: str = ""
    shrunk: bool = False
    trace_path: str | None = None
    seed_path: str | None = None
    program: str = ""

    @property
    def id(self) -> str:
        """A short name for the bucket; for all buckets of an invariant's place, if several steps broke it."""
        place, after, _ = self.bucket.rpartition(" [after ")
        return failure_id(place if after and len(self.broken_by) > 1 else self.bucket)

    def __str__(self) -> str:
        return failure_text(self)


def failure_id(bucket: str) -> str:
    """Return the short name of a bucket, the same in every exploration."""
    return hashlib.sha256(bucket.encode("utf-8", "backslashreplace")).hexdigest()[:12]


def failure_text(failure: Failure) -> str:
    """Return where a failure happened, with which faults, and the steps that led there."""
    lines = [f"{_run_name(failure)}, step {failure.step}: {describe_error(failure.error)}"]
    if failure.broken_by:
        lines.append(f"  Invariant broken by: {name_list(failure.broken_by)}")
    _, through, what = failure.bucket.rpartition(" [through ")
    if through:
        lines.append(f"  Told apart by: {one_line(what[:-1])}")
    lines.append(f"  Active faults: {name_list(short_names(failure.active_faults))}")
    if failure.necessary_faults is not None:
        lines.append(f"  Necessary faults: {_necessary(failure.necessary_faults)}")
    lines += _swarm_lines(failure)
    lines.append(f"  Sequence: {_sequence(failure.rule_log)}")
    return "\n".join(lines)


def _swarm_lines(failure: Failure) -> list[str]:
    """Return how the failing run weighted its rules. The trace does not need this: it names the rules that it takes."""
    steps = [] if failure.trace is None else failure.trace.steps
    drawn = [step.params["weights"] for step in steps if step.kind == "rule_swarm" and "weights" in step.params]
    return [f"  Swarm: {one_line(weights_text(weights))}" for weights in drawn]


def _run_name(failure: Failure) -> str:
    if failure.run_id or failure.seed_path is None:
        return f"Run {failure.run_id}"
    return f"Seed {one_line(PurePath(failure.seed_path).name.partition('.')[0].removeprefix('seed-'))}"


def _necessary(faults: Mapping[str, bool]) -> str:
    # Shortened among all faults of the trace, so that names mean the same here as in the line above.
    pairs = zip(short_names(list(faults)), faults.values(), strict=True)
    names = [name for name, needed in pairs if needed]
    return name_list(names) if names else "none (fails without any faults)"


def _sequence(rule_log: Sequence[str]) -> str:
    # A swarm configuration is recorded among the steps, but the machine does not execute it.
    entries = [entry for entry in rule_log if not entry.startswith("[swarm ")]
    # Two faults of one kind keep their arguments, as in the line of active faults.
    faults = list(dict.fromkeys(entry[1:] for entry in entries if entry[:1] in ("+", "-")))
    shown = dict(zip(faults, short_names(faults), strict=True))
    steps = [
        f"{entry[0]}{shown[entry[1:]]}" if entry[:1] in ("+", "-") else entry.partition("(")[0] for entry in entries
    ]
    names = [one_line(step) for step in steps[-_SEQUENCE_STEPS_MAX:]]
    if len(steps) > _SEQUENCE_STEPS_MAX:
        names.insert(0, "...")
    return " -> ".join(names) if names else "none"


def trace_steps(failure: Failure) -> int | None:
    """Return how many steps the failure's trace has, or ``None`` without a trace."""
    if failure.trace is None:
        return None
    return len(failure.trace.taken_steps())


def failure_details(failure: Failure) -> list[str]:
    """Return everything that a report says about one failure, including the program that shows it."""
    lines = failure_text(failure).splitlines()
    if failure.flaky_reason:
        lines.append(f"  Flaky: {one_line(failure.flaky_reason, limit=2 * MESSAGE_CHARS_MAX)}")
    if failure.count > 1:
        lines.append(f"  Seen: in {failure.count} runs")
    if failure.bucket:
        lines.append(f"  Id: {failure.id}")
    if failure.program:
        lines += ["  Program:", *indented(program_lines(failure.program), 4)]
    if failure.trace_path is not None:
        lines.append(f"  Trace: {one_line(failure.trace_path)}")
    if failure.seed_path is not None:
        lines.append(f"  Seed: {one_line(failure.seed_path)}")
    return lines
