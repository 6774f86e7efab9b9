"""The traces that judge: those that run twice alike, without the steps that fail."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

from tests.unit._tools.mutation.machines import till

import ordeal._native as _native
from ordeal._base.trace_file import Trace, TraceFailure
from ordeal._tools.mutation.interpreters.sitecustomize import real_path
from ordeal._tools.mutation.machines.bench import TraceReplayer
from ordeal._tools.mutation.machines.traces import (
    StepLines,
    drawn,
    measured,
    noting,
    reads_of,
    saved,
    tapes_of,
)
from ordeal._tools.mutation.swap import LiveFunctions


def test_drawn_traces_are_the_same_each_time_and_are_tried_without_the_step_that_fails(bench: TraceReplayer) -> None:
    said: list[dict[str, Any]] = []
    for _ in range(2):
        drawn(f"{till.__name__}:Till", [till.__name__], runs=6, seconds=20, seed=1, say=said.append)
    half = len(said) // 2
    hashes = [Trace.from_json(each["trace"].encode()).content_hash() for each in said]
    assert hashes[:half] == hashes[half:] != []
    trace = Trace.from_json(said[0]["trace"].encode())
    whole, *less = map(len, tapes_of(dataclasses.replace(trace, failure=TraceFailure.of(ValueError(), 1, "")), bench))
    assert less == [whole - 1]
    assert list(map(len, tapes_of(dataclasses.replace(trace, failure=None), bench))) == [whole]


def test_saved_traces_of_the_machine_judge_and_damaged_files_do_not(tmp_path: Path) -> None:
    said: list[dict[str, Any]] = []
    drawn(f"{till.__name__}:Till", [till.__name__], runs=6, seconds=20, seed=1, say=said.append)
    trace = Trace.from_json(said[0]["trace"].encode())
    trace.save(tmp_path / "Till" / "seed-1.json")
    (tmp_path / "seed-2.json").write_text("{")
    assert [each.content_hash() for each in saved(f"{till.__name__}:Till", [str(tmp_path)])] == [trace.content_hash()]
    assert list(saved("other:Till", [str(tmp_path), str(tmp_path / "gone")])) == []


def test_what_is_measured_names_lines_and_reads(bench: TraceReplayer, tapes: list[_native.Tape]) -> None:
    said: list[dict[str, Any]] = []
    path = real_path(till.__file__)
    measured(bench, tapes[:2], {path}, LiveFunctions({path}), said.append)
    first, *found, last = said
    assert first == {"unsteady": []}
    assert [each["tape"] for each in found] == [0, 1]
    line = next(n for n, text in enumerate(Path(path).read_text().split("\n"), 1) if "self.given_back += cents" in text)
    hits = {(file, line): hits for file, line, hits in found[0]["lines"]}
    given_back = [step for step, (rule, _) in enumerate(found[0]["sketches"]) if rule == "give_back"]
    assert given_back
    assert all((hits[path, line] >> step & 1) == (step in given_back) for step in range(found[0]["steps"] + 1))
    assert found[0]["turns"] > len(given_back)
    assert "drawer.given_back" in last["attributes"]


def test_a_line_has_the_steps_that_run_it(bench: TraceReplayer, tapes: list[_native.Tape]) -> None:
    path = real_path(till.__file__)
    line = next(n for n, text in enumerate(Path(path).read_text().split("\n"), 1) if "self.given_back += cents" in text)
    tools = [sys.monitoring.get_tool(each) for each in range(6)]
    for _ in range(2):
        watch = StepLines({path})
        watch.start()
        with bench.running():
            assert bench.watched(tapes[0], watch)
        watch.stop()
        assert "give_back" in watch.rules
        assert watch.hits[path, line] == sum(1 << n for n, rule in enumerate(watch.rules) if rule == "give_back")
    assert [sys.monitoring.get_tool(each) for each in range(6)] == tools


def test_what_no_invariant_reads_is_known(bench: TraceReplayer, tapes: list[_native.Tape]) -> None:
    with bench.running():
        reads, attributes = reads_of(bench, tapes[:2])
    assert set(reads["coins_are_right"]) == {"drawer.coins", "expected"}
    assert reads["coins_are_not_negative"] == ("drawer.coins",)
    assert set(attributes) == {"drawer.coins", "expected", "drawer.given_back"}


def test_a_class_is_as_it_was_afterwards() -> None:
    seen: list[str] = []
    with noting({till.Drawer}, lambda _, name: seen.append(name)):
        assert till.Drawer().given_back == 0
    assert "given_back" in seen
    assert "__getattribute__" not in vars(till.Drawer)
