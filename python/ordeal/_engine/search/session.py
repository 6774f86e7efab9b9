"""Makes the core's session, which decides what the runs of a search do."""

from __future__ import annotations

import ordeal._native as _native
from ordeal._engine.execution.driver import Driver
from ordeal._engine.execution.settings import Settings
from ordeal.config.options import core_options_of
from ordeal.swarm.weights import swarm_options_of


def make_session(
    settings: Settings, driver: Driver, coverage: _native.CoverageMap, *, has_targets: bool
) -> _native.Session:
    """Return the core's session, which decides what the runs do."""
    definition = driver.definition
    return _native.Session(
        (len(definition.rules), len(definition.initializers), len(driver.faults)),
        coverage,
        operations=swarm_options_of(definition.cls).operations(rule.name for rule in definition.rules),
        pair_features=not has_targets,
        by_clock=settings.max_runs is None,
        **core_options_of(settings),
    )
