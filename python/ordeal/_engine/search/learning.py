"""What the steps of a run teach: told by the driver, kept as checkpoints where a step brought something new."""

from __future__ import annotations

from collections.abc import Sequence

from ordeal import _native
from ordeal._engine.execution.driver import INITIALIZE, RULE, Driver
from ordeal._engine.execution.fork_messages import Seen
from ordeal._engine.properties.observations import Observations
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.search.checkpoints import Checkpoints
from ordeal._engine.search.monitoring import Monitoring
from ordeal._engine.search.state import SearchProgress
from ordeal._hypothesis import RunContext
from ordeal._native import monotonic


class Learning:
    """Hears of each step of the runs of one search, in this process and in forked ones, and tells the session.

    Attributes:
        has_new_features: whether the run that is under way brought something new.
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
        self._session = session
        self._monitoring = monitoring
        self._watch = watch
        self._observations = Observations(session, watch)
        self._checkpoints = checkpoints
        self._progress = progress
        self._returning = False  # to a checkpoint of an earlier process, which has no snapshot in this one
        self._return_began = 0.0  # by monotonic()
        self.has_new_features = False

    def begin_run(self) -> None:
        """Nothing was progress from the run yet."""
        self.has_new_features = False
        if self._watch.nearer:
            self._watch.begin_run()
        self._observations.begin_run()

    def begin_return(self) -> None:
        """The run comes to its checkpoint by steps that ran before, as unseen as restoring a snapshot would be."""
        self._return_began = monotonic()
        self._set_returning(True)

    def end_return(self) -> None:
        """The run is over, whether it came back or not."""
        self._set_returning(False)

    def _set_returning(self, returning: bool) -> None:
        self._returning = returning
        self._monitoring.set_paused(returning)

    # -- what the driver tells ----------------------------------------------------------------------------------------

    @property
    def learns_each_step(self) -> bool:
        """Whether this run returns to a checkpoint, or which files the steps touch matters."""
        return self._returning or self._monitoring.learns_files

    @property
    def nearer(self) -> dict[str, None]:
        """Where the names of the properties that came nearer lie until a step has ended."""
        return self._watch.nearer

    def step_done(self, run: RunContext, code: int, state_hash: int) -> None:
        """The driver tells of a step that ended well; what it brought may make it a checkpoint."""
        if self._returning:
            self._step_of_return(run, state_hash)
        else:
            self._learn(run, code, state_hash)

    def new_features(self, run: RunContext) -> None:
        """The step loop tells of a step that brought something new, and nothing else."""
        self.has_new_features = True
        self._keep(run, (), alone=False)

    def run_done(self, run: RunContext | Seen) -> None:
        """The driver tells that a run has ended well, teardown included: what that showed is the last step's merit."""
        self._observations.look(run)
        nearer = self._watch.take_nearer() if self._watch.nearer else ()
        new_features = self._session.finished(len(nearer))
        if new_features and len(self._session.tape) and not self._session.prefix_left:
            self.has_new_features = True
            self._keep(None, nearer, alone=new_features == len(nearer))

    # -- what a run in another process tells --------------------------------------------------------------------------

    def step_seen(self, code: int, state_hash: int, seen: Seen) -> None:
        """A run in another process tells of a step that ended well."""
        self._take_in(seen)
        self._learn(seen, code, state_hash)

    def done_seen(self, seen: Seen) -> None:
        """A run in another process tells that it has ended well, teardown included."""
        self._take_in(seen)
        self.run_done(seen)

    def end_seen(self, seen: Seen) -> None:
        """A run in another process has ended."""
        self._take_in(seen)

    def _take_in(self, seen: Seen) -> None:
        monitor = self._monitoring.monitor
        if monitor is not None:
            monitor.replay(seen.record)
        self._watch.absorb(seen.properties)

    # -- what comes of it ---------------------------------------------------------------------------------------------

    def _step_of_return(self, run: RunContext, state_hash: int) -> None:
        self._session.done(state_hash)
        if not self._session.prefix_left:
            self._set_returning(False)
            spec = self._session.spec
            seconds = monotonic() - self._return_began
            with self._monitoring.hidden():
                self._checkpoints.returned(spec.checkpoint, run, spec.prefix_steps, seconds)

    def _learn(self, run: RunContext | Seen, code: int, state_hash: int) -> None:
        """What a step of ``run`` brought, or of a run in another process."""
        if self._monitoring.learns_files and code & 7 == RULE:
            self._monitoring.learn_files(code >> 3, self._progress)
        self._observations.look(run)
        self._tell_sizes(run, code)
        nearer = self._watch.take_nearer() if self._watch.nearer else ()
        new_features = self._session.done(state_hash, len(nearer)) if nearer else self._session.done(state_hash)
        if new_features and not self._session.replaying_prefix:
            self.has_new_features = True
            self._keep(run if isinstance(run, RunContext) else None, nearer, alone=new_features == len(nearer))

    def _tell_sizes(self, run: RunContext | Seen, code: int) -> None:
        """How many values the bundles hold that the step may have changed. The step loop has told it before."""
        if code & 7 > INITIALIZE:
            return
        definition = self._driver.definition
        rule = (definition.rules if code & 7 == RULE else definition.initializers)[code >> 3]
        for number, name in rule.fills:
            held = run.machine.bundles.get(name, ()) if isinstance(run, RunContext) else range(run.sizes.get(name, 0))
            self._session.bundle_size(number, len(held))

    def _keep(self, run: RunContext | None, nearer: Sequence[str], *, alone: bool) -> None:
        """Keep the state as a checkpoint: for the properties that came ``nearer``, and when not ``alone`` for more."""
        checkpoint, evicted = self._session.keep()
        for superseded in self._watch.superseded(nearer, checkpoint if alone else 0):
            self._session.transfer_energy(superseded, checkpoint)
        if evicted is not None:
            self._checkpoints.forget(evicted)
        if checkpoint and evicted != checkpoint and run is not None:
            # What copying runs of the program's is no merit of a step: there is no such thing where nothing is copied.
            with self._monitoring.hidden():
                self._checkpoints.take(checkpoint, run)
