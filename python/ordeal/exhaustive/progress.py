"""Shows in pytest how many cases an exhaustive test has run: live, in its report, and in the JUnit file."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from ordeal.exhaustive.text import case_count, case_progress, show_in_place

#: The number of cases between two live lines.
PERIOD = 4_096
PROPERTY = "ordeal_cases"


class CaseProgress:
    """Counts the cases of one test. ``request`` is pytest's, or None outside pytest."""

    def __init__(self, request: Any) -> None:
        self._request = request
        self._is_watched = request is not None and _is_watched(request.config)
        self._shown = ""
        self._left = PERIOD

    def tick(self, done: int, share: float) -> None:
        """Count a case: ``done`` have run, which is a ``share`` of all."""
        self._left -= 1
        if self._left == 0:
            self._left = PERIOD
            if self._is_watched:
                self._show(case_progress(done, share))

    def end(self, done: int, total: int | None) -> None:
        """End the test; ``total`` is None if it did not run all its cases."""
        self._show("")
        if self._request is not None:
            text = case_count(done, total)
            self._request.node.user_properties.append((PROPERTY, text))
            self._request.node.add_report_section("call", "exhaustive", text)

    def _show(self, text: str) -> None:
        if not self._is_watched or text == self._shown:
            return
        # Not with pytest's own writer, which counts everything that it writes and would break its line.
        capture = self._request.config.pluginmanager.get_plugin("capturemanager")
        with nullcontext() if capture is None else capture.global_and_fixture_disabled():
            show_in_place(text, instead_of=self._shown)
        self._shown = text


def _is_watched(config: Any) -> bool:
    """Return whether someone watches pytest's progress."""
    return bool(getattr(config.pluginmanager.get_plugin("terminalreporter"), "isatty", False))
