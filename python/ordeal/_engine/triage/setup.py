"""What every replay of one exploration has in common, and how one process gets ready for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ordeal import _native
from ordeal._engine.buggify_state import many_runs
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.bucket import Bucketer
from ordeal._engine.execution.driver import Driver
from ordeal._engine.execution.machine import is_importable, machine_names
from ordeal._engine.isolation.child import Limits
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.replay.crash_replayer import CrashReplayer
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.replay.trace_builder import TraceBuilder
from ordeal._engine.triage.findings import Finding, Findings
from ordeal._hypothesis import GlobalRandoms

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


class TriageSettings(Protocol):
    """What triage is told: by an exploration, or by a search of all short sequences."""

    @property
    def test_class(self) -> str:
        """The class path of the machine."""

    @property
    def seed(self) -> int:
        """That of the exploration, for its traces."""

    @property
    def rule_timeout(self) -> float | None:
        """Seconds that a rule may take, as the user said; None for what the class says."""

    @property
    def max_memory(self) -> int:
        """What a process may take, in MiB, 0 for no limit."""

    @property
    def corpus_dir(self) -> Path | None:
        """The folder of saved seeds."""

    @property
    def shrink(self) -> bool:
        """Whether to make failing traces minimal."""

    @property
    def max_shrink_time(self) -> float:
        """Seconds that shrinking one failure may take."""

    @property
    def confirm_fresh(self) -> bool:
        """Whether to replay failures in a fresh interpreter too."""

    @property
    def record_traces(self) -> bool:
        """Whether the traces of runs that reached new code are wanted."""


class ReplaySetup:
    """The exploration that replays belong to: its settings, driver and targets, and the limits of its processes.

    Attributes:
        is_importable: whether another process can import the class under test.
        trace_builder: writes traces down as those of this exploration, with the sources as they are now.
    """

    def __init__(self, settings: TriageSettings, driver: Driver, targets: list[Target], limits: Limits) -> None:
        self.settings = settings
        self.driver = driver
        self.targets = targets
        self.limits = limits
        self.is_importable = is_importable(driver.factory, settings.test_class)
        self.trace_builder = TraceBuilder(
            settings.test_class,
            settings.seed,
            driver.definition,
            driver.faults,
            targets=targets,
            rule_timeout=settings.rule_timeout,
            max_memory=settings.max_memory,
        )

    @property
    def names(self) -> _native.MachineNames:
        """The parts of the machine by name, as tapes travel."""
        return machine_names(self.driver)

    def bucketer(self) -> Bucketer:
        """Names the buckets as the search does."""
        return Bucketer([target.path for target in self.targets])

    def findings(self, replayer: Replayer) -> Findings:
        """None yet, to be confirmed by ``replayer``."""
        return Findings(replayer, self.trace_builder)


class JobContext:
    """A process in which jobs of triage run: the one that explores, or one of its own (``own_process``).

    ``replayer`` and ``randoms`` are those of the process where it has them already, and the runs of the user's code are
    prepared for there. ``journal`` is what a supervisor reads when the process ends before its job.
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
        """Write the steps of runs to the journal, and take whatever gets out of them for a failure."""
        if self.own_process:
            self.setup.driver.journal = self._journal
            self.setup.driver.isolated = True

    def running(self) -> AbstractContextManager[None]:
        """Have all that runs of the user's code depend on set up while the block runs."""
        return self._prepared() if self.own_process else nullcontext()

    @contextmanager
    def _prepared(self) -> Iterator[None]:
        watchdog = self.setup.driver.watchdog
        with self._randoms.managed(), watchdog.watching(), PropertyWatch().recording(), many_runs():
            yield

    def replayer_of(self, finding: Finding) -> Replayer:
        """What replays ``finding``: each run in a process of its own where that ends with it."""
        return self.crash_replayer() if finding.needs_own_process else self.replayer

    def crash_replayer(self) -> CrashReplayer:
        """Replays each tape in a process of its own."""
        return CrashReplayer(self.setup.driver, self.setup.bucketer(), self._randoms, self.setup.limits)
