"""Replays failing traces in a new process, where nothing is left over from the runs of this one.

The second half runs there: it reads a line with the settings, then one for each trace, and writes a line for each.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Container, Sequence
from contextlib import nullcontext, suppress
from typing import Annotated, Any

import msgspec
import msgspec.structs

import ordeal._native as _native
from ordeal._base.formatting import counted, one_line
from ordeal._base.interpreter import finish, private_streams, start, start_code
from ordeal._base.limits import GRACE_SECONDS, MESSAGE_CHARS_MAX, TRIES_MAX
from ordeal._base.trace_file import Trace
from ordeal._engine.coverage.targets import Target, resolve_targets
from ordeal._engine.execution.bucket import is_in_bucket
from ordeal._engine.execution.class_path import trust
from ordeal._engine.execution.driver import Driver
from ordeal._engine.execution.machine import is_importable
from ordeal._engine.isolation.child import Limits, call_in_fork, can_supervise
from ordeal._engine.isolation.working_folder import present_folder
from ordeal._engine.replay.loading import load_for_replay
from ordeal._engine.replay.rerun import ReplayStatus
from ordeal._engine.triage.findings import Finding
from ordeal._native import monotonic
from ordeal.errors import OrdealError
from ordeal.result import Failure

#: Time limit for importing the class, added to that of each replay.
IMPORT_SECONDS_MAX = 10.0

LEFT_OVER = (
    "something outside the machine (a module global, a file) is left over from earlier runs, "
    "or differs between processes"
)
#: Why a failure that this process always showed counts as flaky, by what a fresh process showed.
REASONS = {
    ReplayStatus.NOT_REPRODUCED: f"did not fail in a fresh process: {LEFT_OVER}",
    ReplayStatus.FAILS_DIFFERENTLY: f"failed in another way in a fresh process: {LEFT_OVER}",
}
#: A failure that this process did not always show, by whether a fresh process did.
HIDDEN = "failed in a fresh process, but not each time in this one"
UNSTEADY = f"did not fail each time, nor in a fresh process: threads or the time decide, or {LEFT_OVER}"

# Finds ordeal where this process found it. Without -P the current folder would come first, and might contain modules
# with names of the standard library.
_START = ("-P", "-c", start_code("ordeal._engine.triage.fresh_interpreter", "main(sys.argv[1:])"))


class FreshReplay(msgspec.Struct, frozen=True):
    """The result of a fresh process; ``status`` is None when it gave no answer, and ``reason`` then says why."""

    status: ReplayStatus | None
    reason: str = ""


#: Why there may be no result.
NO_ANSWER = "it ended without an answer"
GIVEN_UP = FreshReplay(None, "others before it took too long")


def _too_long(seconds: float) -> str:
    return f"it took longer than {seconds:g} s"


class _ReplayAnswer(msgspec.Struct):
    """The answer for one trace, by its number from 0."""

    number: Annotated[int, msgspec.Meta(ge=0)]
    status: ReplayStatus | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        if self.status is None and not self.reason:
            raise ValueError("it says nothing")


class FreshInterpreter:
    """Starts processes in the state that this one had when the object was made: runs may change folder and environment.

    ``seconds`` is the time limit of a replay, in addition to the limits of its rules.
    """

    def __init__(self, *, target_modules: Sequence[str], rule_timeout: float, seconds: float) -> None:
        self._environment = dict(os.environ)
        self._path = list(map(str, sys.path))
        self._arguments = list(sys.argv)
        self._target_modules = list(target_modules)
        self._rule_timeout = rule_timeout
        # A rule ends at up to 1.25 times its limit, and its teardown may take as long.
        # A thousand of these are about the longest time that poll() can wait.
        self._seconds = min(seconds + IMPORT_SECONDS_MAX + max(0.0, rule_timeout) * 2.5, 1800.0)
        self._folder = present_folder()

    def replay(self, traces: Sequence[Trace], *, hung: Container[int] = ()) -> list[FreshReplay]:
        """Replay each trace once, in a process where nothing of the user's ran before. Only Ctrl-C propagates.

        The process is forked for each trace; without fork() each gets a separate process. In those whose numbers are
        in ``hung``, a rule has taken its full limit before, and need not take all of it again.
        """
        requests = [(trace, number in hung) for number, trace in enumerate(traces)]
        if can_supervise():
            return self._replay(requests, GRACE_SECONDS + len(traces) * self._seconds)
        replays: list[FreshReplay] = []
        for request in requests:
            is_over = [replay.reason for replay in replays].count(_too_long(self._seconds)) >= TRIES_MAX
            replays += [GIVEN_UP] if is_over else self._replay([request], self._seconds)
        return replays

    def _replay(self, traces: Sequence[tuple[Trace, bool]], seconds: float) -> list[FreshReplay]:
        settings = {
            "arguments": self._arguments,
            "target_modules": self._target_modules,
            "rule_timeout": self._rule_timeout,
            "seconds": self._seconds,
            "parent": os.getpid(),
        }
        records = [settings, *({"hung": hung, "trace": trace.to_dict()} for trace, hung in traces)]
        request = b"".join(json.dumps(record).encode() + b"\n" for record in records)
        # Options that affect the user's code but are not inherited.
        options = ["-O"] * sys.flags.optimize + ["-B"] * bool(sys.dont_write_bytecode)
        options += ["-X", "dev"] * sys.flags.dev_mode + [f"-W{option}" for option in sys.warnoptions]
        command = [sys.executable or "", *options, *_START, *self._path]
        deadline = monotonic() + seconds
        try:
            process = start(command, pipes=["stdin", "stdout"], folder=self._folder, environment=self._environment)
            output, _ = finish(process, request, seconds=seconds)
        except (OSError, ValueError) as error:
            return [FreshReplay(None, f"it cannot be started ({one_line(str(error))})")] * len(traces)
        is_late = monotonic() >= deadline
        answers = [FreshReplay(None, _too_long(self._seconds) if is_late else NO_ANSWER)] * len(traces)
        for line in output.splitlines():
            # Everything else in that stream is skipped.
            with suppress(ValueError, RecursionError, LookupError):
                answer = msgspec.json.decode(line, type=_ReplayAnswer)
                answers[answer.number] = FreshReplay(answer.status, "" if answer.status else one_line(answer.reason))
        return answers


def fresh_interpreter_of(
    test_class: str, driver: Driver, targets: Sequence[Target], *, seconds: float
) -> FreshInterpreter | None:
    """Make a replayer for failures of ``test_class``, if another process can import the class."""
    if not is_importable(driver.factory, test_class):
        return None
    return FreshInterpreter(
        target_modules=[target.name for target in targets],
        rule_timeout=driver.rule_timeout,
        seconds=seconds,
    )


def confirm_fresh(
    process: FreshInterpreter, findings: Sequence[Finding], failures: Sequence[Failure]
) -> tuple[list[Failure], list[str]]:
    """Replay the failures in fresh processes, and mark those as flaky that do not fail there.

    ``failures`` belong to ``findings``, in their order. Returns all of them, and a sentence about unknown results.
    """
    traced = [(failure.trace, finding) for finding, failure in zip(findings, failures, strict=True) if failure.trace]
    hung = {number for number, (_, finding) in enumerate(traced) if finding.is_timeout and not finding.flaky}
    replays = iter(process.replay([trace for trace, _ in traced], hung=hung))
    judged: list[Failure] = []
    unknown: Counter[str] = Counter()
    for finding, failure in zip(findings, failures, strict=True):
        replay = next(replays) if failure.trace is not None else FreshReplay(None)
        if replay.reason:
            unknown[replay.reason] += 1
        reason = ""
        if replay.status is not None and failure.flaky:
            reason = HIDDEN if replay.status is ReplayStatus.REPRODUCED else UNSTEADY
        elif replay.status is not None:
            reason = REASONS.get(replay.status, "")
        if reason:
            finding.flaky = True
        reasons = "; ".join(filter(None, (failure.flaky_reason, reason)))
        judged.append(msgspec.structs.replace(failure, flaky=failure.flaky or bool(reason), flaky_reason=reasons))
    notes = [f"Not confirmed in a fresh process: {counted(n, 'failure')} ({why})." for why, n in unknown.items()]
    return judged, notes


# ---------------------------------------------------------------------------------------------------------------------
# In the new process, which replays each trace in a fork


class ReplaySettings(msgspec.Struct, frozen=True):
    """What all replays share: see ``FreshInterpreter``. ``parent`` is the id of the requesting process."""

    arguments: list[str]
    target_modules: list[str]
    rule_timeout: float
    seconds: float
    parent: int


class _ReplayRequest(msgspec.Struct):
    """A trace as a record, and whether a rule has taken its full limit in it before."""

    trace: dict[str, Any]
    hung: bool


def main(path: Sequence[str]) -> None:
    """Answer all requests. ``path`` is the module search path."""
    requests, answers = private_streams(0, 1)
    settings = ReplaySettings(**json.loads(requests.readline()))
    sys.path[:] = path
    sys.argv[:] = settings.arguments
    # Once no process is left to read the answers, this ends, and the reaper of its fork with it.
    _native.die_with(settings.parent, group=True)
    hanging = 0
    for number, line in enumerate(requests):
        answer = {"reason": GIVEN_UP.reason}
        if hanging < TRIES_MAX:
            answer, is_late = _replay_apart(line, settings)
            hanging += is_late
        answers.write(json.dumps({**answer, "number": number}).encode() + b"\n")
        answers.flush()


def _replay_apart(line: bytes, settings: ReplaySettings) -> tuple[dict[str, str], bool]:
    """Return the answer of a fork, and True if it took too long. Without forks, this process has one request alone."""
    if not can_supervise():
        return _replay(line, settings), False
    called = call_in_fork(lambda: json.dumps(_replay(line, settings)), settings.seconds, Limits())
    if called.is_late:
        return {"reason": _too_long(settings.seconds)}, True
    return json.loads(str(called.answer)) if called.answer else {"reason": NO_ANSWER}, False


def _replay(line: bytes, settings: ReplaySettings) -> dict[str, str]:
    # The decoder of msgspec refuses half of a pair of surrogates, which messages may hold.
    request = msgspec.convert(json.loads(line), _ReplayRequest)
    try:
        trace = Trace.from_dict(request.trace)
        trust(trace.test_class)  # the class of the exploration that asks
        loaded = load_for_replay(trace, rule_timeout=settings.rule_timeout)
        resolve_targets(settings.target_modules)
        with loaded.running(), loaded.replayer.glancing() if request.hung else nullcontext():
            replayed = loaded.replayer.run(loaded.tape)
    except OrdealError as error:
        return {"reason": error.message[:MESSAGE_CHARS_MAX]}
    failed = replayed.outcome.error
    if not replayed.bucket or failed is None:
        return {"status": ReplayStatus.NOT_REPRODUCED.value}
    bucket = trace.failure.bucket if trace.failure is not None else ""
    is_same = is_in_bucket(failed, bucket, replayed.bucket)
    return {"status": (ReplayStatus.REPRODUCED if is_same else ReplayStatus.FAILS_DIFFERENTLY).value}
