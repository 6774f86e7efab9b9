"""The folder of a run: what is written when, what survives, and that nothing of it can hurt a search."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from ordeal._engine.runs import writer as writer_module
from ordeal._engine.runs.events import (
    AnyEvent,
    ClassDone,
    Event,
    Found,
    Health,
    NewEdges,
    Progress,
    RunStatus,
    SessionBegun,
    Shrunk,
)
from ordeal._engine.runs.folder import EVENTS, STATUS, read_events, read_result, read_status, run_folders
from ordeal._engine.runs.report import schemas
from ordeal._engine.runs.writer import RunWriter
from ordeal.result import ExplorationResult, Failure, FoundFailure, ProgressSnapshot

from ...samples.results import make_result

CLASS = "tests.bank:Bank"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time by the writer's clock, which a test moves."""
    now = [0.0]
    monkeypatch.setattr(writer_module, "monotonic", lambda: now[0])
    return now


def at(runs: int, edges: int, found: int = 0) -> ProgressSnapshot:
    told = tuple(FoundFailure(f"id{n}", "bucket", f"Error: {n}", n, 3) for n in range(found))
    return ProgressSnapshot(0.0, runs, 2 * runs, edges, 1, found, 10.0, told, 7, 0.25)


def result(**changes: Any) -> ExplorationResult:
    return make_result(**{"test_class": CLASS} | changes)


def begun(folder: Path, **options: Any) -> RunWriter:
    writer = RunWriter(runs=folder, **options)
    writer.begun("1.0", [CLASS], {"seed": 1})
    writer.class_started(CLASS)
    return writer


def test_a_session_is_a_line_for_each_event_a_status_and_a_result(tmp_path: Path, clock: list[float]) -> None:
    writer = begun(tmp_path)
    writer.progress(at(1, 5))
    clock[0] = 3.0
    failure = Failure(error=ValueError("no"), step=2, run_id=3, active_faults=[], rule_log=[], bucket="b")
    writer.progress(at(9, 5, found=1))
    writer.class_done(result(failures=[failure], notes=("a note",)))
    writer.finished('{"results": []}', 1, interrupted=False)
    assert writer.folder is not None
    events = list(read_events(writer.folder))
    kinds = [type(event).__struct_config__.tag for event in events]
    assert kinds == [
        *("session", "class_started", "new_edges", "progress", "finding", "progress", "progress"),
        *("shrunk", "health", "class_done", "finished"),
    ]
    status = read_status(writer.folder)
    assert status is not None
    assert (status.state, status.runs, status.exit_code, status.next_run_max) == ("finished", 9, 1, 0.25)
    assert [each.error for each in status.findings] == ["ValueError: no"]
    assert read_result(writer.folder) == {"results": []}


def test_what_is_due_is_written_and_no_more(tmp_path: Path, clock: list[float]) -> None:
    writer = begun(tmp_path)
    for number in range(1, 401):
        clock[0] = number / 100
        writer.progress(at(number, number))
    assert writer.folder is not None
    events = list(read_events(writer.folder))
    assert sum(isinstance(event, Progress) for event in events) == 4
    edges = [event.runs for event in events if isinstance(event, NewEdges)]
    # Dense at the beginning, where most is new.
    assert 80 < len(edges) < 200
    assert edges[:3] == [1, 3, 5]


def test_the_writing_is_bounded_and_its_last_event_is_there(
    tmp_path: Path, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "BYTES_MAX", 2_000)
    writer = begun(tmp_path)
    for number in range(1, 100):
        clock[0] = float(number)
        writer.progress(at(number, number))
    writer.finished("{}", 0, interrupted=False)
    assert writer.folder is not None
    assert (writer.folder / EVENTS).stat().st_size < 2_500
    assert type(list(read_events(writer.folder))[-1]).__struct_config__.tag == "finished"


@pytest.mark.parametrize("text", ["x" * 10**6, "line\nline\x1b[31m", "\ud800 lone", '"}{' * 99, "\0"])
def test_hostile_texts_are_bounded_and_stay_on_their_line(tmp_path: Path, clock: list[float], text: str) -> None:
    writer = begun(tmp_path)
    failure = Failure(error=ValueError(text), step=1, run_id=1, active_faults=[text], rule_log=[], bucket=text)
    writer.progress(ProgressSnapshot(0, 1, 1, 1, 1, 1, 1, (FoundFailure("id", text, text, 1, 1),)))
    writer.class_done(result(failures=[failure], notes=(text,)))
    assert not writer.trouble
    assert writer.folder is not None
    lines = (writer.folder / EVENTS).read_bytes().splitlines()
    assert all(len(line) < 10_000 for line in lines)
    decoded = [msgspec.json.decode(line, type=AnyEvent) for line in lines]
    assert [type(event) for event in decoded if isinstance(event, Found | Shrunk)] == [Found, Shrunk]


def test_a_folder_that_cannot_be_written_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    writer = begun(tmp_path / "file")
    writer.progress(at(1, 1))
    writer.class_done(result())
    writer.finished("{}", 0, interrupted=False)
    assert writer.folder is None
    assert "file cannot be written: " in writer.trouble


def test_a_folder_that_goes_away_ends_the_writing(tmp_path: Path, clock: list[float]) -> None:
    writer = begun(tmp_path)
    assert writer.folder is not None
    for path in writer.folder.iterdir():
        path.unlink()
    writer.folder.rmdir()
    clock[0] = 5.0
    writer.progress(at(1, 1))
    assert "No such file" in writer.trouble
    writer.finished("{}", 0, interrupted=False)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a fork")
def test_a_session_that_is_killed_leaves_whole_lines_and_a_status(tmp_path: Path) -> None:
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        writer = begun(tmp_path)
        number = 0
        while True:
            number += 1
            writer._progress_due = writer._edges_due = 0.0
            writer.progress(at(number, number, found=number % 50))
            if number == 50:
                os.write(tell, b".")
    os.read(ready, 1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    (folder,) = run_folders(tmp_path)
    lines = (folder / EVENTS).read_bytes().split(b"\n")
    for line in lines[:-1]:
        assert json.loads(line)["type"]
    assert isinstance(next(read_events(folder)), SessionBegun)
    assert msgspec.json.decode((folder / STATUS).read_bytes(), type=RunStatus).state == "running"


def test_classes_are_told_apart(tmp_path: Path, clock: list[float]) -> None:
    writer = begun(tmp_path)
    writer.progress(at(3, 3, found=1))
    writer.class_done(result())
    writer.class_started("tests.bank:Other")
    writer.progress(at(1, 3, found=1))
    assert writer.folder is not None
    status = read_status(writer.folder)
    assert status is not None
    events = list(read_events(writer.folder))
    assert [event.findings for event in events if isinstance(event, ClassDone)] == [0]
    assert sum(isinstance(event, NewEdges) for event in events) >= 1
    assert sum(isinstance(event, Found) for event in events) == 2


@pytest.mark.parametrize(
    "event",
    [
        Health(elapsed=0.5, message=""),
        NewEdges(elapsed=0, runs=1, edges=2),
        Found(elapsed=1, id="5ad946", bucket="b", error="E: m", run_id=0, steps=1),
        Progress(elapsed=1, runs=1, steps=1, edges=1, checkpoints=0, findings=0, runs_per_second=0.5),
    ],
)
def test_an_event_is_as_the_schema_says(event: Event) -> None:
    jsonschema.validate(msgspec.to_builtins(event), schemas()["event"])


def test_the_schema_refuses_what_is_no_event() -> None:
    for wrong in (
        {"type": "finding"},
        {"type": "nope", "elapsed": 1},
        {"type": "health", "elapsed": -1, "message": ""},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schemas()["event"])
