"""Each reason for finding nothing is named on a machine that has it, and a clean machine is told nothing."""

from __future__ import annotations

from typing import Any

import pytest

from ordeal._tools.doctor.checks import Advice, checks_of, stability
from ordeal._tools.doctor.examine import examined

MODULE = "unit.samples.ailing"


#: Some reasons show only in many runs.
RUNS = {"Raises": 200, "UncalledFault": 500, "HidesAnswers": 500, "SlowInvariant": 1}


def warnings_of(name: str, *targets: str, runs: int = 60) -> list[Advice]:
    order = {"class": f"{MODULE}:{name}", "targets": [MODULE, *targets], "seed": 42, "max_runs": runs, "max_time": 60}
    return [check for check in checks_of(examined(order)) if check.status != "ok"]


@pytest.mark.parametrize("name", ["Clean", "CleanBundles"])
def test_a_clean_machine_is_told_nothing(name: str) -> None:
    assert warnings_of(name) == []


@pytest.mark.parametrize(
    ("name", "check", "message"),
    [
        (
            "NeverReady",
            "rules",
            "rule `overflow` never ran in 60 runs: its precondition was never true: `@prec",
        ),
        ("NoBundle", "rules", "rule `redeem` never ran in 60 runs"),
        ("LacksReturn", "rules", "rule `make` fills a bundle with None"),
        ("Raises", "rules", "rule `wrong` always raises: AttributeError in all of "),
        ("Rejects", "rules", "rule `exact`: `assume` rejects 100% of its "),
        ("UncalledFault", "faults", "the target of timeout(unit.samples.ailing.look_up, 30.0s) was never called while"),
        ("OneState", "invariants", "invariant `holds` saw one state in "),
        ("NeverReached", "properties", "sometimes `crowded` was never true"),
        ("Swallows", "swallowed exceptions", "rule `broken` swallows AttributeError in "),
        ("HidesAnswers", "swallowed exceptions", "rule `deliver` swallows KeyError in "),
        ("SlowInvariant", "speed", "invariant `thorough` takes "),
        ("Generating", "copies", "states cannot be copied, so their steps are repeated: `self.inner['numbers']`: "),
        (
            "Circular",
            "copies",
            "states cannot be copied, so their steps are repeated: `self.web.numbers`: ",
        ),
    ],
)
def test_the_reason_is_named(name: str, check: str, message: str) -> None:
    found = [each for each in warnings_of(name, runs=RUNS.get(name, 60)) if each.name == check]
    assert [each.message for each in found if each.message.startswith(message)], found


def test_a_blind_search_is_named() -> None:
    order = {"class": f"{MODULE}:Clean", "targets": [], "seed": 42, "max_runs": 10, "max_time": 60}
    (found,) = [check for check in checks_of(examined(order)) if check.status != "ok"]
    assert found.message.startswith("no `target_modules`: the search is blind")


@pytest.mark.parametrize(
    ("processor", "seconds", "status"),
    [(0.9, 0.9, "warning"), (0.2, 0.9, "ok"), (0.2, 9.0, "warning")],
    ids=["works", "waits for its turn on a busy machine", "waits long each time"],
)
def test_what_takes_the_time_is_slow_by_what_it_does(processor: float, seconds: float, status: str) -> None:
    found = examined({"class": f"{MODULE}:Clean", "targets": [MODULE], "seed": 42, "max_runs": 1, "max_time": 60})
    found["result"]["seconds"] = seconds
    found["rules"] = [found["rules"][0] | {"starts": 500, "seconds": seconds, "processor": processor}]
    (speed,) = [check for check in checks_of(found) if check.name == "speed"]
    assert speed.status == status


def result(edges: int, lines: str) -> dict[str, Any]:
    own = {"total_runs": 60, "total_steps": 900, "unique_edges": edges, "covered_lines": {"shop.py": lines}}
    return {"error": None, "result": own}


def test_what_differs_between_processes_is_named() -> None:
    same, other, less = result(9, "1-4"), result(9, "1-3"), result(8, "1-4")
    assert [check.status for check in stability([same, same, same])] == ["ok"]
    (check,) = stability([same, other, same])
    assert (
        check.message == "the same seed does not do the same twice: shop.py:4 ran in one process and not in the other"
    )
    (check,) = stability([same, same, less])
    assert check.message == "what runs depends on PYTHONHASHSEED: 9 and 8 edges"
    assert list(stability([same, {"error": {}}, same])) == []
