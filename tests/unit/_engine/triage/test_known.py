"""Failures that are declared as known: which entries name them, and what becomes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ordeal._engine.parallel.store_client import namespace_of
from ordeal._report.exploration import exploration_report, json_report
from ordeal.explore import Explorer
from ordeal.result import ExplorationResult
from ordeal.store import Outgoing, open_store

pytestmark = pytest.mark.usefixtures("own_threads_alone")


class Shop(RuleBasedStateMachine):
    """Two messages of one assertion, another failure, and one that needs some steps past all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.sold = 0

    @rule(amount=st.integers(0, 20))
    def sell(self, amount: int) -> None:
        assert amount not in (0, 1), f"amount {'none' if amount == 0 else 'single'}"
        self.sold += 1

    @rule()
    def pay(self) -> None:
        raise ValueError("cannot pay")

    @invariant()
    def has_stock(self) -> None:
        assert self.sold < 12, "sold out"


def explored(*known: str, **options: Any) -> ExplorationResult:
    options = {"workers": 1, "seed": 5} | options
    return Explorer(Shop, known=known, **options).run(max_runs=60, shrink=False)


def messages(result: ExplorationResult) -> set[str]:
    return {str(failure.error).partition("\n")[0] for failure in result.failures}


def test_an_entry_is_a_bucket_an_id_or_a_text() -> None:
    everything = explored()
    assert len(everything.failures) == 3
    pay = next(failure for failure in everything.failures if isinstance(failure.error, ValueError))
    for entry in (pay.bucket, pay.id, "cannot pay", "ValueError: cannot"):
        result = explored(entry)
        assert [known.entry for known in result.known] == [entry]
        assert result.known[0].error_type == "ValueError"
        assert result.known[0].count == pay.count
        assert len(result.failures) == 2
        assert result.total_steps == everything.total_steps, "the runs are the same"
    assert explored("something else").known == []


def test_a_text_leaves_other_messages_of_the_same_place_to_be_reported() -> None:
    for one, other in (("amount none", "amount single"), ("amount single", "amount none")):
        result = explored(one)
        assert other in messages(result)
        assert one not in messages(result)
        (known,) = result.known
        assert known.count > 1
        assert known.bucket.endswith(f"[known as {one}]")


@pytest.mark.parametrize("isolate", [False, True], ids=["here", "apart"])
def test_all_known_is_no_failure_and_says_so(isolate: bool, tmp_path: Path) -> None:
    result = explored("amount", "cannot pay", "sold out", isolate=isolate, corpus_dir=tmp_path / "seeds")
    assert result.failures == []
    assert {known.entry for known in result.known} == {"amount", "cannot pay", "sold out"}
    assert all(0 < known.count <= 60 for known in result.known)
    times = sum(known.count for known in result.known)
    for text in (exploration_report([result]), result.summary()):
        assert "No other failures" in text
        assert f"Known, not reported: 3 kinds, {times} times" in text
        assert "ValueError: cannot pay (known as 'cannot pay')" in text
    (report,) = json.loads(json_report([result]))["results"]
    assert report["failures"] == []
    assert {known["error_message"] for known in report["known"]} >= {"cannot pay"}
    assert not list(tmp_path.rglob("seed-*")), "nothing is saved of what is known"


def test_a_failing_seed_that_is_known_is_not_reported_and_one_that_is_not_is(tmp_path: Path) -> None:
    explored(corpus_dir=tmp_path)
    assert len(list(tmp_path.rglob("seed-*"))) == 3
    result = explored("cannot pay", corpus_dir=tmp_path)
    assert len(result.failures) == 2
    assert [known.entry for known in result.known] == ["cannot pay"]
    assert len([seed for seed in result.seed_replays if seed.status.fails]) == 3


def test_a_resumed_exploration_drops_what_has_become_known(tmp_path: Path) -> None:
    state = tmp_path / "state"
    Explorer(Shop, workers=1, seed=5).run(max_runs=30, shrink=False, save_state_to=state)
    result = Explorer(Shop, workers=1, seed=5, known=["cannot pay"]).run(max_runs=60, shrink=False, resume_from=state)
    assert "cannot pay" not in messages(result)
    assert [known.entry for known in result.known] == ["cannot pay"]


@pytest.mark.supervised
def test_several_workers_leave_out_what_is_known_and_count_it_together() -> None:
    first, again = (explored("cannot pay", "amount none", workers=2, isolate=True) for _ in range(2))
    assert messages(first) == {"amount single", "sold out"}
    facts = [[(known.entry, known.bucket, known.count) for known in result.known] for result in (first, again)]
    assert facts[0] == facts[1]
    assert {entry for entry, _, _ in facts[0]} == {"cannot pay", "amount none"}
    assert all(1 < count <= 60 for _, _, count in facts[0])


@pytest.mark.supervised
def test_a_store_gets_nothing_of_what_is_known_here_and_hides_nothing_from_others(tmp_path: Path) -> None:
    url = f"dir://{tmp_path}/store"
    knows = explored("cannot pay", store=url, isolate=True)
    assert "cannot pay" not in messages(knows)
    with open_store(url, namespace_of(Shop, [], instrumentation="auto")) as store:
        told = [report.bucket for report in store.sync(Outgoing((), frozenset(), ())).failures]
    assert told
    assert not [bucket for bucket in told if "Shop.pay" in bucket]
    other = explored(seed=6, store=url, isolate=True)
    assert "cannot pay" in messages(other)
    later = explored("cannot pay", seed=7, store=url, isolate=True)
    assert "cannot pay" not in messages(later)
    assert [known.entry for known in later.known] == ["cannot pay"]
