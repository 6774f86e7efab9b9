"""The jobs of triage, the same whether they run in the exploring process or in another one.

A job reports each result at once, so that it is known even if its process dies later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import ordeal._native as _native
from ordeal._base.formatting import counted, describe_error
from ordeal._base.trace_file import Trace, TraceFailure
from ordeal._engine.execution.bucket import falls_into, traceback_text
from ordeal._engine.execution.recorder import RunRecorder
from ordeal._engine.export.example_database import save_to_database
from ordeal._engine.isolation.channel import ChannelError
from ordeal._engine.replay.crash_replayer import bare_steps
from ordeal._engine.replay.path_shrinking import path_traces
from ordeal._engine.replay.replayer import Replayed, Replayer, ShrinkProgress, ShrinkResult
from ordeal._engine.storage.state_file import Provenance
from ordeal._engine.triage.findings import Finding, Findings
from ordeal._engine.triage.messages import (
    CheckFailed,
    FailureWritten,
    Message,
    NotInDatabase,
    Refuted,
    SeedBegun,
    SeedDone,
    Shrinking,
    TraceWritten,
)
from ordeal._engine.triage.seeds import ClassSeeds
from ordeal._engine.triage.setup import JobContext, ReplaySetup
from ordeal._engine.triage.siblings import Family
from ordeal._hypothesis.internals import skip_types
from ordeal._native import monotonic
from ordeal.errors import OrdealError, TraceError
from ordeal.result import Failure
from ordeal.result.parts import broken_invariant

Send = Callable[[Message], object]
Job = Callable[[JobContext, Send], None]


def kept(what: str, work: Job) -> Job:
    """Return ``work`` whose errors lose only what was not reported. The code under test may have replaced anything."""

    def job(context: JobContext, send: Send) -> None:
        try:
            work(context, send)
        except _native.CheckError as error:
            send(CheckFailed(what, str(error)))
        except Exception as error:
            if isinstance(error, (ChannelError, OrdealError, *skip_types())):
                raise
            send(CheckFailed(what, describe_error(error), is_from_outside=True))

    return job


def replay_seeds(folder: Path, done: Sequence[str]) -> Job:
    """Replay the seeds of the class except those in the files ``done``, and report each, with its finding if any."""

    def job(context: JobContext, send: Send) -> None:
        context.isolate()
        findings = Findings(context.replayer)
        seeds = ClassSeeds(folder, context.setup)
        with context.running():
            known: set[int] = set()
            for path, outcome in seeds.replays(findings, done, begin=lambda path: send(SeedBegun(str(path)))):
                new = [finding for finding in findings.all() if id(finding) not in known]
                known.update(map(id, new))
                send(SeedDone(str(path), outcome, tuple(new)))

    return kept("Replaying the seeds", job)


def triage_finding(
    finding: Finding,
    *,
    shrink: bool,
    seconds: float | None = None,
    until: float = math.inf,
    shorter: _native.Tape | None = None,
    is_shrunk: bool = False,
    family: Family | None = None,
    is_suspected: bool = False,
) -> Job:
    """Confirm a finding if that is still due, shrink it, and record it, within ``seconds`` and before ``until``.

    Others may have a ``shorter`` tape, which counts only if it always fails here in the same way; if it ``is_shrunk``,
    it is not shrunk again. If the ``family`` is large, the steps of its first finding are tried before shrinking, which
    makes siblings cheap, and otherwise afterwards. One that ``is_suspected`` may turn out not to hang. A hang takes its
    whole limit once, in addition, when it is minimal.
    """

    def job(context: JobContext, send: Send) -> None:
        began = monotonic()
        limit = context.setup.settings.max_shrink_time if seconds is None else seconds
        deadline = min(began + limit, until)
        tick = _Ticks(finding, send)
        replayer = writer = context.replayer_of(finding)
        # No run may leave anything in this process before the one that is recorded.
        is_pristine = finding.outside and context.own_process and not finding.needs_own_process
        if is_pristine:
            writer = context.replayer
        if finding.is_timeout and context.own_process:
            # If each run takes as long as the limit of a rule, do not wait for another just to record it.
            writer = context.crash_replayer().trusting(finding.error, finding.bucket)

        def write(*, shrunk: bool = False, faults: dict[str, bool] | None = None, finished: bool = True) -> None:
            failure = _recorded_failure(context.setup, writer, finding, shrunk=shrunk, necessary_faults=faults)
            send(FailureWritten(failure, finding.tape, finished))

        if not finding.needs_own_process:
            context.isolate()
        with context.running(), tick.watching(replayer):
            if is_pristine or (finding.needs_own_process and not finding.is_timeout):
                replays = replayer.confirm(finding.tape)
                finding.flaky = not _all_fall_into(finding.bucket, replays)
                finding.tape = finding.tape if finding.flaky else replays[0].tape
            comes_back = not finding.flaky or _comes_back(replayer, finding, deadline)
            # This process may die or be ended, so it records what is known first.
            is_written = context.own_process and not is_pristine
            if is_written:
                write()
            if shorter is not None and not finding.flaky and _take_over(replayer, finding, shorter):
                write(shrunk=is_shrunk)
                if is_shrunk:
                    return
                is_written = True

            if shrink and not finding.flaky and family is not None and family.is_large:
                _take_steps_of(family.first, replayer, finding, deadline, exchange=True)
            left = deadline - began - 2 * (monotonic() - began)
            if not shrink or not comes_back or left <= 0:
                if is_suspected and replayer.hangs(finding.tape, finding.bucket) is None:
                    send(Refuted())
                elif not is_written:
                    write()
                return

            steps = len(finding.tape)
            result = _shrink(replayer, finding, left, tick)
            if result is None and is_suspected:
                send(Refuted())
                return
            if result is None:
                finding.flaky = True
                write()
                return
            finding.tape = result.tape
            faults = None
            if result.failed_check is not None:
                send(CheckFailed(f"Shrinking of {finding.bucket}", str(result.failed_check)))
            elif not result.interrupted:
                with replayer.adapted() if finding.is_timeout else nullcontext():
                    faults = replayer.ablate(finding.tape, finding.bucket, began + left - monotonic()) or None
                if family is not None and not family.is_large:
                    _take_steps_of(family.first, replayer, finding, deadline, exchange=False)
            is_whole = not result.interrupted and result.failed_check is None
            write(
                shrunk=is_whole or len(result.tape) < steps,
                faults=faults,
                finished=result.finished or not is_whole,
            )
            if result.interrupted:
                raise KeyboardInterrupt

    return kept(f"Writing down {finding.bucket}", job)


def _comes_back(replayer: Replayer, finding: Finding, deadline: float) -> bool:
    """Count in how many replays a flaky finding fails again; return whether those are most, so that it can shrink."""
    replays, again = 0, 0
    # Ten replays say how often a flaky failure comes back.
    while replays < 10 and not finding.is_timeout and monotonic() < deadline:
        replays += 1
        again += falls_into(replayer.run(finding.tape).bucket, finding.bucket)
    if replays:
        finding.flaky_reason = f"it failed the same way in {again} of {counted(replays, 'replay')}"
    return 2 * again > replays


def _recorded_failure(
    setup: ReplaySetup,
    replayer: Replayer,
    finding: Finding,
    *,
    shrunk: bool = False,
    necessary_faults: dict[str, bool] | None = None,
) -> Failure:
    """Return the failure of ``finding`` after running it once more to record what happens."""
    recorder = RunRecorder()
    # That it takes its full limit was seen before.
    with replayer.adapted() if finding.is_timeout else nullcontext():
        replayed = replayer.run(finding.tape, recorder)
    now = replayed.outcome.error if falls_into(replayed.bucket, finding.bucket) else None
    error, text = replayer.written(now) if now is not None else (finding.error, finding.error_traceback)
    step = len(recorder.steps)
    place = replayer.place(finding.tape, error if now is None else now, recorder.last_step)
    trace = setup.trace_builder.make(finding.origin, replayed.tape, recorder, broken_invariant(place))
    trace.failure = TraceFailure.of(error, step, finding.bucket)
    if finding.seed is not None:
        _name_finder(trace, finding.seed)
    return Failure(
        error=error,
        step=step,
        run_id=finding.origin.run_id,
        active_faults=recorder.active_faults,
        rule_log=[recorded.name for recorded in recorder.steps],
        trace=trace,
        necessary_faults=necessary_faults,
        error_traceback=text or traceback_text(error),
        bucket=finding.bucket,
        broken_by=finding.broken_by,
        count=finding.count,
        flaky=finding.flaky or now is None,
        flaky_reason=finding.flaky_reason,
        shrunk=shrunk,
        seed_path=None if finding.seed is None else str(finding.seed),
        program="\n".join(trace.program),
        place=place,
        struck=recorder.struck,
    )


def _name_finder(trace: Trace, seed: Path) -> None:
    """Give a trace the numbers of the run that found its seed: the replay of a seed is not a run."""
    with suppress(TraceError):
        found = Trace.load(seed)
        trace.run_id, trace.edges_discovered = found.run_id, found.edges_discovered


def bare_failure(setup: ReplaySetup, finding: Finding) -> Failure:
    """Return a failure known only by its tape, because its process died before recording it."""
    steps = bare_steps(setup.driver, finding.tape)
    trace = Trace(
        run_id=finding.origin.run_id,
        seed=setup.settings.seed,
        test_class=setup.settings.test_class,
        steps=steps,
        failure=TraceFailure.of(finding.error, len(steps), finding.bucket),
        rule_timeout=setup.settings.rule_timeout,
        max_memory=setup.settings.max_memory,
    )
    if finding.seed is not None:
        _name_finder(trace, finding.seed)
    return Failure(
        error=finding.error,
        step=len(steps),
        run_id=finding.origin.run_id,
        active_faults=steps[-1].active_faults if steps else [],
        rule_log=[step.name for step in steps],
        trace=trace,
        error_traceback=finding.error_traceback,
        bucket=finding.bucket,
        broken_by=finding.broken_by,
        flaky=finding.flaky,
    )


def _take_over(replayer: Replayer, finding: Finding, tape: _native.Tape) -> bool:
    """Replace the tape of a finding by one of others, if that is as good and shorter."""
    replays = replayer.confirm(tape, took_limit=finding.is_timeout)
    if not _all_fall_into(finding.bucket, replays) or len(replays[0].tape) >= len(finding.tape):
        return False
    finding.tape = replays[0].tape
    return True


def _all_fall_into(bucket: str, replays: Sequence[Replayed]) -> bool:
    return all(falls_into(replayed.bucket, bucket) for replayed in replays)


def _take_steps_of(sibling: Finding, replayer: Replayer, finding: Finding, deadline: float, *, exchange: bool) -> None:
    """Replace the tape of a finding by the steps of its sibling, if that fails as before.

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
    def watching(self, replayer: Replayer) -> Iterator[None]:
        """Report during the block what the replayer watches for its full limit."""
        replayer.watches = self.waits
        try:
            yield
        finally:
            replayer.watches = None


def _shrink(
    replayer: Replayer, finding: Finding, seconds: float, tick: Callable[[ShrinkProgress], None]
) -> ShrinkResult | None:
    """Return the smallest failing tape found; None if what should hang does not."""
    if finding.seed is not None and not finding.improved:
        # Most seeds were shrunk before they were saved: then none of the first candidates fails.
        shrinker = _native.Shrinker(finding.tape)
        resists = True
        with replayer.adapted() if finding.is_timeout else nullcontext():
            for _ in range(64):
                candidate = shrinker.candidate()
                if candidate is None:
                    break
                if falls_into(replayer.run(candidate).bucket, finding.bucket):
                    resists = False
                    break
                shrinker.refuse()
        if resists:
            return ShrinkResult(finding.tape, 0, finished=True)
    shrink = replayer.shrink_hang if finding.is_timeout else replayer.shrink
    return shrink(finding.tape, finding.bucket, seconds, tick)


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
