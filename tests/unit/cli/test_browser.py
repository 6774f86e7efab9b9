"""Pages are opened where somebody sits before a screen."""

from __future__ import annotations

import pytest

from ordeal.cli.browser import has_screen


@pytest.mark.parametrize(
    ("environment", "has"), [({}, False), ({"DISPLAY": ":0"}, True), ({"WAYLAND_DISPLAY": "wayland-0"}, True)]
)
def test_a_browser_needs_a_screen(environment: dict[str, str], has: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert has_screen(environment) is has
