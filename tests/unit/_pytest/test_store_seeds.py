"""Failures in the store of a project are replayed like its seeds, also while the store is away."""

from __future__ import annotations

import shutil

import pytest

from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal.store import FailureReport, Outgoing, open_store
from ordeal.trace import Trace

from .conftest import TEST_CLASS, Project, section

pytest_plugins = ["pytester"]

SECTION = "Ordeal Seed Corpus"


def test_failures_of_a_store_are_replayed_and_kept_while_it_is_away(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ordeal._pytest.store_seeds.LIMIT_SECONDS", 60.0)
    name = project.overdrawn()
    (seed,) = SeedCorpus(project.root / ".ordeal/seeds").paths()
    with open_store(f"dir://{project.root}/shared", "code") as store:
        store.join()
        report = FailureReport("bucket", Trace.load(seed).to_json(), 1, 1)
        store.sync(Outgoing(failures=(report,)))
    shutil.rmtree(project.root / ".ordeal")
    settings = f'[fleet]\nstore = "dir://shared"\n[[tests]]\nclass = "{TEST_CLASS}"\n'
    (project.root / "ordeal.toml").write_text(settings)
    result = project.run("-q")
    result.assert_outcomes(passed=1, failed=1)
    assert section(result, SECTION)[-1] == f"  replay: ordeal replay .ordeal/pulled/BankChaos/{name}.json"

    (project.root / "shared").rename(project.root / "moved")
    result = project.run("-q")
    result.assert_outcomes(passed=1, failed=1)
    said = section(result, SECTION)[0]
    assert said.startswith("  there is no store")
    assert said.endswith("replayed instead: 1 seed of an earlier run")
    assert project.run("-q", "--no-ordeal-seeds").ret == pytest.ExitCode.OK
