"""The sections of a pytest summary on properties: what is told when, and nothing where there is nothing to tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ordeal._report.pytest_lines import property_sections
from ordeal.assertions import always, declare, report, sometimes, tracker


@pytest.fixture(autouse=True)
def own_properties() -> Iterator[None]:
    """Only what the test itself asserts is known."""
    before = tracker.snapshot()
    tracker.reset()
    with tracker.recording():
        yield
    tracker.restore(before)


def lines(**options: Any) -> list[str]:
    values = {"chaos": True, "fails_run": False, "chaos_seed": None} | options
    ((title, found),) = property_sections(report(), **values)
    assert title == "Ordeal Property Results"
    return found


def test_without_properties_there_is_no_section() -> None:
    assert property_sections(report(), chaos=True, fails_run=False, chaos_seed=7) == []


def test_the_configuration_names_the_seed_and_the_types() -> None:
    sometimes(True, "sold")
    always(True, "never below zero")
    assert lines()[-1] == "  Config: assertion types used: always, sometimes"
    assert lines(chaos_seed=0)[-1] == "  Config: seed=0, assertion types used: always, sometimes"


def test_a_failed_property_says_what_it_does_to_the_run() -> None:
    always(False, "never below zero", mute=True)
    assert lines(fails_run=True)[-2] == "  The tests pass, but not all properties do: the run fails."
    assert lines(chaos=False)[-2] == "  Without --chaos this does not fail the run."
    assert lines()[-2] == "  1/1 properties FAILED"


def test_cells_have_a_section_of_their_own() -> None:
    declare("charged once", "always", operation="refund", fault="timeout")
    sections = property_sections(report(), chaos=True, fails_run=False, chaos_seed=None)
    ((title, found),) = sections
    assert title == "Ordeal Reliability Coverage"
    assert any("refund under timeout" in line for line in found)
