"""What workers tell arrives as it was, and nothing else is taken for it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ordeal._engine.isolation.channel import ChannelError, Value
from ordeal._engine.parallel.messages import (
    EarlierProcesses,
    WorkerEnd,
    WorkerError,
    WorkerReport,
    unpack_keys,
)
from ordeal._engine.triage.messages import pack, unpack


@pytest.mark.parametrize("data", [b"1234567", b"123456789", "12345678", 8, None, True])
def test_damaged_keys_are_refused(data: Value) -> None:
    with pytest.raises(ChannelError, match="damaged"):
        unpack_keys(data)


def full_report() -> WorkerReport:
    return WorkerReport(
        tally={"runs": 3},
        notes=["one", "two"],
        snapshot_kind="fork",
        checkpoints=4,
        checkpoints_saved=5,
        swarm={"runs": 6},
        run_kinds={"fresh": {"runs": 7}},
        counts={"a bucket": 8},
        properties={"always": [{"name": "p", "hits": 9, "share": 0.5, "first": None, "holds": True}]},
        lines={"/a.py": [1, 2]},
        discovery=(1, 2, 3.5, 4.5, 5),
    )


@pytest.mark.parametrize(
    "record",
    [
        WorkerReport(),
        full_report(),
        EarlierProcesses(),
        EarlierProcesses(processes=2, report=full_report(), resumed=WorkerReport(), unreported=[2**64 - 1]),
        WorkerEnd(reason="patience"),
        WorkerError(kind="MachineError", message="m", hint="h"),
    ],
    ids=lambda record: type(record).__name__,
)
def test_records_arrive_as_they_were(record: msgspec.Struct) -> None:
    assert unpack(pack(record), type(record)) == record


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (WorkerReport, {"tally": {"runs": "3"}}),
        (WorkerReport, {"snapshot_kind": "by magic"}),
        (WorkerReport, {"discovery": [1, 2]}),
        (WorkerReport, {"more": 1}),
        (EarlierProcesses, {"processes": -1}),
        (WorkerEnd, {"reason": "because"}),
    ],
)
def test_a_record_with_a_wrong_field_is_refused(kind: type[msgspec.Struct], change: dict[str, Any]) -> None:
    good: dict[type, msgspec.Struct] = {
        WorkerReport: full_report(),
        EarlierProcesses: EarlierProcesses(),
        WorkerEnd: WorkerEnd(reason="time"),
    }
    fields = msgspec.to_builtins(good[kind]) | change
    with pytest.raises(ChannelError, match="damaged"):
        unpack(msgspec.json.encode(fields), kind)
