"""The jobs of triage, the same whether they run in the exploring process or in one of their own.

A job reports each result at once, so that it is known even if its process dies later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import ordeal._native as _native
from ordeal._engine.execution.bucket import falls_into
from ordeal._engine.export.example_database import save_to_database
from ordeal._engine.replay.path_shrinking import path_traces
from ordeal._engine.replay.replayer import Replayed, Replayer, ShrinkProgress
from ordeal._engine.replay.trace_builder import Provenance
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.messages import (
    CheckFailed,
    FailureWritten,
    Message,
    NotInDatabase,
    Refuted,
    SeedBegun,
    SeedReplayed,
    Shrinking,
    TraceWritten,
)
from ordeal._engine.triage.seeds import ClassSeeds
from ordeal._engine.triage.setup import JobContext
from ordeal._engine.triage.siblings import Family
from ordeal._hypothesis import skip_types
from ordeal._native import monotonic
from ordeal.errors import OrdealError

Send = Callable[[Message], object]
Job = Callable[[JobContext, Send], None]


def kept(what: str, work: Job) -> Job:
    """Return ``work`` protected from a failed check of the core, which then only loses what was not reported."""

    def job(context: JobContext, send: Send) -> None:
        try:
            work(context, send)
        except _native.CheckError as error:
            send(CheckFailed(what, str(error)))

    return job


def replay_seeds(folder: Path, done: Sequence[str]) -> Job:
    """Replay the seeds of the class except those in the files ``done``, and report each, with its finding if any."""

    def job(context: JobContext, send: Send) -> None:
        context.isolate()
        setup = context.setup
        findings = setup.findings(context.replayer)
        seeds = ClassSeeds(folder, setup)
        with context.running():
            known: set[int] = set()
            for path, outcome in seeds.replays(findings, done, begin=lambda path: send(SeedBegun(str(path)))):
                new = [finding for finding in findings.all() if id(finding) not in known]
                known.update(map(id, new))
                send(SeedReplayed(str(path), outcome, tuple(new)))

    return kept("Replaying the seeds", job)


def triage_finding(
    finding: Finding,
    *,
    shrink: bool,
    seconds: float | None = None,
    shorter: _native.Tape | None = None,
    is_shrunk: bool = False,
    family: Family | None = None,
    is_suspected: bool = False,
) -> Job:
    """Confirm a finding if that is still due, shrink it, and record it.

    A process that may die before that records it first. Others may have a ``shorter`` tape, which counts only if it
    always fails here in the same way; if that one ``is_shrunk``, it is not shrunk again. So do the steps of the first
    of its ``family``, which was shrunk already: they are tried before its own if there are many siblings, so that
    these cost little, and otherwise after them. All that may take ``seconds``, by default those set for shrinking.
    A hang takes its whole limit once besides, when it is minimal. One that ``is_suspected`` may turn out to take less.
    """

    def job(context: JobContext, send: Send) -> None:
        allowed = context.setup.settings.max_shrink_time if seconds is None else seconds
        tick = _Ticks(finding, send)
        replayer = writer = context.replayer_of(finding)
        is_pristine = finding.outside and context.own_process and not finding.needs_own_process
        if is_pristine:
            # No run has left anything in this process before the one that is written down.
            writer = context.replayer
        if finding.is_timeout and context.own_process:
            # If each run takes as long as the limit of a rule, do not wait for another just to record it.
            writer = context.crash_replayer().trusting(finding.error, finding.bucket)
        if not finding.needs_own_process:
            context.isolate()
        with context.running(), tick.told_of(replayer):
            began = monotonic()
            if is_pristine or (finding.needs_own_process and not finding.is_timeout):
                _confirm(replayer, finding)
            if context.own_process and not is_pristine and not is_suspected:
                _write(context, writer, finding, send)
            if shorter is not None and not finding.flaky and _take_over(replayer, finding, shorter):
                finding.shrunk = is_shrunk
                _write(context, writer, finding, send)
                if is_shrunk:
                    return
            if shrink and not finding.flaky and family is not None and family.is_large:
                _take_steps_of(family.first, replayer, finding, began + allowed, exchange=True)
            left = allowed - 2 * (monotonic() - began)
            finished = True
            shrinks = shrink and not finding.flaky and left > 0
            if is_suspected and not shrinks and replayer.hangs(finding.tape, finding.bucket) is None:
                send(Refuted())
                return
            if shrinks:
                finished = _shrink(context, replayer, finding, left, send, tick)
                if is_suspected and finding.flaky:
                    send(Refuted())
                    return
                if family is not None and not family.is_large:
                    _take_steps_of(family.first, replayer, finding, began + allowed, exchange=False)
            elif context.own_process and not is_pristine and not is_suspected:
                return
            _write(context, writer, finding, send, finished=finished)

    return kept(f"Writing down {finding.bucket}", job)


def _confirm(replayer: Replayer, finding: Finding) -> None:
    replays = replayer.confirm(finding.tape)
    finding.flaky = not _all_fall_into(finding.bucket, replays)
    if not finding.flaky:
        finding.tape = replays[0].tape


def _take_over(replayer: Replayer, finding: Finding, tape: _native.Tape) -> bool:
    """Replace the tape of a finding by one of others, if that is as good and shorter."""
    replays = replayer.confirm(tape, took_limit=finding.is_timeout)
    if not _all_fall_into(finding.bucket, replays) or len(replays[0].tape) >= len(finding.tape):
        return False
    finding.tape, finding.improved = replays[0].tape, True
    return True


def _all_fall_into(bucket: str, replays: Sequence[Replayed]) -> bool:
    return all(falls_into(replayed.bucket, bucket) for replayed in replays)


def _take_steps_of(sibling: Finding, replayer: Replayer, finding: Finding, deadline: float, *, exchange: bool) -> None:
    """Replace the tape of a finding by what its sibling needs, if it still fails in its own way.

    With ``exchange``, also try its steps with one of them replaced by the failing step.
    """
    for tape in _native.sibling_tapes(known=sibling.tape, failing=finding.tape, exchange=exchange):
        if monotonic() >= deadline:
            return
        try:
            with replayer.adapted() if finding.is_timeout else nullcontext():
                if not falls_into(replayer.run(tape).bucket, finding.bucket):
                    continue
            replays = replayer.confirm(tape, took_limit=finding.is_timeout)
        except OrdealError:
            continue
        except skip_types():
            continue
        if _all_fall_into(finding.bucket, replays) and len(replays[0].tape) <= len(finding.tape):
            finding.tape = replays[0].tape
            return


class _Ticks:
    """Reports each candidate of a failure, however many times it and runs like it are shrunk."""

    def __init__(self, finding: Finding, send: Send) -> None:
        self._send = send
        self._before = self._steps = len(finding.tape)
        self._earlier = self._now = 0

    def __call__(self, now: ShrinkProgress) -> None:
        """Report one more candidate."""
        if now.candidates < self._now:
            self._earlier += self._now
        self._now, self._steps = now.candidates, min(self._steps, now.steps)
        self.waits(0.0)

    def waits(self, seconds: float) -> None:
        """Report the candidates so far, and that what is left is watched for up to ``seconds``."""
        self._send(Shrinking(self._before, self._steps, self._earlier + self._now, seconds))

    @contextmanager
    def told_of(self, replayer: Replayer) -> Iterator[None]:
        """Report during the block what the replayer watches for its full limit."""
        replayer.watches = self.waits
        try:
            yield
        finally:
            replayer.watches = None


def _shrink(
    context: JobContext,
    replayer: Replayer,
    finding: Finding,
    seconds: float,
    send: Send,
    tick: Callable[[ShrinkProgress], None],
) -> bool:
    """Return whether there was time to make it minimal."""
    try:
        return context.setup.findings(replayer).shrink(finding, seconds, tick)
    except _native.CheckError as error:
        send(CheckFailed(f"Shrinking of {finding.bucket}", str(error)))
        return True


def _write(
    context: JobContext,
    writer: Replayer,
    finding: Finding,
    send: Send,
    *,
    finished: bool = True,
) -> None:
    failure = context.setup.findings(writer).failure(finding)
    send(FailureWritten(failure, finding.tape, improved=finding.improved, finished=finished))


def write_traces(productive: Sequence[tuple[Provenance, _native.Tape]]) -> Job:
    """Record the runs that were kept: those that reached new code shrunk to the steps that reach it."""

    def job(context: JobContext, send: Send) -> None:
        setup = context.setup
        # A sample shows what runs are like.
        shrink = setup.settings.shrink and setup.settings.record_traces != "sample"
        with context.running():
            for trace in path_traces(context.replayer, setup.trace_builder, setup.targets, productive, shrink=shrink):
                send(TraceWritten(trace))

    return kept("Writing traces", job)


def fill_database(tapes: Sequence[_native.Tape]) -> Job:
    """Let plain pytest find the failures too; report why it does not find some of them."""

    def job(context: JobContext, send: Send) -> None:
        if context.own_process:
            context.setup.driver.isolated = True
        for reason in save_to_database(context.setup.driver, tapes).reasons:
            send(NotInDatabase(reason))

    return kept("Filling the database of pytest", job)
