"""What runs code under test beside the search: seeds, judging and shrinking failures, traces. Each in a process.

A job says what it has done piece by piece, so that what it came to is known when its process ends before it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from ordeal import _native
from ordeal._engine.buggify_state import many_runs
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.bucket import Bucketer
from ordeal._engine.execution.driver import Driver
from ordeal._engine.execution.settings import Settings
from ordeal._engine.export.example_database import save_to_database
from ordeal._engine.isolation.channel import Channel
from ordeal._engine.isolation.child import Job, Limits
from ordeal._engine.parallel.messages import ITEM, TICK, SentFailure, pack, pack_finding, pack_tape
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.replay.crash_replayer import CrashReplayer, bare_steps
from ordeal._engine.replay.path_shrinking import path_traces
from ordeal._engine.replay.replayer import Replayer, ShrinkProgress
from ordeal._engine.replay.trace_builder import Origin, TraceMaker
from ordeal._engine.search.state import machine_names
from ordeal._engine.storage.trace_file import Trace, TraceFailure
from ordeal._engine.triage.findings import Finding, Findings
from ordeal._engine.triage.seeds import ClassSeeds
from ordeal._hypothesis import GlobalRandoms
from ordeal.result import Failure


@dataclass(frozen=True, slots=True)
class Bench:
    """What all jobs of one exploration have in common."""

    settings: Settings
    driver: Driver
    targets: list[Target]
    limits: Limits

    @property
    def bucketer(self) -> Bucketer:
        """Names the buckets as the workers do."""
        return Bucketer([target.path for target in self.targets])

    @contextmanager
    def running(self, randoms: GlobalRandoms) -> Iterator[None]:
        """Have all that runs of the user's code depend on set up while the block runs."""
        with randoms.managed(), self.driver.watchdog.watching(), PropertyWatch().recording(), many_runs():
            yield

    def findings(self, replayer: Replayer) -> Findings:
        """None yet, of replays by ``replayer``."""
        maker = TraceMaker(
            self.settings.test_class,
            self.settings.seed,
            self.driver.definition,
            self.driver.faults,
            targets=self.targets,
            rule_timeout=self.settings.rule_timeout,
        )
        return Findings(replayer, maker)


def judge(bench: Bench, finding: Finding, *, shrink: bool, of_others: _native.Tape | None) -> Job:
    """Confirm a finding, write it down, and shrink it: so it is not lost when its process ends before that is done.

    Others may have a shorter tape ``of_others``, which counts only when it fails here in the same way, each time.
    """

    def job(channel: Channel, journal: _native.Journal) -> None:
        began = time.monotonic()
        randoms = GlobalRandoms()
        apart = CrashReplayer(bench.driver, bench.bucketer, randoms, bench.limits)
        replayer: Replayer = apart
        if not finding.needs_own_process:
            bench.driver.journal = journal
            bench.driver.isolated = True
            replayer = Replayer(bench.driver, bench.bucketer, randoms)
        # What takes as long as a rule may is not waited for again just to write it down.
        writer = apart.trusting(finding.error, finding.bucket) if finding.is_timeout else replayer
        with bench.running(randoms):
            if replayer is apart and not finding.is_timeout:
                _confirm(apart, finding)
            _tell(channel, bench, writer, finding)
            if of_others is not None and not finding.flaky and _take_over(replayer, finding, of_others):
                _tell(channel, bench, writer, finding)
            seconds = bench.settings.max_shrink_time - 2 * (time.monotonic() - began)
            if not shrink or finding.flaky or seconds <= 0:
                return

            def tell(_number: int, _total: int, before: int, now: ShrinkProgress) -> None:
                channel.send(TICK, before, now.steps, now.candidates)

            findings = bench.findings(replayer)
            findings.restore([finding], {})
            unfinished = list(findings.shrink(seconds, tell))
            _tell(channel, bench, writer, finding, finished=not unfinished)

    return job


def _confirm(replayer: Replayer, finding: Finding) -> None:
    replays = replayer.confirm(finding.tape)
    finding.flaky = any(replayed.bucket != finding.bucket for replayed in replays)
    if not finding.flaky:
        finding.tape = replays[0].tape


def _take_over(replayer: Replayer, finding: Finding, tape: _native.Tape) -> bool:
    """Have a finding go on with a tape of others, if that is as good and shorter."""
    replays = replayer.confirm(tape)
    if any(replayed.bucket != finding.bucket for replayed in replays) or len(replays[0].tape) >= len(finding.tape):
        return False
    finding.tape, finding.improved = replays[0].tape, True
    return True


def _tell(channel: Channel, bench: Bench, writer: Replayer, finding: Finding, *, finished: bool = True) -> None:
    findings = bench.findings(writer)
    findings.restore([finding], {})
    (failure,) = findings.failures()
    tape = pack_tape(finding.tape, machine_names(bench.driver))
    channel.send(ITEM, pack(SentFailure.of(failure)), tape, finding.improved, finished)


def replay_seeds(bench: Bench, folder: Path, done: Sequence[str]) -> Job:
    """Replay the seeds of the class but for those in the files ``done``, and tell of each, with its finding if any."""

    def job(channel: Channel, journal: _native.Journal) -> None:
        randoms = GlobalRandoms()
        bench.driver.journal = journal
        bench.driver.isolated = True
        findings = bench.findings(Replayer(bench.driver, bench.bucketer, randoms))
        names = machine_names(bench.driver)
        seeds = ClassSeeds(folder, bench.settings.test_class, bench.driver)
        with bench.running(randoms):
            known = 0
            for path, outcome in seeds.replays(findings, done, begin=lambda path: channel.send(TICK, str(path))):
                new = findings.all()[known:]
                known += len(new)
                packed = chain.from_iterable(pack_finding(finding, names) for finding in new)
                channel.send(ITEM, pack(outcome), str(path), *packed)

    return job


def write_traces(bench: Bench, productive: Sequence[tuple[Origin, _native.Tape]]) -> Job:
    """Write down the runs that reached new code, each shrunk to the steps that reach it."""

    def job(channel: Channel, journal: _native.Journal) -> None:
        del journal
        randoms = GlobalRandoms()
        replayer = Replayer(bench.driver, bench.bucketer, randoms)
        maker = bench.findings(replayer).maker
        with bench.running(randoms):
            for trace in path_traces(replayer, maker, bench.targets, productive, shrink=bench.settings.shrink):
                channel.send(ITEM, trace.to_json())

    return job


def fill_database(bench: Bench, tapes: Sequence[_native.Tape]) -> Job:
    """Let plain pytest find the failures too; tell why it does not find some of them."""

    def job(channel: Channel, journal: _native.Journal) -> None:
        del journal
        bench.driver.isolated = True
        for reason in save_to_database(bench.driver, tapes).reasons:
            channel.send(ITEM, reason)

    return job


def bare_failure(bench: Bench, finding: Finding) -> Failure:
    """A failure that nothing but its tape is known of, as its process ended before it was written down."""
    steps = bare_steps(bench.driver, finding.tape)
    trace = Trace(
        run_id=finding.origin.run_id,
        seed=bench.settings.seed,
        test_class=bench.settings.test_class,
        steps=steps,
        failure=TraceFailure.of(finding.error, len(steps), finding.bucket),
        rule_timeout=bench.settings.rule_timeout,
    )
    return Failure(
        error=finding.error,
        step=len(steps),
        run_id=finding.origin.run_id,
        active_faults=steps[-1].active_faults if steps else [],
        rule_log=[step.name for step in steps],
        trace=trace,
        error_traceback=finding.error_traceback,
        bucket=finding.bucket,
        flaky=finding.flaky,
    )
