"""What pytest is given where it collects tests to judge by."""

from __future__ import annotations

import pytest

from ordeal._tools.mutation.judging.pytest_options import switched_off


def test_plugins_that_are_switched_off_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--cov-fail-under=90")
    assert switched_off(["-n", "2"])[:2] == ["pytest-xdist", "pytest-cov"]
    monkeypatch.delenv("PYTEST_ADDOPTS")
    assert "pytest-cov" not in switched_off(["tests"])
