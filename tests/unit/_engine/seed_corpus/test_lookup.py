"""Saved failures by short names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ordeal._base.trace_file import Trace, TraceFailure, TraceStep
from ordeal._engine.seed_corpus.lookup import find_failure
from ordeal.errors import ConfigError
from ordeal.result.failure import failure_id

TRACES, SEEDS = Path("traces"), Path("seeds")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def put(path: str, bucket: str, *, test_class: str = "a:B", age: int = 0) -> Path:
    trace = Trace(1, 42, test_class, steps=[TraceStep("rule", "go")])
    trace.failure = TraceFailure("ValueError", "bad", 1, bucket)
    trace.save(path)
    os.utime(path, (1_000_000 - age, 1_000_000 - age))
    return Path(path)


def find(name: str | None) -> Path:
    return find_failure(name, [TRACES], [SEEDS])


def test_an_id_its_beginning_and_the_hash_of_a_seed_find_the_file() -> None:
    one = put("traces/fail-run-3.json", "one")
    put("traces/fail-run-4.json", "two")
    seed = put("seeds/B/seed-0123456789ab.json", "three")
    assert find(failure_id("one")) == find(failure_id("one")[:4]) == find("run-3") == one
    assert find("0123456789ab") == find("seed-0123456789ab") == find(failure_id("three")) == seed


def test_without_a_name_the_last_one_counts_and_of_one_failure_the_newest_file() -> None:
    put("traces/fail-run-3.json", "one", age=50)
    newest = put("traces/a.B/fail-run-9.json.gz", "two", age=10)
    again = put("seeds/B/seed-0123456789ab.json", "one", age=20)
    assert find(None) == newest
    assert find(failure_id("one")) == again


def test_all_that_break_an_invariant_at_one_place_share_an_id() -> None:
    path = put("traces/fail-run-3.json", "place [after pop]")
    assert find(failure_id("place")) == find(failure_id("place [after pop]")) == path


@pytest.mark.parametrize("name", ["x/y.json", "gone.json", "a.json.gz"])
def test_a_path_stays_a_path(name: str) -> None:
    assert find(name) == Path(name)


def test_an_unknown_id_gets_a_guess_or_those_that_are_known() -> None:
    for number in range(12):
        put(f"traces/fail-run-{number}.json", str(number), age=number)
    Path("traces/fail-run-99.json").write_text("no trace")
    known = failure_id("3")
    with pytest.raises(ConfigError, match="no saved failure has the id") as caught:
        find(f"{known[:-2]}zz")
    assert caught.value.hint == f"did you mean `{known}`?"
    with pytest.raises(ConfigError) as caught:
        find("zzzz")
    newest = ", ".join(failure_id(str(number)) for number in range(10))
    assert caught.value.hint == f"saved here, the newest first: {newest} and 2 more"


def test_one_id_of_two_classes_is_ambiguous() -> None:
    put("traces/fail-run-1.json", "one")
    put("traces/fail-run-2.json", "one", test_class="a:C")
    with pytest.raises(ConfigError, match="may be one of 2 failures") as caught:
        find(failure_id("one"))
    assert "traces/fail-run-1.json" in str(caught.value.hint)


def test_where_nothing_is_saved_it_says_so() -> None:
    for name in (None, "0123"):
        with pytest.raises(ConfigError) as caught:
            find(name)
        assert "`ordeal explore`" in str(caught.value.hint)
