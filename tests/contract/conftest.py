"""Gives each check of the contract its engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .projects import Project, importable
from .runners import BranchingRunner, ExplorerRunner, HypothesisRunner


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker of checks that also run with nearly all runs branching from a checkpoint."""
    config.addinivalue_line("markers", "branching: also run under the Explorer with most runs from a checkpoint")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each check under both engines, and a marked one under the branching Explorer as well."""
    if "runner" not in metafunc.fixturenames:
        return
    runners = [pytest.param(HypothesisRunner(), id="hypothesis"), pytest.param(ExplorerRunner(), id="explorer")]
    if metafunc.definition.get_closest_marker("branching") is not None:
        runners.append(pytest.param(BranchingRunner(), id="branching"))
    metafunc.parametrize("runner", runners)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """An empty project that can be imported from."""
    with importable(tmp_path) as project:
        yield project
