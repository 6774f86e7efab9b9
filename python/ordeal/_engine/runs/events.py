"""The events of a run and its status: what the files in its folder hold, and the schemas that say so."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ordeal._base.formatting import writable_text
from ordeal._base.json_fields import Count, Seconds
from ordeal._base.limits import MESSAGE_CHARS_MAX
from ordeal.result.parts import WorkerProgress

#: Rises when a reader of the old form could no longer read the new one.
SCHEMA_VERSION = 1


class Event(msgspec.Struct, kw_only=True, frozen=True, tag_field="type"):
    """What all events have: ``elapsed`` is in seconds since the session began."""

    elapsed: Seconds


class SessionBegun(Event, tag="session", frozen=True):
    """The first event. ``options`` are those of the session; ``started`` is a time in UTC as ISO 8601."""

    schema_version: int
    run_id: str
    started: str
    version: str
    classes: list[str]
    options: dict[str, Any]


class ClassStarted(Event, tag="class_started", frozen=True):
    """The search of a class begins. The figures of the events that follow are those of this class."""

    test_class: str


class Progress(Event, tag="progress", frozen=True):
    """The figures of the class, once a second. ``next_run_max`` bounds the probability that a run shows a new edge."""

    runs: Count
    steps: Count
    edges: Count
    checkpoints: Count
    findings: Count
    runs_per_second: Seconds
    lines: Count = 0
    next_run_max: float | None = None


class NewEdges(Event, tag="new_edges", frozen=True):
    """New code was reached. When much is new at once, one event stands for all of it."""

    runs: Count
    edges: Count


class Found(Event, tag="finding", frozen=True):
    """A failure was found and failed again from a fresh machine. It is shrunk after the search."""

    id: str
    bucket: str
    error: str
    run_id: Count
    steps: Count


class ShrinkingBegun(Event, tag="shrinking", frozen=True):
    """Failure ``number`` of ``total`` is being shrunk."""

    number: Count
    total: Count
    steps: Count


class Shrunk(Event, tag="shrunk", frozen=True):
    """A failure as it is reported. ``place`` is empty where it is not known."""

    id: str
    error: str
    steps: Count
    count: Count
    flaky: bool
    faults: list[str]
    place: str = ""


class SeedReplayed(Event, tag="seed", frozen=True):
    """A saved failure was run again."""

    name: str
    status: Literal["fixed", "reproduced", "fails_differently", "no_longer_applies"] | str
    message: str


class Health(Event, tag="health", frozen=True):
    """Something that the user should know, one sentence."""

    message: str


class ClassDone(Event, tag="class_done", frozen=True):
    """The search of a class is over."""

    test_class: str
    stopped_reason: str
    runs: Count
    steps: Count
    edges: Count
    findings: Count


class Finished(Event, tag="finished", frozen=True):
    """The last event. Where it is missing, the session was ended, or still goes on."""

    findings: Count
    exit_code: int


AnyEvent = (
    SessionBegun
    | ClassStarted
    | Progress
    | NewEdges
    | Found
    | ShrinkingBegun
    | Shrunk
    | SeedReplayed
    | Health
    | ClassDone
    | Finished
)


class StatusFinding(msgspec.Struct, kw_only=True, frozen=True):
    """A failure in a status."""

    id: str
    test_class: str
    error: str


class RunStatus(msgspec.Struct, kw_only=True, frozen=True):
    """The state of a run, rewritten at most once a second. The figures are those of the class under search.

    ``state`` says ``running`` also of a run that was killed; then ``pid`` names no process.
    ``findings`` holds the first hundred of the session, ``workers`` those of the class by their number.
    """

    schema_version: int
    run_id: str
    state: Literal["running", "finished", "interrupted"]
    started: str
    pid: Count
    elapsed: Seconds
    test_class: str
    classes: list[str]
    classes_done: Count
    runs: Count
    steps: Count
    edges: Count
    lines: Count
    checkpoints: Count
    runs_per_second: Seconds
    next_run_max: float | None
    findings: list[StatusFinding]
    findings_total: Count
    exit_code: int | None = None
    workers: list[WorkerProgress] = []


def short(text: str) -> str:
    """Return a text of the program under test as an event holds it: of limited length, and valid as UTF-8."""
    cut = text if len(text) <= MESSAGE_CHARS_MAX else f"{text[: MESSAGE_CHARS_MAX - 3]}..."
    return writable_text(cut)


def plain(value: object) -> object:
    """Return the value of an option as an event holds it."""
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value if isinstance(value, bool | int | float | None) else short(str(value))
