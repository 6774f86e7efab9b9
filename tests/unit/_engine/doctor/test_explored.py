"""What an exploration shows of the health of its machine has the names that the doctor gives its checks."""

from __future__ import annotations

from typing import Any

import pytest

from ordeal._engine.doctor.explored import unhealthy
from ordeal.config.options import HEALTH
from ordeal.result import ExplorationResult, FaultUse, RuleUse, UnderFault


def explored(**fields: Any) -> ExplorationResult:
    counts = dict.fromkeys(("rng_seed", "total_steps", "unique_edges", "checkpoints_saved", "duration_seconds"), 1)
    given = {"test_class": "shop:Chaos", "total_runs": 500, "target_modules": ("shop",), **counts, **fields}
    return ExplorationResult(**given)


RAN = RuleUse("book", (UnderFault(None, 9, 0),))
NEVER = RuleUse("refund", ())


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("target modules", {"target_modules": ()}, "Coverage: off"),
        ("rules", {"rules": [RAN, NEVER]}, "Rule refund never ran to the end in 500 runs"),
        ("faults", {"faults": [FaultUse("slow", runs=9, calls=0, hits=0)]}, "the target of slow was never called"),
        ("stability", {"unconfirmed": 2}, "2 failures did not fail again from a fresh machine"),
    ],
)
def test_each_warning_counts_under_its_name_and_under_all(name: str, fields: dict[str, object], message: str) -> None:
    result = explored(**fields)
    for wanted in ((name,), ("speed", name), ("all",)):
        (check,) = unhealthy(result, wanted)
        assert (check.name, check.status) == (name, "warning")
        assert check.message.startswith(message)
        assert check.hint
    assert name in HEALTH
    assert unhealthy(result, [each for each in HEALTH if each != name]) == []


def test_few_runs_and_a_healthy_machine_are_told_nothing() -> None:
    assert unhealthy(explored(rules=[RAN]), ("all",)) == []
    few = explored(total_runs=499, rules=[RAN, NEVER], faults=[FaultUse("slow", runs=9, calls=0, hits=0)])
    assert unhealthy(few, ("all",)) == []
