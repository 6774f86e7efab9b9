"""The process of one version: it draws traces of a machine, or runs those that it is sent, and says what each step did.

It answers a request on stdin with JSON on stdout.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

import ordeal._native as _native
from ordeal._base.formatting import describe_error, one_line, safe_lines
from ordeal._base.interpreter import send_and_exit, take_request
from ordeal._base.limits import CHILD_MEMORY_MIB
from ordeal._base.memory_limit import limited_memory
from ordeal._base.trace_file import Trace, step_text
from ordeal._engine.execution.bucket import Bucketer, traceback_text
from ordeal._engine.execution.class_path import load_class, trust
from ordeal._engine.execution.driver import Driver, Status
from ordeal._engine.execution.machine import MachineFactory, make_driver
from ordeal._engine.execution.recorder import RunRecorder
from ordeal._engine.execution.settings import Scope
from ordeal._engine.replay.loading import tape_of
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.replay.trace_builder import TraceBuilder
from ordeal._engine.storage.state_file import Provenance
from ordeal._engine.trace_view.watch import ReplayWatch
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal._native import monotonic
from ordeal._tools.compare.seen import Answer, SeenRun, SeenStep
from ordeal.errors import MachineError, OrdealError
from ordeal.explore import Explorer

#: The first runs of a search find most that is new: several short searches draw more variety than a long one.
SEARCHES = 4
RANDOM_RUNS, RANDOM_STEPS = 150, 30


def main() -> None:
    """Answer the request."""
    request, answers = take_request()
    try:
        if "runs" in request:
            answer = _drawn(request)
        else:
            with _replaying(_load(request)) as (driver, replayer):
                answer = Answer(runs=list(_runs(request["traces"], driver, replayer)))
    except OrdealError as error:
        answer = Answer(error=one_line(error.message, limit=500), hint=one_line(error.hint or "", limit=500))
    except Exception as error:  # noqa: BLE001 - objects of the user's may raise anything when they are looked at
        answer = Answer(error=one_line(f"{type(error).__name__}: {error}", limit=500))
    answers.write(msgspec.json.encode(answer))
    send_and_exit(answers)


def _load(request: Mapping[str, Any]) -> MachineFactory:
    """Return the class, which must be of this version.

    An editable install may find modules before the search path is asked: then the files of today would be compared
    with themselves.
    """
    if request["trusted"]:
        trust(request["class"])
    machine = load_class(request["class"])
    own, other = Path(__file__).parents[2], request["other_folder"]
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not other or not isinstance(file, str):
            continue
        path = Path(file)
        if path.is_relative_to(other) and not path.is_relative_to(own) and "site-packages" not in path.parts:
            raise MachineError(
                f"`{one_line(name)}` is imported from {one_line(other)}, not from this version",
                hint="uninstall an editable install; what no commit holds, such as a submodule, has no other version",
            )
    return machine


def _drawn(request: Mapping[str, Any]) -> Answer:
    """Explore the class from several seeds, and return the traces that reached something new."""
    machine = _load(request)
    # Without targets nothing is new: then what the machine imports is the program.
    targets = request["targets"] or Explorer(machine, workers=1).run(max_runs=1, shrink=False).imported_modules
    found: dict[str, str] = {}
    for number in range(SEARCHES):
        explorer = Explorer(machine, target_modules=targets, seed=request["seed"] + number, workers=1)
        result = explorer.run(
            max_runs=request["runs"] // SEARCHES,
            max_time=request["seconds"] / SEARCHES,
            shrink=False,
            record_traces=True,
        )
        failed = [each.trace for each in result.failures if each.trace is not None]
        found |= {each.content_hash(): each.to_json().decode() for each in (*result.traces, *failed)}
    with _replaying(machine) as (driver, replayer):
        found |= {each.content_hash(): each.to_json().decode() for each in _random_traces(request, driver, replayer)}
    return Answer(traces=[*found.values()])


def _random_traces(request: Mapping[str, Any], driver: Driver, replayer: Replayer) -> Iterator[Trace]:
    """Yield runs of random steps: what two versions do differently need not show in what code is reached."""
    maker = TraceBuilder(
        Scope(test_class=request["class"], progress=None, corpus_dir=None, rule_timeout=None), driver, []
    )
    shape = len(driver.definition.rules), len(driver.definition.initializers), len(driver.faults)
    until = monotonic() + request["seconds"]
    for number in range(RANDOM_RUNS):
        if monotonic() > until:
            return
        recorder = RunRecorder()
        going_on = _native.Continuation(shape, range(len(driver.faults)), RANDOM_STEPS, request["seed"] + number)
        replayed = replayer.follow(_native.Replay(_native.Tape.from_steps([]), going_on), recorder)
        driver.release_error(replayed.outcome)
        yield maker.make(Provenance(number, 0, None, 0), replayed.tape, recorder)


@contextmanager
def _replaying(machine: MachineFactory) -> Iterator[tuple[Driver, Replayer]]:
    driver = make_driver(machine)
    driver.isolated = True
    randoms = GlobalRandoms()
    with randoms.managed(), driver.watching(), limited_memory(CHILD_MEMORY_MIB):
        yield driver, Replayer(driver, Bucketer([]), randoms)


def _runs(traces: list[str], driver: Driver, replayer: Replayer) -> Iterator[SeenRun]:
    for text in traces:
        watch = ReplayWatch(driver.definition.cls, lambda _: False, frozenset())
        try:
            tape = tape_of(Trace.from_json(text.encode()), driver)
        except OrdealError as error:
            yield SeenRun(reason=one_line(error.message))
            continue
        with watch.watching():
            outcome = replayer.run(tape, watch).outcome
        steps = [
            SeenStep(
                one_line(step_text(replace(step, result="", hits=[])), limit=300),
                view.name,
                view.result,
                tuple(view.changes),
                met=(*view.fired, *view.decided),
            )
            for step, view in zip(watch.steps, watch.views, strict=False)
        ]
        raised = outcome.error if outcome.status is Status.FAILED else None
        if steps and raised is not None:
            steps[-1] = msgspec.structs.replace(steps[-1], error=describe_error(raised))
        yield SeenRun(tuple(steps), traceback=safe_lines(traceback_text(raised)) if raised is not None else "")
