"""Descriptors of the simulated file system do what those of the operating system do, and refuse what they refuse."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

import pytest

from ordeal.simulate import descriptors
from ordeal.simulate.descriptors import (
    BUFFER_BYTES,
    FIRST_DESCRIPTOR,
    AnyPath,
    Descriptor,
    Descriptors,
    SimulatedFile,
    absolute,
    check_arguments,
    flags_of,
    in_layers,
    open_descriptor,
)
from ordeal.simulate.disk import File
from ordeal.simulate.file_system import FileSystem


@pytest.fixture
def files() -> FileSystem:
    found = FileSystem()
    found.write("/file", b"abcdef")
    return found


def opened(files: FileSystem, where: str = "/file", flags: int = os.O_RDWR) -> Descriptor:
    return files.descriptors.get(open_descriptor(files, where, flags))


def code_of(call: Callable[[], object]) -> int | None:
    with pytest.raises(OSError) as caught:  # noqa: PT011 - its code is looked at
        call()
    return caught.value.errno


@pytest.mark.parametrize(
    ("offset", "whence", "place"),
    [(3, os.SEEK_SET, 3), (-1, os.SEEK_CUR, 1), (-2, os.SEEK_END, 4), (9, os.SEEK_END, 15)],
)
def test_it_is_moved_from_three_places(files: FileSystem, offset: int, whence: int, place: int) -> None:
    descriptor = opened(files)
    descriptor.offset = 2
    assert descriptors.seek(descriptor, offset, whence) == descriptor.offset == place


def test_it_stays_where_it_is_when_it_cannot_be_moved(files: FileSystem) -> None:
    descriptor = opened(files)
    descriptor.offset = 2
    assert code_of(lambda: descriptors.seek(descriptor, -3, os.SEEK_CUR)) == errno.EINVAL
    assert code_of(lambda: descriptors.seek(descriptor, 0, 99)) == errno.EINVAL
    assert descriptor.offset == 2


def test_opening_to_write_may_make_or_empty_the_file(files: FileSystem) -> None:
    opened(files, "/new", os.O_WRONLY | os.O_CREAT)
    assert files.read("/new") == b""
    opened(files, "/file", os.O_RDONLY | os.O_TRUNC)
    assert files.read("/file") == b"abcdef", "it was opened for reading"
    opened(files, "/file", os.O_WRONLY | os.O_TRUNC)
    assert files.read("/file") == b""


def test_a_number_is_not_given_twice_and_a_stale_one_is_nobody() -> None:
    table = Descriptors()
    first = table.add(Descriptor("/a", File(1, 0.0), os.O_RDONLY))
    assert first == FIRST_DESCRIPTOR
    table.close(first)
    second = table.add(Descriptor("/b", File(2, 0.0), os.O_RDONLY))
    assert second != first
    assert (table.is_open(first), table.is_open(second)) == (False, True)
    assert code_of(lambda: table.get(first)) == errno.EBADF
    assert code_of(lambda: table.close(first)) == errno.EBADF
    table.forget()
    assert code_of(lambda: table.get(second)) == errno.EBADF


@pytest.fixture
def lines() -> FileSystem:
    found = FileSystem()
    found.write("/file", b"one\ntwo\n")
    return found


def raw(lines: FileSystem, mode: str = "r+b", *, closefd: bool = True) -> SimulatedFile:
    number = open_descriptor(lines, "/file", flags_of(mode))
    return SimulatedFile(lines, number, "/file", mode, closefd)


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


def test_layers_are_those_of_python(lines: FileSystem) -> None:
    kinds: list[tuple[str, int, type]] = [
        ("rb", -1, io.BufferedReader),
        ("r+b", -1, io.BufferedRandom),
        ("ab", 100, io.BufferedWriter),
        ("r", -1, io.TextIOWrapper),
        ("rb", 0, SimulatedFile),
    ]
    for mode, buffering, kind in kinds:
        file = in_layers(raw(lines, mode), mode, buffering, None, None, None)
        assert (type(file), file.mode) == (kind, mode)
        file.close()
    with pytest.raises(ValueError, match="unbuffered text"):
        in_layers(raw(lines, "r"), "r", 0, None, None, None)


def test_a_large_buffer_is_kept_until_it_is_full(lines: FileSystem) -> None:
    file = in_layers(raw(lines, "wb"), "wb", -1, None, None, None)
    file.write(b"x" * (BUFFER_BYTES - 1))
    assert lines.read("/file") == b""
    file.write(b"xx")
    assert len(lines.read("/file")) >= BUFFER_BYTES - 1
    file.close()
    assert len(lines.read("/file")) == BUFFER_BYTES + 1


def test_reading_moving_and_cutting(lines: FileSystem) -> None:
    file = raw(lines)
    assert (file.read(3), file.tell()) == (b"one", 3)
    assert file.seek(-4, os.SEEK_END) == 4
    assert file.readall() == b"two\n"
    assert file.truncate(3) == 3
    assert lines.read("/file") == b"one"
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
def test_what_it_was_not_opened_for_is_unsupported(lines: FileSystem, mode: str, act: Any, message: str) -> None:
    with pytest.raises(io.UnsupportedOperation, match=message):
        act(raw(lines, mode))


@pytest.mark.parametrize("act", [lambda f: f.read(1), lambda f: f.write(b""), lambda f: f.tell(), lambda f: f.fileno()])
def test_a_closed_file_refuses_all(lines: FileSystem, act: Any) -> None:
    file = raw(lines)
    number = file.fileno()
    file.close()
    file.close()
    assert not lines.descriptors.is_open(number)
    with pytest.raises(ValueError, match="closed file"):
        act(file)


def test_a_descriptor_of_somebody_else_stays_open(lines: FileSystem) -> None:
    file = raw(lines, closefd=False)
    number = file.fileno()
    file.close()
    assert lines.descriptors.is_open(number)


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("a", "/a"),
        ("/a/b", "/a/b"),
        ("//a//b/", "/a/b"),
        ("///a", "/a"),
        ("a/../b/.", "/b"),
        ("../../a", "/a"),
        ("/..", "/"),
        ("", "/"),
        (".", "/"),
        (PurePosixPath("a/b"), "/a/b"),
    ],
)
def test_a_path_has_one_absolute_form(path: AnyPath, where: str) -> None:
    assert absolute(path) == where
    assert absolute(where) == where
