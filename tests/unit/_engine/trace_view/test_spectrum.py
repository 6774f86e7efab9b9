"""Suspicious lines: what failing runs take and passing ones do not."""

from __future__ import annotations

from types import CodeType

from ordeal._engine.trace_view.spectrum import LINES_MAX, Spectrum, suspicious_lines

from ...samples.explained import explained, loaded


def test_the_line_of_the_bug_comes_first_and_no_line_of_the_machine_is_among_them() -> None:
    first, *others = explained().suspicious
    assert first.code == "self.lost = abs(self.lost)"
    assert first.function == "Store.flush"
    assert first.failing == first.failing_runs > 0
    assert first.passing == 0
    assert first.passing_runs >= 8
    assert "self.lost = -self.sizes.pop(name)" in [each.code for each in others]
    assert {each.function.partition(".")[0] for each in [first, *others]} == {"Store"}


def code() -> CodeType:
    return code.__code__


def test_neighbours_with_the_same_counts_are_one_and_common_lines_none() -> None:
    found = Spectrum()
    for _ in range(4):
        found.add({(code(), line) for line in (1, 2, 3, 9)}, failed=True)
    for run in range(20):
        found.add({(code(), 9), *([(code(), 3)] if run < 5 else [])}, failed=False)
    shown = found.ranked()
    assert [(each.line, each.more, each.failing, each.passing) for each in shown] == [(1, 1, 4, 0), (3, 0, 4, 5)]


def test_few_passing_runs_say_nothing_and_few_lines_are_shown() -> None:
    found = Spectrum()
    found.add({(code(), line) for line in range(100)}, failed=True)
    assert found.ranked() == []
    for run in range(40):
        found.add({(code(), line) for line in range(100) if line > 2 * run}, failed=False)
    assert len(found.ranked()) <= LINES_MAX


def test_it_ends_when_its_time_is_over() -> None:
    failing = loaded()
    with failing.running():
        found = suspicious_lines(failing.driver, failing.replayer, failing.tape, "", lambda _: True, 0.0)
    assert found == []
