"""The mail queue of the examples: its bug shows only where a point of buggify acts."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from ordeal import buggify
from ordeal.explore import Explorer

from .conftest import EXAMPLES, changed, imported

PROJECT = EXAMPLES / "mail_queue"
BOOKING = "            self.cents += message.cents"
REPAIR = (
    (
        BOOKING,
        "            self.cents += 0 if message in self.seen else message.cents\n            self.seen.add(message)",
    ),
    ("        self.cents = 0\n", "        self.cents = 0\n        self.seen: set[Message] = set()\n"),
)


@pytest.mark.parametrize(
    ("changes", "probability", "found"),
    [((), 0.1, ["send", "work", "work"]), ((), 0.0, None), (REPAIR, 0.1, None)],
    ids=["acting", "not acting", "repaired"],
)
def test_the_point_leads_to_the_bug(
    changes: tuple[tuple[str, str], ...], probability: float, found: list[str] | None, tmp_path: Path
) -> None:
    changed(PROJECT / "mail_queue.py", changes, tmp_path)
    with imported(PROJECT / "test_mail_chaos.py", path=[tmp_path], modules={"mail_queue"}) as module:
        explorer = Explorer(module.MailChaos, target_modules=["mail_queue"], buggify_prob=probability)
        failures = explorer.run(max_runs=200).failures
    steps = [[step.name for step in failure.trace.taken_steps()] for failure in failures if failure.trace is not None]
    assert steps == ([] if found is None else [found])


@pytest.mark.parametrize("active", [False, True])
def test_hypothesis_finds_it_where_buggify_is_active(active: bool) -> None:
    options = settings(max_examples=60, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    with imported(PROJECT / "test_mail_chaos.py", path=[PROJECT], modules={"mail_queue"}) as module:
        if not active:
            run_state_machine_as_test(module.MailChaos, settings=options)
            return
        with buggify.activated(), pytest.raises(AssertionError):
            run_state_machine_as_test(module.MailChaos, settings=options)
