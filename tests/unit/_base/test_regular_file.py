"""Files that anybody may have put there: each reader against each kind of file, none of which may hold it up."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ordeal._base.regular_file import read_regular, read_whole, source_text
from ordeal._engine.coverage.function_source import read_source
from ordeal._engine.coverage.targets import _digest
from ordeal._engine.properties.history import load_reached
from ordeal._engine.runs.folder import EVENTS, RESULT, STATUS, read_events, read_result, read_status
from ordeal._engine.storage.state_file import read_state
from ordeal._report.comparing import read_document
from ordeal._report.formats.sarif import _rule_lines
from ordeal._tools.mutation.source import Source
from ordeal._tools.scaffold.packages import parse
from ordeal._tools.scaffold.settings import ignore_change
from ordeal.errors import OrdealError
from ordeal.simulate.ticks.real_time import read_log
from ordeal.trace import Trace


def _in_run(name: str, read: Callable[[Path], Any]) -> Callable[[Path], Any]:
    def reader(path: Path) -> Any:
        path.parent.joinpath("run").mkdir()
        path.rename(path.parent / "run" / name)
        return read(path.parent / "run")

    return reader


READERS: dict[str, Callable[[Path], Any]] = {
    "regular": lambda path: read_regular(path, 100),
    "whole": read_whole,
    "source": source_text,
    "trace": Trace.load,
    "state": read_state,
    "events": _in_run(EVENTS, lambda run: list(read_events(run))),
    "status": _in_run(STATUS, read_status),
    "result": _in_run(RESULT, read_result),
    "report": read_document,
    "reached": load_reached,
    "digest": lambda path: _digest(str(path)),
    "functions": lambda path: read_source(str(path)),
    "methods": lambda path: _rule_lines(str(path), "Machine"),
    "mutated": lambda path: Source.of(path, "a.py"),
    "tree": parse,
    "ignored": ignore_change,
    "commands": lambda path: list(read_log(path, [])),
}
DEEP = 200_000
CONTENTS = {
    "nothing": b"",
    "zeros": b"\0" * 100,
    "deep": b"[" * DEEP + b"]" * DEEP,
    "surrogate": b'{"results": "\\ud800", "a": "\\u0000\\u001b"}',
    "not_utf8": b"\xff\xfe\x80",
    "encoding": b"# coding: no-such-code\n",
    "number": b"9" * 10_000,
}


@pytest.fixture(
    params=["pipe", "socket", "folder", "device", "link_to_pipe", "link_to_itself", "gone", "large", *CONTENTS]
)
def hostile(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that no reader expects."""
    monkeypatch.chdir(tmp_path)
    path, kind, held = Path("file.json"), request.param, socket.socket(socket.AF_UNIX)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        held.bind(str(path))
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "link_to_pipe":
        os.mkfifo("pipe")
        path.symlink_to(tmp_path / "pipe")
    elif kind == "link_to_itself":
        path.symlink_to(tmp_path / path)
    elif kind == "large":
        path.touch()
        os.truncate(path, 2**33)
    elif kind in CONTENTS:
        path.write_bytes(CONTENTS[kind])
    yield tmp_path / path
    held.close()


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_refuses_or_reads_at_once(reader: str, hostile: Path) -> None:
    if not os.path.lexists(hostile) and reader in ("events", "status", "result"):
        return
    try:
        READERS[reader](hostile)
    except (OSError, OrdealError):
        pass
    except (SyntaxError, ValueError):
        assert reader == "source"


def test_a_larger_file_is_cut_or_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abcd")
    assert read_regular(tmp_path / "a", 2) == b"abc"
    assert read_whole(tmp_path / "a", 4) == b"abcd"
    with pytest.raises(OSError, match="larger than 3 bytes"):
        read_whole(tmp_path / "a", 3)


def test_the_text_of_a_source_is_in_its_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"# coding: latin-1\r\nx = '\xe9'\r\n")
    assert source_text(tmp_path / "a.py") == "# coding: latin-1\nx = 'é'\n"
