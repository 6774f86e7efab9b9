"""What all replays of one exploration share, and how a process prepares for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import ordeal._native as _native
from ordeal._base.buggify_state import many_runs
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.bucket import Bucketer
from ordeal._engine.execution.driver import Driver
from ordeal._engine.execution.machine import is_importable, machine_names
from ordeal._engine.execution.settings import Scope, Settings
from ordeal._engine.isolation.child import Limits
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.replay.crash_replayer import CrashReplayer
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.replay.trace_builder import TraceBuilder
from ordeal._engine.triage.findings import Finding
from ordeal._hypothesis.randoms import GlobalRandoms


class ReplaySetup:
    """The exploration of the replays: its settings, driver and targets, and the limits of its processes.

    Attributes:
        is_importable: whether another process can import the class under test.
        trace_builder: makes traces of this exploration.
    """

    def __init__(self, settings: Settings | Scope, driver: Driver, targets: list[Target], limits: Limits) -> None:
        self.settings = settings
        self.driver = driver
        self.targets = targets
        self.limits = limits
        self.is_importable = is_importable(driver.factory, settings.test_class)
        self.trace_builder = TraceBuilder(settings, driver, targets)

    @property
    def names(self) -> _native.MachineNames:
        """The names of the machine's parts, by which tapes are sent."""
        return machine_names(self.driver)

    def bucketer(self) -> Bucketer:
        """Return a bucketer that names buckets like the search."""
        return Bucketer([target.path for target in self.targets])


class JobContext:
    """A process in which jobs of triage run: the exploring one, or a separate one (``own_process``).

    ``replayer`` and ``randoms`` are the process's own if it already has them and is prepared for runs of the user's
    code. ``journal`` is what a supervisor reads if the process dies before the end of its job.
    """

    def __init__(
        self,
        setup: ReplaySetup,
        *,
        replayer: Replayer | None = None,
        randoms: GlobalRandoms | None = None,
        journal: _native.Journal | None = None,
    ) -> None:
        self.setup = setup
        self.own_process = replayer is None
        self._randoms = randoms or GlobalRandoms()
        self._journal = journal
        self.replayer = replayer or Replayer(setup.driver, setup.bucketer(), self._randoms)

    def isolate(self) -> None:
        """Journal the steps of runs, and treat everything that they raise as a failure."""
        if self.own_process:
            self.setup.driver.journal = self._journal
            self.setup.driver.isolated = True

    @contextmanager
    def running(self) -> Iterator[None]:
        """Set up everything that runs of the user's code depend on, for the duration of the block."""
        if not self.own_process:
            yield
            return
        with self._randoms.managed(), self.setup.driver.watching(), PropertyWatch().recording(), many_runs():
            yield

    def replayer_of(self, finding: Finding) -> Replayer:
        """Return the replayer for ``finding``, with a process for each run if runs end their process or change it."""
        is_apart = finding.needs_own_process or (finding.outside and self.own_process)
        return self.crash_replayer() if is_apart else self.replayer

    def crash_replayer(self) -> CrashReplayer:
        """Return a replayer with a separate process for each tape."""
        return CrashReplayer(self.setup.driver, self.setup.bucketer(), self._randoms, self.setup.limits)
