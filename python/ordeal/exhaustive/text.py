"""The texts about the cases of an exhaustive test, and the runs of a bounded exhaustive search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordeal._base.formatting import counted, name_list


def case_count(done: int, total: int | None) -> str:
    """Return how many cases have run, and of how many if that is known."""
    return f"{done:,} cases" if total is None else f"{done:,}/{total:,} cases"


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
        f"INCOMPLETE: {runs:,} rule sequences of up to {counted(depth, 'step')} were run, and more exist "
        "that did not run."
    )


PROPERTY = "ordeal_cases"


def report_cases(request: Any, done: int, total: int | None) -> None:
    """Tell pytest how many cases a test ran; ``total`` is None if not all. There is no ``request`` outside pytest."""
    if request is not None:
        text = case_count(done, total)
        request.node.user_properties.append((PROPERTY, text))
        request.node.add_report_section("call", "exhaustive", text)
