"""What a job of triage tells arrives as it was, whatever characters are in it."""

from __future__ import annotations

import pytest

import ordeal._native as _native
from ordeal._engine.isolation.channel import ChannelError, Value, decode, encode
from ordeal._engine.storage.state_file import Provenance
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.messages import (
    FailureWritten,
    Message,
    finding_of,
    pack_failure,
    pack_finding,
    pack_message,
    saved_finding,
    unpack_failure,
    unpack_finding,
    unpack_message,
)
from ordeal.errors import OrdealError
from ordeal.result import Failure
from ordeal.trace import Trace, TraceFailure, TraceStep


def test_a_failure_keeps_its_trace_whatever_it_holds() -> None:
    trace = Trace(
        run_id=1,
        seed=42,
        test_class="a:B",
        steps=[TraceStep("rule", "add", choices={"by": [2**100, 10**400, float("nan"), b"\xff", "\ud800"]})],
        failure=TraceFailure("ValueError", "half a pair: \ud800", 1, "bucket"),
    )
    failure = Failure(
        error=ValueError("half a pair: \ud800"), step=1, run_id=1, active_faults=[], rule_log=[], trace=trace
    )
    told = unpack_failure(pack_failure(failure))
    assert told.trace is not None
    assert told.trace.to_json() == trace.to_json()
    assert str(told.error) == "half a pair: \\ud800"


NAMES: _native.MachineNames = (["put", "take"], [], ["power"], ["by"])


def tape(*numbers: int) -> _native.Tape:
    return _native.Tape.from_steps((0, 0, at, [(0, [number])]) for at, number in enumerate(numbers))


def sent(message: Message) -> Message:
    """``message`` as another process hears it: what a channel carries of it included."""
    return unpack_message(decode(encode(pack_message(message, NAMES))), NAMES)


@pytest.mark.parametrize("finished", [True, False])
def test_a_failure_arrives_with_its_tape_and_all_that_is_known_of_it(finished: bool) -> None:
    failure = Failure(
        error=OSError("out"), step=2, run_id=3, active_faults=["power"], rule_log=["put", "take"],
        necessary_faults={"power": True}, error_traceback="\udcff", bucket="b", count=4, flaky=True,
        flaky_reason="moody", shrunk=True, trace_path="t", seed_path="s", program="p",
    )  # fmt: skip
    told = sent(FailureWritten(failure, tape(1, 2), finished))
    assert isinstance(told, FailureWritten)
    assert (told.finished, told.tape.hash()) == (finished, tape(1, 2).hash())
    for name in {*Failure.__struct_fields__} - {"error", "error_traceback"}:
        assert getattr(told.failure, name) == getattr(failure, name), name
    assert told.failure.error_traceback == "\\udcff"
    assert (type(told.failure.error).__name__, str(told.failure.error)) == ("OSError", "out")


def test_the_swarm_of_a_trace_keeps_the_types_of_its_values() -> None:
    params = {"rules": ["put"], "weights": {"put": 3, "take": 1}}
    trace = Trace(1, 42, "a:B", steps=[TraceStep("rule_swarm", "[swarm put]", params=params), TraceStep("rule", "put")])
    failure = Failure(error=ValueError(), step=1, run_id=1, active_faults=[], rule_log=[], trace=trace)
    told = unpack_failure(pack_failure(failure))
    assert told.trace is not None
    assert told.trace.steps[0].params == params


def damaged() -> list[list[Value]]:
    record, packed = pack_finding(Finding("b", tape(1), Provenance(0, 0, None, 0), ValueError()), NAMES)
    outcome = b'{"name":"s","path":"p","status":"reproduced","message":""}'
    failure = pack_failure(Failure(error=ValueError(), step=1, run_id=1, active_faults=[], rule_log=[]))
    return [
        [],
        [None],
        ["no such kind"],
        ["seed begun"],
        ["seed begun", 1],
        ["seed begun", "a", "b"],
        ["shrinking", 1, 2],
        ["shrinking", 1, 2, "3"],
        ["not in database", b"why"],
        ["trace", "text"],
        ["seed replayed", "p", outcome, record],  # its tape is gone
        ["seed replayed", "p", "outcome"],
        ["seed replayed", "p", b"{}"],
        ["seed replayed", "p", outcome, record[:-1], packed],
        ["seed replayed", "p", outcome, record, None],
        ["failure", failure, None, True],
        ["failure", failure, packed, 1],
        ["failure", failure.replace(b'"step":1', b'"step":"1"'), packed, True],
        ["failure", failure.replace(b'"step":1', b'"step":1,"more":1'), packed, True],
        ["failure", b"[" * 100_000, packed, True],
        ["failure", None, packed, True],
    ]


@pytest.mark.parametrize("values", damaged(), ids=lambda values: str(values)[:60])
def test_what_is_no_message_is_refused(values: list[Value]) -> None:
    with pytest.raises(ChannelError):
        unpack_message(values, NAMES)


def test_a_damaged_tape_or_trace_is_refused() -> None:
    record, packed = pack_finding(Finding("b", tape(1), Provenance(0, 0, None, 0), ValueError()), NAMES)
    unpack_finding(record, packed, NAMES)
    for cut in (packed[:-1], b"", packed + b"x"):
        with pytest.raises((ValueError, ChannelError)):
            unpack_finding(record, cut, NAMES)
    with pytest.raises(OrdealError):
        unpack_message(["trace", b"{"], NAMES)


# -- findings by names ------------------------------------------------------------------------------------------------


def test_a_finding_keeps_what_was_known_of_it_and_the_traceback_it_had() -> None:
    finding = Finding("\ud800 b", tape(0), Provenance(1, 0, None, 0), ValueError("\ud800"), count=3, flaky=True)
    finding.error_traceback = "\ud800 tb"
    read = finding_of(saved_finding(finding), tape(0))
    assert (read.bucket, read.count, read.flaky, read.origin) == ("\\ud800 b", 3, True, finding.origin)
    assert (type(read.error).__name__, str(read.error)) == ("ValueError", "\\ud800")
    assert read.error_traceback == "\\ud800 tb"
    assert read.seed is None


def test_a_text_that_raises_is_no_obstacle() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    saved = saved_finding(Finding("b", tape(0), Provenance(1, 0, None, 0), MuteError()))
    assert (saved.error_type, saved.error_message) == ("MuteError", "<MuteError whose text raises>")
