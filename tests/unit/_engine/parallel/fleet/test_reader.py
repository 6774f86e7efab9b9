"""A store is read in a process with a time limit, and never written."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from ordeal._base.trace_file import Trace, TraceFailure, TraceStep
from ordeal._engine.parallel.fleet.reader import read_failures
from ordeal.errors import StoreError
from ordeal.store import FailureReport, Outgoing, open_store


def test_failures_of_all_versions_are_read_and_nothing_is_written(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    for number, namespace in enumerate(["old code", "new code"]):
        trace = Trace(7, 42, "m:A", steps=[TraceStep("rule", f"go{number}")])
        trace.failure = TraceFailure("ValueError", "bad", 1, "b")
        with open_store(f"dir://{shared}", namespace) as store:
            store.join()
            store.sync(Outgoing(failures=(FailureReport("bucket", trace.to_json(), 1, 1),)))
    before = {path: path.stat().st_mtime_ns for path in shared.rglob("*")}
    # Relative to the project.
    read = read_failures("dir://shared", ["m:A"], tmp_path / "seeds", project=tmp_path, seconds=30)
    assert {Trace.load(path).steps[0].name for path in read.saved} == {"go0", "go1"}
    assert {path: path.stat().st_mtime_ns for path in shared.rglob("*")} == before


def test_a_server_that_hangs_is_left_in_time_and_its_password_is_not_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"redis://:hush@127.0.0.1:{server.getsockname()[1]}/0"
        with pytest.raises(StoreError, match="did not answer within") as caught:
            read_failures(url, ["m:A"], tmp_path, project=tmp_path, seconds=0.5)
    assert "hush" not in str(caught.value)


def test_a_missing_store_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        read_failures(f"dir://{tmp_path}/none", ["m:A"], tmp_path, project=tmp_path, seconds=30)
    assert not (tmp_path / "none").exists()
