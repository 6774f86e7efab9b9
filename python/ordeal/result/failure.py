"""A failure as an exploration returns it, and the text that says what happened."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING

import msgspec

from ordeal._base.formatting import (
    PLURALS,
    counted,
    describe_error,
    indented,
    name_list,
    one_line,
    program_lines,
    runnable_program,
    short_names,
)
from ordeal._base.limits import LINE_CHARS_MAX, LISTED_MAX
from ordeal.result.parts import FailurePlace, place_lines

if TYPE_CHECKING:
    from ordeal._base.trace_file import Trace


class Failure(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One distinct failure: all runs that failed in the same place with the same type of exception.

    ``step`` counts from one inside run ``run_id``, which is 0 for the replay of a saved seed. ``rule_log`` names the
    steps in order; ``trace`` replays them from a fresh machine, and ``program`` is the same as Python text.
    ``necessary_faults`` has for each fault of the trace whether the failure needs it, and is ``None`` when that was
    not tried. ``broken_by`` names the rule after which an invariant failed; where
    others turned out to be one failure with it, their steps follow. It is empty when something else failed.
    ``bucket`` is what made failures count as the same one, ``id`` a short name of it for ``known`` and ``--ignore``,
    and ``count`` how many runs of the exploration met it. ``flaky`` means that replaying the trace did not always fail,
    ``flaky_reason`` what a fresh process showed of that, if it was asked; ``shrunk`` means that the trace was shrunk.
    ``place`` is where in the machine and in the code under test it happened, or ``None`` if that is unknown.
    ``struck`` counts what struck in the simulated world of the machine, such as ``{"crash": 1}``; ``None`` without one.
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
    broken_by: list[str] = msgspec.field(default_factory=list)
    count: int = 1
    flaky: bool = False
    flaky_reason: str = ""
    shrunk: bool = False
    trace_path: str | None = None
    seed_path: str | None = None
    program: str = ""
    place: FailurePlace | None = None
    struck: dict[str, int] | None = None

    @property
    def weights(self) -> dict[str, int]:
        """How the swarm weighted the rules of the failing run, 0 for one that was left out; empty without weights.

        The trace does not need this: it names the rules that it takes.
        """
        steps = [] if self.trace is None else self.trace.steps
        drawn = [step.params["weights"] for step in steps if step.kind == "rule_swarm" and "weights" in step.params]
        return dict(drawn[0]) if drawn else {}

    @property
    def id(self) -> str:
        """A short name for the bucket; for all buckets of an invariant's place, if several steps broke it."""
        place, after, _ = self.bucket.rpartition(" [after ")
        return failure_id(place if after and len(self.broken_by) > 1 else self.bucket)

    def __repr__(self) -> str:
        steps = trace_steps(self)
        length = "" if steps is None else f", {steps} steps"
        return f"<Failure {self.id}: {describe_error(self.error)}{length}>"

    def __str__(self) -> str:
        return failure_text(self)


def failure_id(bucket: str) -> str:
    """Return the short name of a bucket, the same in every exploration."""
    return hashlib.sha256(bucket.encode("utf-8", "backslashreplace")).hexdigest()[:12]


def failure_text(failure: Failure) -> str:
    """Return where a failure happened, with which faults, and the steps that led there."""
    name = run_name(failure)
    lines = [f"{name[0].upper()}{name[1:]}, step {failure.step}: {describe_error(failure.error)}"]
    lines += indented(place_lines(failure.place), 2)
    if failure.broken_by:
        lines.append(f"  Invariant broken by: {name_list(failure.broken_by)}")
    if failure.struck is not None:
        lines.append(f"  Struck by: {struck_text(failure.struck)}")
    if failure.active_faults or failure.struck is None:
        lines.append(f"  Active faults: {name_list(short_names(failure.active_faults))}")
    if failure.necessary_faults is not None:
        # Shortened among all faults of the trace, so that names mean the same here as in the line above.
        faults = failure.necessary_faults
        names = [name for name, needed in zip(short_names(list(faults)), faults.values(), strict=True) if needed]
        lines.append(f"  Necessary faults: {name_list(names) if names else 'none (fails without any faults)'}")
    lines.append(f"  Sequence: {sequence_text(failure)}")
    return "\n".join(lines)


def struck_text(struck: Mapping[str, int]) -> str:
    """Return what struck in a simulated world, such as ``1 crash, 2 late packets``."""
    return ", ".join(counted(number, noun, PLURALS.get(noun, "")) for noun, number in struck.items()) or "nothing"


def run_name(failure: Failure) -> str:
    """Return where a failure comes from: a run of this exploration, or a seed."""
    if failure.run_id or failure.seed_path is None:
        return f"run {failure.run_id}"
    return f"seed {one_line(PurePath(failure.seed_path).name.partition('.')[0].removeprefix('seed-'))}"


def sequence_text(failure: Failure) -> str:
    """Return the names of the last rules and faults that led there, such as ``put -> +timeout -> get``."""
    # A swarm configuration is recorded among the steps, but the machine does not execute it.
    entries = [entry for entry in failure.rule_log if not entry.startswith("[swarm ")]
    # Two faults of one kind keep their arguments, as in the line of active faults.
    faults = list(dict.fromkeys(entry[1:] for entry in entries if entry[:1] in ("+", "-")))
    shown = dict(zip(faults, short_names(faults), strict=True))
    steps = [
        f"{entry[0]}{shown[entry[1:]]}" if entry[:1] in ("+", "-") else entry.partition("(")[0] for entry in entries
    ]
    names = [one_line(step) for step in steps[-LISTED_MAX:]]
    if len(steps) > LISTED_MAX:
        names.insert(0, "...")
    return " -> ".join(names) if names else "none"


def trace_steps(failure: Failure) -> int | None:
    """Return how many steps the failure's trace has, or ``None`` without a trace."""
    if failure.trace is None:
        return None
    return len(failure.trace.taken_steps())


def failure_program(failure: Failure) -> str:
    """Return the program of a failure as it runs when it is pasted."""
    return runnable_program(failure.program.split("\n"), "" if failure.trace is None else failure.trace.test_class)


def failure_details(failure: Failure, *, by_path: bool = False) -> list[str]:
    """Return everything that a report says about one failure, including the program that shows it.

    ``by_path`` names the file to replay in place of the id, for files in a folder where `ordeal replay` would not look.
    """
    lines = failure_text(failure).splitlines()
    if failure.flaky_reason:
        lines.append(f"  Flaky: {one_line(failure.flaky_reason, limit=2 * LINE_CHARS_MAX)}")
    if failure.count > 1:
        lines.append(f"  Seen: in {failure.count} runs")
    path = failure.trace_path or failure.seed_path
    by_id = path is not None and not by_path and bool(failure.bucket)
    if failure.bucket:
        lines.append(f"  Id: {failure.id}")
    if failure.program:
        lines += ["  Program:", *indented(program_lines(failure_program(failure)), 4)]
    if path is not None:
        lines.append(f"  Replay: {replay_command(failure.id if by_id else path)}")
    return lines


def replay_command(name: str) -> str:
    """Return the shell command that replays a saved failure, by its id or its path."""
    # A name that begins with a dash would be taken for an option.
    return f"ordeal replay {shlex.quote(f'./{name}' if name.startswith('-') else name)}"
