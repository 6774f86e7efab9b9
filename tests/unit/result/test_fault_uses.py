"""What is said of faults: those that did nothing, and how often those of simulated worlds struck."""

from __future__ import annotations

from ordeal.result.fault_uses import FaultUse, world_lines

CRASH = FaultUse("simulate.crash('*')", 40, 120, 31)


def test_who_struck_nothing_is_told_with_the_reason() -> None:
    assert CRASH.remark() == ""
    assert FaultUse("simulate.pause('x')", 40, 0, 0).remark().endswith("and met nothing: what it names was not there.")
    assert FaultUse("simulate.pause('x')", 0, 0, 0).remark() == ""
    assert "changed nothing that it met" in FaultUse("simulate.pause('*')", 40, 3, 0).remark()
    assert "see that the rules call its target" in FaultUse("timeout(a.b)", 40, 0, 0).remark()


def test_only_faults_of_worlds_are_listed() -> None:
    assert world_lines([FaultUse("timeout(a.b)", 40, 1, 1)]) == []
    assert world_lines([CRASH, FaultUse("timeout(a.b)", 40, 1, 1)]) == [
        "World, in 40 runs:",
        "  simulate.crash('*') struck 31 times",
    ]
