"""Watches the code of the targets during a search: decides at which level, and directs the swarm by it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

import ordeal._native as _native
from ordeal._base.property_tracker import tracker
from ordeal._engine.coverage.gaps import files_with_gaps
from ordeal._engine.coverage.targets import Source, Target
from ordeal._engine.execution.settings import Settings
from ordeal._engine.search.state import SearchProgress
from ordeal._engine.search.uses import FaultUses
from ordeal.errors import TargetError


class Monitoring:
    """The monitor of one search of a machine with this many ``rules``, and the counters of properties and faults.

    Attributes:
        monitor: watches the targets; None without any.
        learns_files: whether to note in the current run which rule touches which file.
    """

    def __init__(
        self,
        settings: Settings,
        targets: list[Target],
        session: _native.Session,
        coverage: _native.CoverageMap,
        rules: int,
        faults: FaultUses,
    ) -> None:
        self._settings = settings
        self._targets = targets
        self._session = session
        self._coverage = coverage
        self._rules = rules
        self._faults = faults
        self.learns_files = False
        self.monitor: _native.Monitor | None = None
        if targets:
            level = "novelty" if settings.coverage == "novelty" else "counts"
            places = [(target.name, target.path, target.is_package) for target in targets]
            self.monitor = _native.Monitor(coverage, places, level=level)

    @contextmanager
    def started(self) -> Iterator[None]:
        """Watch the targets during the block. Raises TargetError when other tools leave no way to do so."""
        try:
            if self.monitor is not None:
                self.monitor.start()
        except _native.CoreError as error:
            raise TargetError(f"the target modules cannot be watched: {error}") from error
        try:
            yield
        finally:
            if self.monitor is not None:
                self.monitor.stop()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Hide replays during the block: what the exploration learns must not depend on their number.

        So the runs are the same whether a failure is new to this exploration or known from a seed.
        """
        self.set_paused(True)
        try:
            yield
        finally:
            self.set_paused(False)

    def set_paused(self, paused: bool) -> None:
        """Pause or resume counting."""
        tracker.active = not paused
        self._faults.set_paused(paused)
        if self.monitor is not None:
            self.monitor.set_paused(paused)

    def begin_run(self, run_id: int, progress: SearchProgress) -> None:
        """Watch run ``run_id`` as the core decides, by counts and never by time: a seed must always choose the same."""
        monitor, session = self.monitor, self._session
        if monitor is None:
            return
        by_bandit = self._settings.rule_swarm is None and session.learns_swarm
        spec = _native.RunPolicy.watch(run_id, learns_swarm=session.learns_swarm, by_bandit=by_bandit)
        is_due = spec.choose_level and self._settings.coverage == "auto"
        if is_due and _native.RunPolicy.counting_is_expensive(monitor.events, progress.tally.steps):
            monitor.set_level("novelty")
            self._coverage.forget_sample()  # from here on other events count, in fewer runs
        monitor.begin_run(full=spec.full, count_all=spec.count_all)
        self.learns_files = spec.learn_files
        if spec.drop_files:
            monitor.take_files()
        if spec.direct_swarm:
            # Towards rules that touch files with code that no run has reached.
            files = monitor.files()
            paths = {files[file] for touched in progress.rule_files.values() for file in touched}
            with_gaps = files_with_gaps([each for each in self._sources if each.path in paths], monitor.lines())
            near = [False] * self._rules
            for rule, touched in progress.rule_files.items():
                near[rule] = any(files[file] in with_gaps for file in touched)
            if any(near):
                session.direct_swarm(near)

    def learn_files(self, rule: int, progress: SearchProgress) -> None:
        """Note which files ``rule`` has just touched."""
        if self.monitor is not None:
            touched = self.monitor.take_files()
            if touched:
                progress.rule_files.setdefault(rule, set()).update(touched)

    @cached_property
    def _sources(self) -> list[Source]:
        """The sources of the targets, read on first use."""
        return list(dict.fromkeys(source for target in self._targets for source in target.sources()))
