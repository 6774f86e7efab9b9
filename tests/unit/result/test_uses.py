"""What is reported of rules that never ran, of faults that did nothing, and of those of simulated worlds."""

from __future__ import annotations

import pytest

from ordeal.result.parts import RUNS_TO_REMARK, FaultUse, RuleUse, UnderFault, unused_remark, world_lines

RAN, NEVER = RuleUse("ran", (UnderFault(None, 1, 0),)), RuleUse("idle", (UnderFault(None, 0, 0),))


@pytest.mark.parametrize(("uses", "runs", "remark"), [
    ([RAN, NEVER], RUNS_TO_REMARK - 1, ""),
    ([RAN, RAN], RUNS_TO_REMARK, ""),
    ([NEVER, NEVER], RUNS_TO_REMARK, ""),  # the result is inconclusive, and says so
    ([RAN, NEVER], 500, "Rule idle never ran to the end in 500 runs: `ordeal doctor` says what keeps it from it."),
    ([RAN, *[NEVER] * 7], 500, ("Rules idle, idle, idle, idle, idle and 2 more never ran to the end in 500 runs: "
     "`ordeal doctor` says what keeps them from it.")),
])  # fmt: skip
def test_rules_that_never_ran_are_told(uses: list[RuleUse], runs: int, remark: str) -> None:
    assert unused_remark(uses, runs) == remark


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
