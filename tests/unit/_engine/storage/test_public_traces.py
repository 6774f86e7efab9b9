"""Traces of the public project: they load, replay where values tell their choices, and shrink into whole traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ordeal.errors import OutdatedTraceError, TraceError
from ordeal.trace import ReplayStatus, Trace, ablate_faults, replay, rerun, shrink

from ...samples.traced import Counter, Faulty


def step(kind: str, name: str, **fields: Any) -> dict[str, Any]:
    """A step with the fields that the public project writes."""
    return {
        "kind": kind,
        "name": name,
        "params": {},
        "active_faults": [],
        "edge_count": 4,
        "timestamp_offset": 0.25,
        "properties_observed": [],
        "native_boundary": None,
        "status_code": None,
        "endpoint": None,
        **fields,
    }


def record(*steps: Any, **fields: Any) -> dict[str, Any]:
    return {
        "run_id": 9,
        "seed": 42,
        "test_class": f"{Counter.__module__}:Counter",
        "from_checkpoint": None,
        "steps": list(steps),
        "failure": {"error_type": "ValueError", "error_message": "10 is too much", "step": 2, "native_boundary": None},
        "edges_discovered": 12,
        "duration": 0.5,
        **fields,
    }


ADDS = [step("rule_swarm", "[swarm rules=1 faults=0]", params={"active_rules": ["add"], "active_faults": []})]
ADDS += [step("rule", "add", params={"by": by}) for by in (5, 0, 5)]


def loaded(content: dict[str, Any], folder: Path) -> Trace:
    (folder / "old.json").write_text(json.dumps(content))
    return Trace.load(folder / "old.json")


def test_it_loads_with_its_values(tmp_path: Path) -> None:
    trace = loaded(record(*ADDS), tmp_path)
    assert (trace.run_id, trace.seed, trace.edges_discovered, trace.has_choices) == (9, 42, 12, False)
    assert [step.params.get("by") for step in trace.taken_steps()] == [5, 0, 5]
    assert trace.failure is not None
    assert (trace.failure.error_type, trace.failure.bucket) == ("ValueError", "")


def test_only_three_fields_are_needed_besides_the_steps() -> None:
    few = Trace.from_dict({"run_id": 1, "seed": 2, "test_class": "a:B", "steps": [{"kind": "rule", "name": "rest"}]})
    assert (few.failure, few.from_checkpoint, few.edges_discovered) == (None, None, 0)


def test_it_replays() -> None:
    trace = Trace.from_dict(record(*ADDS))
    assert rerun(trace).status is ReplayStatus.REPRODUCED
    assert str(replay(trace)) == "10 is too much"


def test_it_shrinks_into_a_trace_with_choices(tmp_path: Path) -> None:
    small = shrink(Trace.from_dict(record(*ADDS)))
    assert [(step.name, step.choices) for step in small.steps] == [("add", {"by": [5]})] * 2
    small.save(tmp_path / "small.json")
    assert rerun(Trace.load(tmp_path / "small.json")).status is ReplayStatus.REPRODUCED


def test_its_faults_toggle(tmp_path: Path) -> None:
    toggles = [step("fault_toggle", name) for name in ("+one(a)", "+three(c)", "+two(b)", "-three(c)")]
    content = record(*toggles, step("rule", "go"), test_class=f"{Faulty.__module__}:Faulty")
    content["failure"].update(error_type="OSError")
    trace = loaded(content, tmp_path)
    assert rerun(trace).status is ReplayStatus.REPRODUCED
    assert ablate_faults(trace) == {"one": True, "three": False, "two": True}


def test_it_is_written_as_it_was_read(tmp_path: Path) -> None:
    trace = loaded(record(*ADDS), tmp_path)
    trace.save(tmp_path / "copy.json")
    copy = Trace.load(tmp_path / "copy.json")
    assert copy == trace
    assert "format" not in json.loads((tmp_path / "copy.json").read_text())


def test_its_hash_is_of_its_values() -> None:
    one, other = (Trace.from_dict(record(step("rule", "add", params={"by": by}))) for by in (1, 2))
    assert one.content_hash() != other.content_hash()
    assert one.content_hash() == Trace.from_dict(one.to_dict()).content_hash()


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (record(from_checkpoint=3), TraceError, "the trace of run 9 begins at checkpoint 3"),
        (
            record(step("rule", "add", params={"by": 77})),
            TraceError,
            "step 1, rule `add`: argument `by` cannot be rebuilt",
        ),
        (record(step("rule", "put", params={"by": 1})), OutdatedTraceError, "has no rule 'put'"),
        (record(step("rule", "rest", params={"by": 1})), OutdatedTraceError, "no argument 'by'"),
        (record(step("fault_toggle", "+gone")), OutdatedTraceError, "has no fault 'gone'"),
        (record(step("api_call", "GET /")), TraceError, "step 1 of the trace has the unknown kind 'api_call'"),
    ],
)
def test_what_does_not_replay_says_why(content: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        replay(Trace.from_dict(content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (record(step("rule", "add", params=[])), r"old.json: .*got `array` - at `\$.steps\[0\].params`"),
        (record(5), r"old.json: Expected `object`, got `int` - at `\$.steps\[0\]`"),
        (record(seed=2**70), "field `seed` is an integer of more than 64 bits"),
        (record(failure={"error_type": 1}), r"Expected `str`, got `int` - at `\$.failure.error_type`"),
        ({"run_id": 1, "steps": []}, "missing required field `seed`"),
    ],
)
def test_each_field_is_checked(content: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=message):
        loaded(content, tmp_path)


def test_a_value_that_nests_too_deeply_is_refused(tmp_path: Path) -> None:
    deep: Any = []
    for _ in range(60):
        deep = [deep]
    with pytest.raises(TraceError, match=r"'by' of `params` nests deeper than 50 levels - at `\$.steps\[0\]`"):
        loaded(record(step("rule", "add", params={"by": deep})), tmp_path)


@pytest.mark.parametrize("field", ["format", "version", "targets", "program", "checksum"])
def test_a_damaged_trace_of_ordeal_is_not_taken_for_one(field: str) -> None:
    with pytest.raises(TraceError, match=r"required field `format`|is not a trace of ordeal|at `\$.version`"):
        Trace.from_dict(record(*ADDS, **{field: "x"}))
