"""File objects of the simulated file system behave as Python's own, also in what they refuse."""

from __future__ import annotations

import io
import os
from typing import Any

import pytest

from ordeal.simulate.descriptors import open_descriptor
from ordeal.simulate.file_system import FileSystem
from ordeal.simulate.open_files import BUFFER_BYTES, SimulatedFile, check_arguments, flags_of, in_layers


@pytest.fixture
def files() -> FileSystem:
    found = FileSystem()
    found.write("/file", b"one\ntwo\n")
    return found


def raw(files: FileSystem, mode: str = "r+b", *, closefd: bool = True) -> SimulatedFile:
    number = open_descriptor(files, "/file", flags_of(mode))
    return SimulatedFile(files, number, "/file", mode, closefd)


@pytest.mark.parametrize(
    ("mode", "flags"),
    [
        ("r", os.O_RDONLY),
        ("rb+", os.O_RDWR),
        ("w", os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        ("+wt", os.O_RDWR | os.O_CREAT | os.O_TRUNC),
        ("a", os.O_WRONLY | os.O_CREAT | os.O_APPEND),
        ("xb", os.O_WRONLY | os.O_CREAT | os.O_EXCL),
    ],
)
def test_modes_are_flags(mode: str, flags: int) -> None:
    assert flags_of(mode) == flags


@pytest.mark.parametrize("mode", ["", "b", "rw", "rr", "rbt", "r++", "U", "r "])
def test_modes_that_python_refuses_are_refused(mode: str, tmp_path: Any) -> None:
    with pytest.raises(ValueError, match="mode"):
        open(tmp_path / "real", mode)  # noqa: PTH123, SIM115
    with pytest.raises(ValueError, match="invalid mode"):
        flags_of(mode)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("/a", "rb", "utf-8", None, None, True), "binary mode"),
        (("/a", "rb", None, "strict", None, True), "binary mode"),
        (("/a", "rb", None, None, "\n", True), "binary mode"),
        (("/a", "r", None, None, None, False), "closefd=False"),
    ],
)
def test_arguments_that_do_not_go_together_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_arguments(*arguments)
    check_arguments(3, "r", "utf-8", "strict", "\n", False)


def test_layers_are_those_of_python(files: FileSystem) -> None:
    kinds: list[tuple[str, int, type]] = [
        ("rb", -1, io.BufferedReader),
        ("r+b", -1, io.BufferedRandom),
        ("ab", 100, io.BufferedWriter),
        ("r", -1, io.TextIOWrapper),
        ("rb", 0, SimulatedFile),
    ]
    for mode, buffering, kind in kinds:
        file = in_layers(raw(files, mode), mode, buffering, None, None, None)
        assert (type(file), file.mode) == (kind, mode)
        file.close()
    with pytest.raises(ValueError, match="unbuffered text"):
        in_layers(raw(files, "r"), "r", 0, None, None, None)


def test_text_by_lines_is_written_line_by_line(files: FileSystem) -> None:
    file = in_layers(raw(files, "w"), "w", 1, "utf-8", None, None)
    file.write("é")
    assert files.read("/file") == b""
    file.write("\n")
    assert files.read("/file") == b"\xc3\xa9\n"
    file.close()


def test_a_large_buffer_is_kept_until_it_is_full(files: FileSystem) -> None:
    file = in_layers(raw(files, "wb"), "wb", -1, None, None, None)
    file.write(b"x" * (BUFFER_BYTES - 1))
    assert files.read("/file") == b""
    file.write(b"xx")
    assert len(files.read("/file")) >= BUFFER_BYTES - 1
    file.close()
    assert len(files.read("/file")) == BUFFER_BYTES + 1


def test_reading_moving_and_cutting(files: FileSystem) -> None:
    file = raw(files)
    assert (file.read(3), file.tell()) == (b"one", 3)
    assert file.seek(-4, os.SEEK_END) == 4
    assert file.readall() == b"two\n"
    assert file.truncate(3) == 3
    assert files.read("/file") == b"one"
    file.seek(1)
    assert file.truncate() == 1
    assert (file.readable(), file.writable(), file.seekable(), file.isatty()) == (True, True, True, False)


@pytest.mark.parametrize(
    ("mode", "act", "message"),
    [
        ("wb", lambda f: f.read(1), "not open for reading"),
        ("rb", lambda f: f.write(b"x"), "not open for writing"),
        ("rb", lambda f: f.truncate(0), "not open for writing"),
    ],
)
def test_what_it_was_not_opened_for_is_unsupported(files: FileSystem, mode: str, act: Any, message: str) -> None:
    with pytest.raises(io.UnsupportedOperation, match=message):
        act(raw(files, mode))


@pytest.mark.parametrize("act", [lambda f: f.read(1), lambda f: f.write(b""), lambda f: f.tell(), lambda f: f.fileno()])
def test_a_closed_file_refuses_all(files: FileSystem, act: Any) -> None:
    file = raw(files)
    number = file.fileno()
    file.close()
    file.close()
    assert not files.descriptors.is_open(number)
    with pytest.raises(ValueError, match="closed file"):
        act(file)


def test_a_descriptor_of_somebody_else_stays_open(files: FileSystem) -> None:
    file = raw(files, closefd=False)
    number = file.fileno()
    file.close()
    assert files.descriptors.is_open(number)


def test_after_a_crash_its_program_is_gone(files: FileSystem) -> None:
    file = raw(files)
    files.fsync("/file")
    files.fsync("/")
    files.crash()
    assert file.write(b"lost") == 4
    assert file.read(3) == b""
    assert file.truncate(0) == 0
    file.close()
    assert files.read("/file") == b"one\ntwo\n"
