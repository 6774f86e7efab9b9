"""Shrinks runs that found new code to the steps that reach it, before they become tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress

import msgspec

import ordeal._native as _native
from ordeal._base.trace_file import Trace
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.driver import Status
from ordeal._engine.execution.recorder import RunRecorder
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.replay.trace_builder import TraceBuilder
from ordeal._engine.storage.state_file import Provenance
from ordeal._hypothesis.internals import skip_types
from ordeal._native import monotonic
from ordeal.errors import OrdealError

#: Time limit for all paths together.
SECONDS = 60.0
#: Usually reached before the time limit, so that the same exploration gives the same paths.
CANDIDATES_A_PATH = 300


class ShrunkPath(msgspec.Struct, frozen=True):
    """A tape that reaches what no path before it does. ``number`` is its index among the tapes given.

    ``finished`` is False when time ran out before it was minimal.
    """

    number: int
    tape: _native.Tape
    finished: bool


def shrink_paths(
    replayer: Replayer, targets: Sequence[Target], tapes: Sequence[_native.Tape], *, seconds: float = SECONDS
) -> list[ShrunkPath]:
    """Make each of ``tapes`` as small as can be while it still reaches the edges that it is the first to reach.

    Tapes are left out that reach nothing new, that reach something else each time, or that do not end well. When
    ``seconds`` are over, when Ctrl-C is pressed, or when other tools leave no way to watch the targets, the remaining
    tapes are returned unchanged. No other monitor may run: it would count the candidates.
    """
    coverage = _native.CoverageMap()  # cleared before each replay, so that it shows that one alone
    # At the novelty level, a branch that once went both ways reports only one of them.
    places = [(target.name, target.path, target.is_package) for target in targets]
    monitor = _native.Monitor(coverage, places, level="counts")
    deadline, covered = monotonic() + seconds, set[int]()
    paths: list[ShrunkPath] = []

    def watch_again() -> None:
        coverage.forget()
        monitor.begin_run(full=True)

    def reached(tape: _native.Tape) -> tuple[_native.Tape, set[int]]:
        """Return the steps that ran in a replay of ``tape`` and the edges that they reached, if it ends well."""
        watch_again()
        with suppress(OrdealError, *skip_types()):
            replayed = replayer.run(tape)
            if replayed.outcome.status is Status.DONE:
                return replayed.tape, set(coverage.keys())
        return tape, set()

    try:
        monitor.start()
    except _native.CoreError:
        return [ShrunkPath(number, tape, finished=False) for number, tape in enumerate(tapes)]
    try:
        for number, tape in enumerate(tapes):
            path = ShrunkPath(number, tape, finished=False)
            try:
                if monotonic() < deadline:
                    _, first = reached(tape)
                    ran, again = reached(tape)
                    # Code that ran only the first time (to fill a cache, to import a module) is not its own.
                    own = first & again - covered
                    if not own:
                        continue
                    shrunk = replayer.shrink_while(
                        ran,
                        lambda replayed, own=own: (  # type: ignore[misc]
                            replayed.outcome.status is Status.DONE and own.issubset(coverage.keys())
                        ),
                        deadline - monotonic(),
                        candidates_max=CANDIDATES_A_PATH,
                        prepare=watch_again,
                    )
                    deadline = -math.inf if shrunk.interrupted else deadline
                    covered |= own
                    path = ShrunkPath(number, shrunk.tape, shrunk.finished)
            except KeyboardInterrupt:
                deadline = -math.inf
            paths.append(path)
    finally:
        monitor.stop()
    return paths


def path_traces(
    replayer: Replayer,
    maker: TraceBuilder,
    targets: Sequence[Target],
    productive: Sequence[tuple[Provenance, _native.Tape]],
    *,
    shrink: bool,
) -> Iterator[Trace]:
    """Yield traces of runs that reached new code; with ``shrink``, only of the steps that reach it."""
    paths = list(productive)
    if paths and shrink:
        shrunk = shrink_paths(replayer, targets, [tape for _, tape in productive])
        paths = [(productive[path.number][0], path.tape) for path in shrunk]
    for origin, tape in paths:
        recorder = RunRecorder()
        replayed = replayer.run(tape, recorder)
        yield maker.make(origin, replayed.tape, recorder)
