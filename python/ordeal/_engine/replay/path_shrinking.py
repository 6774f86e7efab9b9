"""Shrinks runs that found new code to the steps that reach it, before they become tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec

import ordeal._native as _native
from ordeal._base.trace_file import Trace
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.driver import Status
from ordeal._engine.execution.recorder import RunRecorder
from ordeal._engine.replay.replayer import Replayed, Replayer
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
    shrinker = _PathShrinker(replayer, targets, monotonic() + seconds)
    try:
        shrinker.start()
    except _native.CoreError:
        return [ShrunkPath(number, tape, finished=False) for number, tape in enumerate(tapes)]
    try:
        paths = [shrinker.path(number, tape) for number, tape in enumerate(tapes)]
    finally:
        shrinker.stop()
    return [path for path in paths if path is not None]


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


class _PathShrinker:
    """Watches replays of tapes. Its own coverage map is cleared before each, so that it shows that one alone."""

    def __init__(self, replayer: Replayer, targets: Sequence[Target], deadline: float) -> None:
        self._replayer = replayer
        self._deadline = deadline
        self._coverage = _native.CoverageMap()
        places = [(target.name, target.path, target.is_package) for target in targets]
        # At the novelty level, a branch that once went both ways reports only one of them.
        self._monitor = _native.Monitor(self._coverage, places, level="counts")
        self._covered: set[int] = set()

    def start(self) -> None:
        self._monitor.start()

    def stop(self) -> None:
        self._monitor.stop()

    def path(self, number: int, tape: _native.Tape) -> ShrunkPath | None:
        """Return the path that ``tape`` becomes; None when it is none."""
        if monotonic() >= self._deadline:
            return ShrunkPath(number, tape, finished=False)
        try:
            first, again = self._replay(tape), self._replay(tape)
        except KeyboardInterrupt:
            self._deadline = -math.inf
            return ShrunkPath(number, tape, finished=False)
        # Code that ran only the first time (to fill a cache, to import a module) is not reached by this path.
        own = first.edges & again.edges - self._covered if first and again else set[int]()
        if again is None or not own:
            return None

        def reaches_its_own(replayed: Replayed) -> bool:
            return replayed.outcome.status is Status.DONE and own.issubset(self._coverage.keys())

        seconds = self._deadline - monotonic()
        shrunk = self._replayer.shrink_while(
            again.tape, reaches_its_own, seconds, candidates_max=CANDIDATES_A_PATH, prepare=self._watch_again
        )
        if shrunk.interrupted:
            self._deadline = -math.inf
        self._covered |= own
        return ShrunkPath(number, shrunk.tape, shrunk.finished)

    def _watch_again(self) -> None:
        self._coverage.forget()
        self._monitor.begin_run(full=True)

    def _replay(self, tape: _native.Tape) -> _ReachedCode | None:
        """Return what a replay of ``tape`` reaches; None when it does not end well."""
        self._watch_again()
        try:
            replayed = self._replayer.run(tape)
        except OrdealError:
            return None
        except skip_types():
            return None
        if replayed.outcome.status is not Status.DONE:
            return None
        return _ReachedCode(replayed.tape, set(self._coverage.keys()))


class _ReachedCode(msgspec.Struct, frozen=True):
    """The steps that ran, and the edges that they reached."""

    tape: _native.Tape
    edges: set[int]
