"""The catalog of the bug suite names every machine, and pins what each needs."""

from pathlib import Path

import bugs
import pytest
from bugs.catalog import TARGETS, TIERS, Target, target_named
from bugs.check import reproduced

FOLDER = Path(bugs.__file__).parent
SYNTHETIC = [target for target in TARGETS if not target.is_real]
REAL = [target for target in TARGETS if target.is_real]


def test_each_machine_is_in_the_catalog_once() -> None:
    modules = sorted(path.stem for path in (FOLDER / "targets").glob("[a-z]*.py"))
    assert sorted(target.name for target in TARGETS) == modules


def test_there_are_fourteen_real_bugs() -> None:
    assert len(REAL) >= 14


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_its_tier_and_modules_are_known(target: Target) -> None:
    assert target.tier in TIERS
    assert target.modules
    assert target_named(target.name) is target


@pytest.mark.parametrize("target", REAL, ids=lambda target: target.name)
def test_every_requirement_is_pinned(target: Target) -> None:
    assert target.buggy != target.repaired
    wanted = [*target.requirements(repaired=False), *target.requirements(repaired=True)]
    assert all(each.count("==") == 1 for each in wanted)


@pytest.mark.parametrize("target", REAL, ids=lambda target: target.name)
def test_its_machine_quotes_the_release_and_its_changelog(target: Target) -> None:
    text = (FOLDER / "targets" / f"{target.name}.py").read_text("utf-8")
    assert target.buggy in text
    assert "Changelog of" in text or "News of" in text


@pytest.mark.slow
@pytest.mark.parametrize("target", SYNTHETIC, ids=lambda target: target.name)
def test_a_planted_bug_shows_until_it_is_repaired(target: Target) -> None:
    assert reproduced(target, repaired=False).startswith("AssertionError")
    assert reproduced(target, repaired=True) == ""
