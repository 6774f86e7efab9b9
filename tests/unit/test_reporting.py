"""Reports of one's own are made of the lines that ordeal's reports have."""

from __future__ import annotations

from ordeal import reporting
from ordeal._engine.properties import text


def test_the_lines_are_those_of_the_reports() -> None:
    assert reporting.__all__ == ["property_lines", "reliability_lines"]
    assert reporting.property_lines is text.property_lines
    assert reporting.reliability_lines is text.reliability_lines
