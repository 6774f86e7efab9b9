"""Runs a trace again and compares what happens with what it recorded."""

from __future__ import annotations

import importlib
from dataclasses import replace
from enum import Enum

import msgspec

from ordeal._base.formatting import short_names
from ordeal._base.records_used import records
from ordeal._base.trace_file import Trace, TraceFailure, TraceStep, step_text, versions_now
from ordeal._base.untrusted import error_message, type_name
from ordeal._engine.execution.bucket import bucket_after, falls_into, is_in_bucket, place_of, step_of
from ordeal._engine.execution.class_path import load_object
from ordeal._engine.execution.driver import Status
from ordeal._engine.execution.machine import MachineFactory, source_digest
from ordeal._engine.execution.recorder import ADDRESS, RunRecorder
from ordeal._engine.replay.loading import LoadedTrace, load_for_replay
from ordeal._engine.replay.replayer import Replayed
from ordeal._hypothesis.internals import skip_types
from ordeal.errors import OutdatedTraceError, TraceError
from ordeal.result.parts import FailurePlace, broken_invariant


class ReplayStatus(Enum):
    """How a replay compares to its trace."""

    REPRODUCED = "reproduced"
    FAILS_DIFFERENTLY = "fails_differently"
    NOT_REPRODUCED = "not_reproduced"


class Rerun(msgspec.Struct, frozen=True, eq=False):
    """The result of a replay.

    ``steps`` are those that ran, with arguments and results as text. ``misfits`` counts recorded choices that no longer
    fit their strategies and were replaced; ``unused`` those that nothing drew. ``changed`` says which step ran with
    other values than recorded, as when a strategy makes something else of the same choices; it is empty when none did.
    ``place`` is where it failed, if that was asked for. ``rejected`` says that a failed ``assume()`` ended the run.
    ``versions`` are those of the software that ran it.
    """

    status: ReplayStatus
    error: BaseException | None
    steps: list[TraceStep]
    misfits: int
    rejected: bool
    changed: str = ""
    unused: int = 0
    place: FailurePlace | None = None
    versions: dict[str, str] = msgspec.field(default_factory=versions_now)


def rerun(
    trace: Trace,
    test_class: MachineFactory | None = None,
    *,
    rule_timeout: float | None = None,
    where: bool = False,
) -> Rerun:
    """Run ``trace`` from a fresh machine.

    ``rule_timeout``, in seconds, defaults to the limit that the trace was recorded with, else to the class's. With
    ``where`` the result names where the run failed; to read the values of an ``assert``, it runs once more.

    Raises:
        OutdatedTraceError: a rule, fault or argument of the trace is gone from the class, or a step can no longer run
            and nothing failed; the message names it.
        TraceError: the run asks to be skipped.
        OrdealError: the class cannot be imported.
    """
    if trace.is_schedule:
        return rerun_schedule(trace)
    loaded = load_for_replay(trace, test_class, rule_timeout=rule_timeout)
    recorder = RunRecorder()
    place = None
    try:
        with loaded.running():
            replayed = loaded.replayer.run(loaded.tape, recorder)
            error = replayed.outcome.error if replayed.outcome.status is Status.FAILED else None
            if where and error is not None:
                place = loaded.replayer.place(loaded.tape, error, recorder.last_step)
    except skip_types() as skip:
        raise TraceError(f"the run asks to be skipped: {error_message(skip)}") from None
    if error is None and replayed.rejected:
        ran = {origin for _, _, origin, _ in replayed.tape.steps()}
        number, step = next(each for each in enumerate(trace.taken_steps()) if each[0] not in ran)
        raise OutdatedTraceError(
            f"the trace no longer applies to {trace.test_class}: step {number + 1}, `{step.name}`, cannot run",
            hint="see its precondition and the bundles that it draws from; an @initialize rule runs only at the start",
        )
    return Rerun(
        status=_status(error, replayed.bucket, trace.failure),
        error=error,
        steps=recorder.steps,
        misfits=replayed.misaligned,
        rejected=replayed.outcome.status is Status.REJECTED,
        changed=_changed(trace, recorder.steps, loaded.driver.definition.cls, error),
        unused=replayed.unused,
        place=place,
    )


def shrink(trace: Trace, test_class: MachineFactory | None = None, *, max_time: float = 30.0) -> Trace:
    """Return the smallest trace found that fails like ``trace``, within ``max_time`` seconds.

    Raises:
        TraceError: the trace does not fail, or does not fit the class.
    """
    _refuse_schedule(trace, "shrunk")
    loaded = load_for_replay(trace, test_class)
    with loaded.running():
        first = _failing(loaded, trace, "there is nothing to shrink")
        small = loaded.replayer.shrink(first.tape, first.bucket, max_time)
        recorder = RunRecorder()
        last = loaded.replayer.run(small.tape, recorder)
    error = last.outcome.error
    if error is None or not falls_into(last.bucket, first.bucket):
        raise TraceError(f"the trace of run {trace.run_id} does not fail each time, so it cannot be shrunk")
    with loaded.running():
        place = loaded.replayer.place(last.tape, error, recorder.last_step)
    # The exploration, which knew the targets, may have named another bucket: it stays if the failure is still in it.
    bucket, known = last.bucket, trace.failure.bucket if trace.failure is not None else ""
    if known and is_in_bucket(error, known):
        bucket = bucket_after(place_of(known), step_of(bucket))
    return replace(
        trace,
        steps=recorder.finished_steps(last.tape, loaded.driver.definition),
        failure=TraceFailure.of(error, len(recorder.steps), bucket),
        program=recorder.finished_program(broken_invariant(place)),
        versions=versions_now(),
    )


def ablate_faults(trace: Trace, test_class: MachineFactory | None = None) -> dict[str, bool]:
    """Return for each fault that ``trace`` switches whether its failure needs it; empty when it switches none.

    When any one of several faults suffices, all of them count as necessary: without them the failure is gone. Another
    run may reach the same failure with other faults. Names are as short as in reports.

    Raises:
        TraceError: the trace does not fail, or does not fit the class.
    """
    _refuse_schedule(trace, "ablated")
    loaded = load_for_replay(trace, test_class)
    with loaded.running():
        first = _failing(loaded, trace, "no fault is to blame")
        faults = loaded.replayer.ablate(first.tape, first.bucket) or {}
    return dict(zip(short_names(list(faults)), faults.values(), strict=True))


def rerun_schedule(trace: Trace) -> Rerun:
    """Run the schedule of a simulated test again.

    Raises:
        OutdatedTraceError: what the trace names is not a simulated test any more.
        TraceError: the test needs fixtures, or the trace is damaged.
        OrdealError: the test cannot be imported.
    """
    found = load_object(trace.test_class)
    # Imported late: most traces are of machines.
    test = importlib.import_module("ordeal.simulate.runtime.testing").test_of(found)
    if test is None:
        raise OutdatedTraceError(
            f"`{trace.test_class}` is not a simulated test", hint="decorate it with `@simulate.test` again"
        )
    with records.replaying(trace):
        outcome = test.replay(trace)
    status = _status(outcome.error, outcome.bucket, trace.failure)
    return Rerun(status=status, error=outcome.error, steps=list(trace.steps), misfits=0, rejected=False)


def _refuse_schedule(trace: Trace, what: str) -> None:
    if trace.is_schedule:
        raise TraceError(
            f"the trace of a simulated test cannot be {what}",
            hint="it holds only the decisions that the failure needs: the test shrank it when it was found",
        )


def _failing(loaded: LoadedTrace, trace: Trace, so: str) -> Replayed:
    replayed = loaded.replayer.run(loaded.tape)
    if not replayed.bucket:
        raise TraceError(f"the trace of run {trace.run_id} does not fail, so {so}")
    return replayed


def _status(error: BaseException | None, bucket: str, recorded: TraceFailure | None) -> ReplayStatus:
    if error is None:
        return ReplayStatus.NOT_REPRODUCED
    if recorded is not None and recorded.bucket == bucket:
        return ReplayStatus.REPRODUCED
    if recorded is None or type_name(type(error)) != recorded.error_type:
        return ReplayStatus.FAILS_DIFFERENTLY
    if recorded.bucket and not is_in_bucket(error, recorded.bucket, bucket):
        return ReplayStatus.FAILS_DIFFERENTLY
    return ReplayStatus.REPRODUCED


def _changed(trace: Trace, ran: list[TraceStep], cls: type, error: BaseException | None) -> str:
    """Describe the first step that ran with other values, or say that what passes is no longer the same machine."""
    recorded = trace.taken_steps()
    for number, (before, now) in enumerate(zip(recorded, ran, strict=False), start=1):
        # The recorded run failed in its last step, so the body of that step may well draw something else.
        drawn_alike = number == len(recorded) or before.draws == now.draws
        has_texts = not before.choices or before.params or before.draws  # the one line of a trace has none
        if has_texts and (_values(before) != _values(now) or not drawn_alike):
            return f"step {number} ran as {step_text(replace(now, result=''))}, the trace has {step_text(before)}"
    # Without the assertion that failed, an unrepaired program passes.
    is_same = not trace.machine or trace.machine == source_digest(cls)
    return "" if is_same or error is not None else "it passes; the machine changed since"


def _values(step: TraceStep) -> dict[str, str]:
    """Return the arguments as text, without what differs between two equal objects."""
    text = step.text or {name: repr(value) for name, value in step.params.items()}
    return {name: ADDRESS.sub("", value) for name, value in text.items()}
