"""Findings as plain values mean the same for a machine whose rules have changed their places."""

from __future__ import annotations

import pytest

import ordeal._native as _native
from ordeal._base.untrusted import remote_error
from ordeal._engine.replay.trace_builder import Provenance
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.records import FindingRecords, writable_text

TAPE = _native.Tape.from_steps([(0, 0, 0, [])])
THEN = FindingRecords((["put", "take"], [], ["disk", "net"], []))
NOW = FindingRecords((["look", "take", "put"], [], ["net"], []))


def test_an_origin_is_kept_by_names() -> None:
    origin = Provenance(8, 3, ([True, False], [False, True]), 5, [0, 4])
    assert THEN.origin(THEN.saved_provenance(origin)) == origin
    moved = NOW.origin(THEN.saved_provenance(origin))
    assert moved == Provenance(8, 3, ([False, False, True], [True]), 5, [0, 4, 0])


def test_an_origin_without_a_swarm_stays_without() -> None:
    saved = THEN.saved_provenance(Provenance(1, 0, None, 0))
    assert (saved.swarm, saved.weights) == (None, {})
    assert THEN.origin(saved) == Provenance(1, 0, None, 0, [])


def test_a_finding_keeps_what_was_known_of_it_and_the_traceback_it_had() -> None:
    finding = Finding("\ud800 b", TAPE, Provenance(1, 0, None, 0, []), ValueError("\ud800"), count=3, flaky=True)
    finding.error_traceback = "\ud800 tb"
    read = THEN.finding(THEN.saved_finding(finding), TAPE)
    assert (read.bucket, read.count, read.flaky, read.origin) == ("\\ud800 b", 3, True, finding.origin)
    assert (type(read.error).__name__, str(read.error)) == ("ValueError", "\\ud800")
    assert read.error_traceback == "\\ud800 tb"
    assert (read.shrunk, read.seed) == (False, None)


def test_a_finding_without_a_traceback_gets_that_of_its_error() -> None:
    finding = Finding("b", TAPE, Provenance(1, 0, None, 0), ValueError("of here"))
    assert "ValueError: of here" in THEN.saved_finding(finding).traceback


def test_a_text_that_raises_is_no_obstacle() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    saved = THEN.saved_finding(Finding("b", TAPE, Provenance(1, 0, None, 0), MuteError()))
    assert (saved.error_type, saved.error_message) == ("MuteError", "<MuteError whose text raises>")


@pytest.mark.parametrize(("text", "written"), [("plain ü", "plain ü"), ("\ud800x", "\\ud800x"), ("", "")])
def test_any_text_can_be_written(text: str, written: str) -> None:
    assert writable_text(text) == written
    assert written.encode().decode() == written


def test_an_error_of_elsewhere_reads_as_the_one_that_it_stands_for_and_is_caught_as_no_other() -> None:
    error = remote_error("KeyboardInterrupt", "pressed")
    assert (type(error).__name__, type(error).__module__, str(error)) == ("KeyboardInterrupt", "builtins", "pressed")
    assert not isinstance(error, KeyboardInterrupt)
