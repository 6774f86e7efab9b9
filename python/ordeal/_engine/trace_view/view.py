"""What was recorded of a failing trace, step by step: plain values with limits, as sent between processes."""

from __future__ import annotations

import msgspec

from ordeal.result.parts import FailurePlace


class PartChange(msgspec.Struct, array_like=True, frozen=True):
    """A part of the machine that a step changed, by its path; None where it was or is not there."""

    path: str
    before: str | None
    after: str | None


class CodeSpot(msgspec.Struct, array_like=True, frozen=True):
    """A line of a source file, with its text."""

    file: str
    line: int
    code: str


class Swallowed(msgspec.Struct, array_like=True, frozen=True):
    """An exception that reached the machine, which went on."""

    error: str
    place: str


class StepView(msgspec.Struct, kw_only=True):
    """One step. ``new_lines`` had not run before in this trace; ``fired`` says which calls the faults hit.

    ``decided`` is what a simulated world decided in it.
    """

    kind: str
    name: str
    arguments: dict[str, str] = {}
    draws: list[str] = []
    result: str = ""
    faults_on: list[str] = []
    fired: list[str] = []
    decided: list[str] = []
    output: str = ""
    changes: list[PartChange] = []
    new_lines: list[CodeSpot] = []
    new_lines_more: int = 0
    swallowed: list[Swallowed] = []
    failed: bool = False


class SourceView(msgspec.Struct, kw_only=True):
    """The source of a rule or of an invariant, or the lines around the one that ``failed``; 0 for none."""

    name: str
    file: str
    line: int
    text: str
    failed: int = 0


class FailShare(msgspec.Struct, kw_only=True):
    """How often a run that takes the first ``steps`` steps of the trace, then random ones, fails the same way."""

    steps: int
    runs: int
    failed: int


class Variation(msgspec.Struct, array_like=True, frozen=True):
    """What other values an argument of a step may have; steps count from one."""

    step: int
    argument: str
    said: str


class SuspiciousLine(CodeSpot, array_like=True, frozen=True):
    """A line that failing runs take more often than passing ones, and how many of both kinds took it."""

    function: str
    failing: int
    failing_runs: int
    passing: int
    passing_runs: int


class LaneEvent(msgspec.Struct, array_like=True, frozen=True):
    """What happened in the lane of a task or a node: the lane ``to`` which it led, and the step, 0 for none."""

    lane: str
    text: str
    to: str = ""
    step: int = 0


class TraceView(msgspec.Struct, kw_only=True):
    """A recorded trace, or the ``reason`` why there is none.

    ``start`` is the state of the fresh machine; the changes of the steps lead to all later ones. ``place`` is where the
    trace failed, ``decided_at`` are the steps after which a failure became much more likely, and ``variations`` says
    what arguments matter. ``lanes`` is what a simulated world has instead of steps. ``suspicious`` are the lines that
    distinguish failing runs from passing ones, the most suspicious first, and ``passing`` is the nearest passing run.
    """

    reason: str = ""
    start: dict[str, str] = {}
    steps: list[StepView] = []
    place: FailurePlace | None = None
    sources: list[SourceView] = []
    traceback: str = ""
    chances: list[FailShare] = []
    decided_at: list[int] = []
    variations: list[Variation] = []
    lanes: list[LaneEvent] = []
    suspicious: list[SuspiciousLine] = []
    passing: PassingRun | None = None

    def states(self) -> list[dict[str, str]]:
        """Return the state after each step, in order."""
        found, now = [], dict(self.start)
        for step in self.steps:
            for change in step.changes:
                if change.after is None:
                    now.pop(change.path, None)
                else:
                    now[change.path] = change.after
            found.append(dict(now))
        return found


class PassingRun(msgspec.Struct, kw_only=True):
    """The nearest run that passes: the ``step`` that differs, its recording, and its step for each step of the trace.

    The step has another value of ``argument``, or is left out if that is empty. ``at`` counts from zero; it is None for
    a step that the passing run does not take.
    """

    step: int
    argument: str
    view: TraceView
    at: list[int | None]


def changes_between(before: dict[str, str], after: dict[str, str]) -> list[PartChange]:
    """Return what differs, in the order of the state: first what is there now."""
    found = [PartChange(path, _part(before, path), text) for path, text in after.items() if before.get(path) != text]
    return [*found, *(PartChange(path, text, _part(after, path)) for path, text in before.items() if path not in after)]


def _part(state: dict[str, str], path: str) -> str | None:
    """Return the text of a part; an ellipsis where only what is in it has texts, and None where it is not there."""
    inside = f"{path}[", f"{path}."
    return state.get(path, "…" if any(each.startswith(inside) for each in state) else None)
