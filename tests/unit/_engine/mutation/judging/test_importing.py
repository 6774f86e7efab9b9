"""What the judge says of mutants that its tests would never meet."""

from __future__ import annotations

import os
import sys

import pluggy
import pytest

from ordeal._engine.mutation.judging.importing import import_all, never_imported_anew, switched_off


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        (os.path.realpath(pluggy.__file__), b"", "imported the file before the tests do"),
        ("/nowhere/shop.py", b"def f(:", "it does not compile: "),
        ("/nowhere/shop.py", b"x = 1", ""),
    ],
)
def test_no_verdict_on_text_that_no_test_imports(path: str, text: bytes, reason: str) -> None:
    found = never_imported_anew(path, text)
    assert reason in found
    assert bool(reason) == bool(found)


def test_a_plugin_that_cannot_be_imported_is_left_alone() -> None:
    import_all(["no_such_plugin_of_pytest", "colorsys"])
    assert "colorsys" in sys.modules


def test_plugins_that_are_switched_off_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--cov-fail-under=90")
    assert switched_off(["-n", "2"])[:2] == ["pytest-xdist", "pytest-cov"]
    monkeypatch.delenv("PYTEST_ADDOPTS")
    assert "pytest-cov" not in switched_off(["tests"])
