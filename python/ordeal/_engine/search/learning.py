"""Learns from the steps of a run, which the driver reports, and from what the program compares.

Steps that brought something new become checkpoints; constants and compared values are drawn again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import ordeal._native as _native
from ordeal._engine.coverage.cmplog import Cmplog
from ordeal._engine.coverage.constants import SourceConstants
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.driver import INITIALIZE, RULE, Driver, RunListener, unpacked
from ordeal._engine.execution.fork_messages import Seen
from ordeal._engine.execution.fork_server import ForkedRunListener
from ordeal._engine.properties.observations import Observations
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.search.checkpoints import Checkpoints, KeptState
from ordeal._engine.search.ledger import STEP
from ordeal._engine.search.monitoring import Monitoring
from ordeal._engine.search.state import SearchProgress
from ordeal._engine.search.state_numbers import number_paths
from ordeal._hypothesis.run_context import RunContext
from ordeal._native import monotonic

if TYPE_CHECKING:
    from ordeal._engine.replay.replayer import Replayer

#: The program may have replaced that of the builtins in a step.
_count = len

#: What aids cost, by profiles of five libraries on a busy machine. A step of a replay that observes comparisons takes
#: as long as three others. In the time of an event two characters are read for their constants. To rewrite a function
#: takes as long as 500 events and 3 for each character.
OBSERVED_STEPS = 3
REPLAYED_STEPS = 25  # before the length of the replay is known
CHARS_OF_EVENT = 2
PACKAGE = 10_000  # to find its files
FUNCTIONS = 1_000  # to find those of the targets that have run
REWRITTEN = 500
REWRITTEN_CHAR = 3


class Learning(RunListener, ForkedRunListener):
    """Receives each step of the runs of one search, from this process or forked ones, and reports to the session.

    Attributes:
        has_new_features: whether the current run has brought something new, besides larger numbers: these never end.
        on_the_way: the state to which the current run went back last, if it was copied.
    """

    def __init__(
        self,
        driver: Driver,
        session: _native.Session,
        monitoring: Monitoring,
        watch: PropertyWatch,
        checkpoints: Checkpoints,
        progress: SearchProgress,
    ) -> None:
        self._driver = driver
        self._driver.numbers = _native.StateNumbers()  # it may have served another search before
        self._session = session
        self._monitoring = monitoring
        self._watch = watch
        self._observations = Observations(session, watch)
        self._checkpoints = checkpoints
        self._progress = progress
        self._begun = False
        self._returning = False  # by steps that ran before
        self._steps_again = 0  # how many, after a step back
        self._keeps_return = False  # the state that it leads to, of a checkpoint without a snapshot in this process
        self._goes_again = False  # over the steps that a step back left
        self._return_began = 0.0  # by monotonic()
        self.on_the_way: KeptState | None = None
        self.has_new_features = False

    def begin_run(self) -> None:
        """Begin a run that has made no progress yet."""
        self.has_new_features = self._goes_again = False
        self.on_the_way = None
        if self._watch.nearer:
            self._watch.begin_run()
        self._observations.begin_run()
        if not self._begun:
            self._watch_numbers(self._progress.aids.numbers)  # of a search that was resumed
            self._begun = True

    def _watch_numbers(self, paths: Sequence[str]) -> None:
        for path in paths:
            self._driver.numbers.add(path.split("."))

    def begin_return(self) -> None:
        """Begin returning to a checkpoint by steps that ran before, hidden as restoring a snapshot would be."""
        self._return_began = monotonic()
        self._keeps_return = True
        self._set_returning(True)

    def begin_again(self) -> None:
        """Begin going over the steps of the run that a step back left, hidden if there are any."""
        self._keeps_return = False
        self._goes_again = True
        self._return_began = monotonic()
        if self._watch.nearer:
            self._watch.begin_run()
        self._observations.begin_run()
        self._steps_again = self._session.prefix_left
        self._set_returning(self._steps_again > 0)

    def end_return(self) -> None:
        """End the run, whether it reached its checkpoint or not."""
        if self._returning:
            self._set_returning(False)

    def _set_returning(self, returning: bool) -> None:
        self._returning = returning
        self._monitoring.set_paused(returning)

    # -- reports of the driver -----------------------------------------------------------------------------------------

    @property
    def learns_each_step(self) -> bool:
        """Whether the files that steps touch matter."""
        return self._monitoring.learns_files

    @property
    def nearer(self) -> dict[str, None]:
        """The names of the properties that came nearer in the current step."""
        return self._watch.nearer

    def step_done(self, run: RunContext, code: int, state_hash: int) -> None:
        """Learn from a step that ended well; it may become a checkpoint."""
        if self._returning:
            self._step_of_return(run, state_hash)
        else:
            self._learn(run, code, state_hash)

    def returned(self, run: RunContext) -> None:
        """Begin to learn: what follows is new."""
        self._arrive(run)

    def new_features(self, run: RunContext) -> None:
        """Learn from a step that brought something new; the step loop reports no others."""
        self.has_new_features |= not self._session.only_climbed
        self._keep(run, (), alone=False)

    def run_done(self, run: RunContext | Seen) -> None:
        """Learn from a run that ended well, teardown included, which is credited to the last step."""
        spec, aids = self._session.spec, self._progress.aids
        if spec.run_id >= aids.numbers_from and not spec.checkpoint and isinstance(run, RunContext):
            found = number_paths(run.machine)
            self._watch_numbers(found)
            aids.numbers, aids.numbers_from = list(dict.fromkeys([*aids.numbers, *found])), 2 * spec.run_id
        self._observations.look(run)
        nearer = self._watch.take_nearer() if self._watch.nearer else ()
        new_features = self._session.finished(len(nearer))
        if new_features and len(self._session.tape) and not self._session.prefix_left:
            self.has_new_features |= not self._session.only_climbed
            self._keep(None, nearer, alone=new_features == len(nearer))

    # -- reports of a run in another process ---------------------------------------------------------------------------

    def step_seen(self, code: int, state_hash: int, seen: Seen) -> None:
        """Learn from a step that ended well in another process."""
        if self._returning:
            self._step_of_return(None, state_hash)
            return
        self._take_in(seen)
        self._learn(seen, code, state_hash)

    def done_seen(self, seen: Seen) -> None:
        """Learn from a run that ended well in another process, teardown included."""
        self._take_in(seen)
        self.run_done(seen)

    def end_seen(self, seen: Seen) -> None:
        """Learn from a run that ended in another process."""
        self._take_in(seen)

    def _take_in(self, seen: Seen) -> None:
        monitor = self._monitoring.monitor
        if monitor is not None:
            monitor.replay(seen.record)
        self._watch.absorb(seen.properties)

    # -- what comes of it ---------------------------------------------------------------------------------------------

    def _step_of_return(self, run: RunContext | None, state_hash: int) -> None:
        self._session.done(state_hash)
        if not self._session.prefix_left:
            self._arrive(run)

    def _arrive(self, run: RunContext | None) -> None:
        """Show what follows, and keep the state if a checkpoint lacks it; ``run`` is None in another process."""
        seconds = monotonic() - self._return_began
        if run is not None and self._goes_again:
            # Still hidden, like the steps that lead here.
            copied = self._checkpoints.take_on_the_way(run, self._steps_again, seconds)
            if copied is not None:
                self.on_the_way = KeptState(copied, _count(self._session.tape))
        self._set_returning(False)
        if self._keeps_return and run is not None:
            spec = self._session.spec
            with self._monitoring.hidden():
                self._checkpoints.returned(spec.checkpoint, run, spec.prefix_steps, seconds)

    def _learn(self, run: RunContext | Seen, code: int, state_hash: int) -> None:
        """Report what a step of ``run``, or of a run in another process, brought."""
        kind, number = unpacked(code)
        if self._monitoring.learns_files and kind == RULE:
            self._monitoring.learn_files(number, self._progress)
        self._observations.look(run)
        if kind <= INITIALIZE:
            # The sizes of the bundles that the step may have changed. The step loop has reported them already.
            definition = self._driver.definition
            for bundle, name in (definition.rules if kind == RULE else definition.initializers)[number].fills:
                size = run.sizes.get(name, 0) if isinstance(run, Seen) else _count(run.machine.bundles.get(name, ()))
                self._session.bundle_size(bundle, size)
        if isinstance(run, RunContext):
            self._driver.numbers.look(run.machine, self._session)
        nearer = self._watch.take_nearer() if self._watch.nearer else ()
        new_features = self._session.done(state_hash, len(nearer)) if nearer else self._session.done(state_hash)
        if new_features and not self._session.replaying_prefix:
            self.has_new_features |= not self._session.only_climbed
            self._keep(run if isinstance(run, RunContext) else None, nearer, alone=new_features == len(nearer))

    def _keep(self, run: RunContext | None, nearer: Sequence[str], *, alone: bool) -> None:
        """Keep the state as a checkpoint, for the properties that came ``nearer``, and unless ``alone`` for more."""
        checkpoint, evicted = self._session.keep()
        for superseded in self._watch.superseded(nearer, checkpoint if alone else 0):
            self._session.transfer_energy(superseded, checkpoint)
        if evicted is not None:
            self._checkpoints.forget(evicted)
        if checkpoint and evicted != checkpoint and run is not None:
            # What copying runs of the program is not credited to the step: without copies it would not run.
            with self._monitoring.hidden():
                self._checkpoints.keep(checkpoint, run, _count(self._session.tape))


class Constants:
    """The constants in the source of the targets, which draws use: read file by file."""

    def __init__(self, session: _native.Session, targets: Sequence[Target], progress: SearchProgress) -> None:
        self._session = session
        self._targets = targets
        self._progress = progress
        self._files: SourceConstants | None = None

    def price(self) -> int | None:
        """Return the price of the next file, or of finding those of packages."""
        if self._files is None:
            if packages := sum(target.is_package for target in self._targets):
                return packages * PACKAGE
            self._files = SourceConstants(self._targets, self._progress.aids.files)
        chars = self._files.next_chars()
        return None if chars is None else 1 + chars // CHARS_OF_EVENT

    def buy(self) -> int:
        """Add the constants of the next file."""
        price = self.price()
        if self._files is None:
            self._files = SourceConstants(self._targets, self._progress.aids.files)
            return price or 0
        self._progress.aids.files += 1
        for value in self._files.read():
            self._session.add_constant(value)
        return price or 0


class Comparisons:
    """The comparisons that a program makes in replays of runs: rewrites a function, observes a replay, and so on."""

    name = "comparisons"

    def __init__(
        self,
        session: _native.Session,
        targets: Sequence[Target],
        replayer: Replayer,
        monitoring: Monitoring,
        progress: SearchProgress,
    ) -> None:
        self._session = session
        self._targets = targets
        self._replayer = replayer
        self._monitoring = monitoring
        self._progress = progress
        self._tracing: Cmplog | None = None
        self._chars: int | None = None  # of the function to rewrite next; None for a replay

    def price(self) -> int | None:
        """Return the price of the next function, or of a replay; None while runs try what the latest replay showed.

        The first thing to buy is finding the functions.
        """
        if self._monitoring.monitor is None or not self._session.wants_comparisons:
            return None
        aids = self._progress.aids
        if self._tracing is None:
            if self.name not in aids.paid:
                return FUNCTIONS
            self._tracing = self._find_functions()  # a search that was resumed has paid
        self._chars = self._tracing.price() if aids.rewrites or not self._tracing.watches else None
        if self._chars is not None:
            return REWRITTEN + self._chars * REWRITTEN_CHAR
        return self._replay_price(REPLAYED_STEPS) if self._tracing.watches else None

    def _find_functions(self) -> Cmplog:
        assert self._monitoring.monitor is not None
        return Cmplog(self._targets, self._monitoring.monitor, self._progress.aids.functions)

    def _replay_price(self, steps: int) -> int:
        """Return the expected cost of observing a run of this many steps, by the cost of earlier ones."""
        assert self._monitoring.monitor is not None
        step = STEP + self._monitoring.monitor.events // max(1, self._progress.tally.steps)
        return OBSERVED_STEPS * step * steps

    def buy(self) -> int:
        """Rewrite the function, or replay a run that the session names and pass it the compared values."""
        aids = self._progress.aids
        if self._tracing is None:
            self._tracing = self._find_functions()
            return FUNCTIONS
        aids.rewrites = self._chars is None
        if self._chars is not None:
            aids.functions.append(self._tracing.rewrite())
            return REWRITTEN + self._chars * REWRITTEN_CHAR
        tape = self._session.tape_to_watch
        with self._monitoring.hidden():
            compared = self._tracing.gather(self._replayer.follow, tape)
        self._session.learn_comparisons(compared)
        return self._replay_price(_count(tape))
