"""A bench of the till, and tapes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit._tools.mutation.machines import Mutants, till

import ordeal._native as _native
from ordeal._engine.replay.loading import tape_of
from ordeal._tools.mutation.interpreters.sitecustomize import real_path
from ordeal._tools.mutation.machines.bench import TraceReplayer
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.operators import PRESETS
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import LiveFunctions
from ordeal.explore import Explorer


@pytest.fixture(scope="session")
def source() -> Source:
    return Source.of(Path(till.__file__), "till.py")


@pytest.fixture(scope="module")
def live() -> LiveFunctions:
    return LiveFunctions({real_path(till.__file__)})


@pytest.fixture(scope="session")
def mutants(source: Source) -> Mutants:
    """The mutants of the drawer, by name, original and replacement."""
    made = mutants_of(source, PRESETS["standard"])
    return {(each.name, each.original, each.replacement): each for each in made if each.name.startswith("Drawer.")}


@pytest.fixture(scope="session")
def tapes() -> list[_native.Tape]:
    """Tapes that pass on the original, the longest first."""
    explorer = Explorer(till.Till, target_modules=[till.__name__], workers=1, seed=1)
    traces = explorer.run(max_runs=30, steps_per_run=12, max_time=600, shrink=False, record_traces=True).traces
    bench = TraceReplayer(till.Till, str(Path.cwd()))
    return sorted((tape_of(trace, bench.driver) for trace in traces), key=lambda tape: -len(tape))


@pytest.fixture
def bench() -> TraceReplayer:
    return TraceReplayer(till.Till, str(Path(till.__file__).parent), 0.2)
