"""When a rule that never ran is worth a remark."""

from __future__ import annotations

import pytest

from ordeal.result.rule_uses import RUNS_TO_REMARK, RuleUse, UnderFault, unused_remark

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
