"""What an exploration shows of the health of its machine has the names that the doctor gives its checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ordeal._tools.doctor.checks import unhealthy
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


def test_a_fault_whose_target_is_called_somewhere_is_no_warning_until_many_runs(tmp_path: Path) -> None:
    source = tmp_path / "shop.py"
    source.write_text(
        "def pay(gateway):\n    gateway.look_up(1)\n    look_up (2)\n    gateway.look_up_all()\n", "utf-8"
    )

    def warned(name: str = "timeout(shop.Gateway.look_up, 30.0s)", runs: int = 500, **lines: list[int]) -> int:
        missed, covered = ({str(source): lines.get(name, [])} for name in ("missed", "covered"))
        use = FaultUse(name, runs=9, calls=0, hits=0)
        result = explored(total_runs=runs, faults=[use], missed_lines=missed, covered_lines=covered)
        return len(unhealthy(result, ("all",)))

    assert [warned(missed=[line]) for line in (1, 2, 3, 4, 9)] == [1, 0, 0, 1, 1]
    assert [warned(covered=[line]) for line in (1, 2, 3, 4, 9)] == [1, 0, 1, 1, 1]
    assert warned(missed=[2], runs=20_000) == 1
    assert warned("look_up", missed=[2]) == 1
