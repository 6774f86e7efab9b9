"""The sections of a pytest summary on properties: what is told when, and nothing where there is nothing to tell."""

from __future__ import annotations

from typing import Any

import pytest

from ordeal._engine.properties.tracker import PropertyTracker
from ordeal._report.pytest_chaos import property_sections


@pytest.fixture
def tracker() -> PropertyTracker:
    found = PropertyTracker()
    found.active = True
    return found


def lines(tracker: PropertyTracker, **options: Any) -> list[str]:
    values = {"chaos": True, "fails_run": False, "chaos_seed": None} | options
    ((title, found),) = property_sections(tracker.report(), **values)
    assert title == "Ordeal Property Results"
    return found


def test_without_properties_there_is_no_section(tracker: PropertyTracker) -> None:
    assert property_sections(tracker.report(), chaos=True, fails_run=False, chaos_seed=7) == []


def test_the_configuration_names_the_seed_and_the_types(tracker: PropertyTracker) -> None:
    tracker.record("sold", "sometimes", condition=True)
    tracker.record("never below zero", "always", condition=True)
    assert lines(tracker)[-1] == "  Config: assertion types used: always, sometimes"
    assert lines(tracker, chaos_seed=7)[-1] == "  Config: seed=7, assertion types used: always, sometimes"


def test_a_failed_property_says_what_it_does_to_the_run(tracker: PropertyTracker) -> None:
    tracker.record("never below zero", "always", condition=False)
    assert lines(tracker, fails_run=True)[-2] == "  The tests pass, but not all properties do: the run fails."
    assert lines(tracker, chaos=False)[-2] == "  Without --chaos this does not fail the run."
    assert "run" not in lines(tracker)[-2], "tests failed as well, and said so"
