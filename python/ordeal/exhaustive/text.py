"""The texts about the cases of an exhaustive test, and the runs of a bounded exhaustive search."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from ordeal._base.formatting import counted, name_list, percent


def case_count(done: int, total: int | None) -> str:
    """Return how many cases have run, and of how many if that is known."""
    return f"{done:,} cases" if total is None else f"{done:,}/{total:,} cases"


def case_progress(done: int, share: float) -> str:
    """Return the text of the live line: cases so far, and roughly their share of all."""
    return f"{done:,} cases, about {percent(share)}"


def show_in_place(text: str, *, instead_of: str) -> None:
    """Write ``text`` over earlier output, and leave the cursor before it, where others continue to write."""
    width = max(len(text), len(instead_of))
    sys.stdout.write(f"{text.ljust(width)}{chr(8) * width}")
    sys.stdout.flush()


def failing_case(path: Sequence[int], *, in_test: bool) -> str:
    """Return the note on the exception of a case: its choices, and how to run it alone."""
    choices = list(path)
    call = f"@ordeal.exhaustive.test(path={choices})" if in_test else f"Gen.replay({choices})"
    return f"choices {choices}; replay with {call}"


def scope_statement(runs: int, depth: int, *, faults: bool, cut: Sequence[str]) -> str:
    """Return the sentence that says what a bounded exhaustive search ran; ``cut`` names restricted arguments."""
    toggles = ", faults switched among them," if faults else ""
    statement = f"All {runs:,} rule sequences of up to {counted(depth, 'step')}{toggles} were run"
    return f"{statement}, with only the simplest values of {name_list(cut)}." if cut else f"{statement}."


def scope_incomplete(runs: int, depth: int) -> str:
    """Return the sentence that says that a bounded exhaustive search ended early."""
    return (
        f"INCOMPLETE: {runs:,} rule sequences of up to {counted(depth, 'step')} were run, and there are more, "
        "of which nothing is known."
    )


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
