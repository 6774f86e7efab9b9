"""Explorations that meet in a store: what one found is known to the next, and a store that is away loses nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._engine.coverage.targets import Target, resolve_targets
from ordeal._engine.parallel.store_client import (
    namespace_of,
)
from ordeal.errors import StoreError
from ordeal.explore import Explorer
from ordeal.result import ExplorationResult
from ordeal.store import Entry, FailureReport, Outgoing, Store, open_store

from ...samples.monitored import MakeModule
from .test_supervisor import Climber, Quick, tower  # noqa: F401 - a fixture

pytestmark = pytest.mark.forks


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"dir://{tmp_path / 'store'}"


def explore(url: str, machine: Any = Climber, **options: Any) -> ExplorationResult:
    targets, runs = (["tower"], 300) if machine is Climber else ([], 500)
    return Explorer(machine, target_modules=targets, workers=2, store=url).run(
        **{"max_time": 60, "max_runs": runs, **options}
    )


@pytest.fixture
def looking(url: str) -> Iterator[Store]:
    namespace = namespace_of(Climber, resolve_targets(["tower"]), instrumentation="auto")
    with open_store(url, namespace) as store:
        yield store


@pytest.mark.usefixtures("tower")
def test_what_an_exploration_found_is_in_the_store(url: str, looking: Store) -> None:
    result = explore(url, shrink=False)
    assert len(looking.edges()) == result.unique_edges
    assert result.notes == ()


@pytest.mark.usefixtures("tower")
def test_the_next_exploration_begins_where_the_first_came_to(url: str, looking: Store) -> None:
    first = explore(url, shrink=False)
    second = explore(url, shrink=False)
    assert second.unique_edges >= first.unique_edges
    assert len(looking.edges()) == second.unique_edges


def test_a_failure_is_one_bucket_with_the_count_of_all(url: str) -> None:
    results = [explore(url, Quick) for _ in range(2)]
    with open_store(url, namespace_of(Quick, [], instrumentation="auto")) as store:
        reports = {report.bucket: report for report in store.failures()}
    assert set(reports) == {failure.bucket for failure in results[0].failures}
    for bucket, report in reports.items():
        counts = [failure.count for result in results for failure in result.failures if failure.bucket == bucket]
        assert report.count == sum(counts)
        assert json.loads(report.trace)["failure"]["bucket"] == bucket


def steps(result: ExplorationResult) -> dict[str, int]:
    return {failure.bucket: len(failure.trace.taken_steps()) for failure in result.failures if failure.trace}


def test_the_shortest_trace_that_others_have_is_taken_over(url: str) -> None:
    shrunk = explore(url, Quick)
    helped = explore(url, Quick, shrink=False)
    assert steps(helped) == steps(shrunk)
    assert sorted(steps(shrunk).values()) == [10, 11]


NIGHTLY = pytest.mark.nightly


@pytest.mark.parametrize(
    "trace", [b"of another failure", *(pytest.param(text, marks=NIGHTLY) for text in (b"\x80\x04", b"{}"))]
)
def test_a_trace_of_the_store_that_shows_nothing_is_not_taken(url: str, trace: bytes) -> None:
    first, second = explore(f"{url}-of-another", Quick).failures
    assert first.trace is not None
    if trace == b"of another failure":
        trace = first.trace.to_json()
    with open_store(url, namespace_of(Quick, [], instrumentation="auto")) as store:
        store.sync(Outgoing(failures=(FailureReport(second.bucket, trace, 1, 1),)))
    result = explore(url, Quick)
    assert {failure.bucket for failure in result.failures} == {first.bucket, second.bucket}
    assert steps(result)[second.bucket] > 1
    if trace != first.trace.to_json():
        assert any(note.startswith("A trace of the store was refused") for note in result.notes)


@pytest.mark.usefixtures("tower")
def test_an_entry_that_is_no_tape_is_refused_and_said(url: str, looking: Store) -> None:
    looking.sync(Outgoing(entries=(Entry(b"\x80\x04not a tape", (1, 2, 3)),)))
    result = explore(url)
    assert any(note.startswith("An entry of the store was refused: ") for note in result.notes)
    assert result.unique_edges > 3


def test_a_store_that_cannot_be_joined_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for url in (f"dir://{tmp_path / 'file'}", "redis://127.0.0.1:1/0", "ftp://host/0"):
        with pytest.raises(StoreError):
            explore(url, Quick)


TEST = """
from hypothesis.stateful import RuleBasedStateMachine, rule
from base import Base

class Till(Base):
    @rule()
    def pay(self): pass

class Shop(Base):
    @rule()
    def pay(self): pass
"""
BASE = """
from hypothesis.stateful import RuleBasedStateMachine

class Base(RuleBasedStateMachine): pass
"""


@pytest.fixture
def base(make_module: MakeModule) -> None:
    make_module(BASE, "base")


def of(make_module: MakeModule, tmp_path: Path, *, name: str = "Till", mode: str = "counts") -> str:
    test = make_module(TEST, "machines")
    target = tmp_path / "sut.py"
    if not target.exists():
        target.write_text("x = 1")
    return namespace_of(getattr(test, name), [Target("sut", str(target), is_package=False)], instrumentation=mode)


@pytest.mark.usefixtures("base")
def test_it_says_what_a_person_wants_to_know(make_module: MakeModule, tmp_path: Path) -> None:
    text = of(make_module, tmp_path)
    assert text == of(make_module, tmp_path)
    assert text.startswith("machines:Till ordeal ")
    assert " counts " in text


@pytest.mark.usefixtures("base")
def test_other_code_is_another_namespace(
    make_module: MakeModule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {of(make_module, tmp_path)}

    def is_new(text: str) -> bool:
        fresh = text not in seen
        seen.add(text)
        return fresh

    assert is_new(of(make_module, tmp_path, name="Shop"))
    assert is_new(of(make_module, tmp_path, mode="novelty"))
    (tmp_path / "sut.py").write_text("x = 2")
    assert is_new(of(make_module, tmp_path))
    # A strategy beside the class, or a rule of a base in another file, changes what a tape means.
    (tmp_path / "base.py").write_text(BASE + "\nLIMIT = 3\n")
    assert is_new(of(make_module, tmp_path))
    monkeypatch.setattr("sys.version_info", (3, 99, 0))
    assert is_new(of(make_module, tmp_path))


def test_a_class_of_no_file_has_a_namespace() -> None:
    scope: dict[str, type] = {}
    exec("class Typed(Base): pass", {"Base": RuleBasedStateMachine, "__name__": "__console__"}, scope)
    assert namespace_of(scope["Typed"], [], instrumentation="counts").startswith("__console__:Typed ")


def test_a_target_that_is_gone_is_left_out(tmp_path: Path) -> None:
    class Local(RuleBasedStateMachine):
        @rule()
        def step(self) -> None: ...

    gone = Target("gone", str(tmp_path / "gone.py"), is_package=False)
    assert namespace_of(Local, [gone], instrumentation="counts") == namespace_of(Local, [], instrumentation="counts")
