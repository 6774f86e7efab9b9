"""Descriptors of the simulated file system do what those of the operating system do, and refuse what they refuse."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

import pytest

from ordeal.simulate import descriptors
from ordeal.simulate.descriptors import FIRST_DESCRIPTOR, Descriptor, Descriptors, open_descriptor
from ordeal.simulate.disk import File, Folder
from ordeal.simulate.file_system import FileSystem


@pytest.fixture
def files() -> FileSystem:
    found = FileSystem()
    found.write("/file", b"abcdef")
    found.new_folder("/folder")
    return found


def opened(files: FileSystem, where: str = "/file", flags: int = os.O_RDWR) -> Descriptor:
    return files.descriptors.get(open_descriptor(files, where, flags))


def code_of(call: Callable[[], object]) -> int | None:
    with pytest.raises(OSError) as caught:  # noqa: PT011 - its code is looked at
        call()
    return caught.value.errno


@pytest.mark.parametrize(
    ("flags", "readable", "writable"),
    [(os.O_RDONLY, True, False), (os.O_WRONLY, False, True), (os.O_RDWR | os.O_APPEND, True, True)],
)
def test_it_may_do_what_it_was_opened_for(files: FileSystem, flags: int, readable: bool, writable: bool) -> None:
    descriptor = opened(files, flags=flags)
    assert (descriptor.readable, descriptor.writable) == (readable, writable)
    if not readable:
        assert code_of(lambda: descriptors.read(files, descriptor, 1)) == errno.EBADF
    if not writable:
        assert code_of(lambda: descriptors.write(files, descriptor, b"x")) == errno.EBADF
        assert code_of(lambda: descriptors.resize(files, descriptor, 0)) == errno.EINVAL


def test_reading_and_writing_move_it(files: FileSystem) -> None:
    descriptor = opened(files)
    assert descriptors.read(files, descriptor, 2) == b"ab"
    assert descriptors.write(files, descriptor, b"XY") == 2
    assert descriptors.read(files, descriptor, 99) == b"ef"
    assert descriptors.read(files, descriptor, 99) == b""
    assert files.read("/file") == b"abXYef"


def test_another_place_leaves_it_where_it_stands(files: FileSystem) -> None:
    descriptor = opened(files)
    assert descriptors.read(files, descriptor.at(4), 9) == b"ef"
    assert descriptor.offset == 0
    assert code_of(lambda: descriptor.at(-1)) == errno.EINVAL


def test_appending_goes_to_the_end(files: FileSystem) -> None:
    descriptor = opened(files, flags=os.O_WRONLY | os.O_APPEND)
    descriptors.write(files, descriptor, b"1")
    descriptors.seek(descriptor, 0, os.SEEK_SET)
    descriptors.write(files, descriptor, b"2")
    assert files.read("/file") == b"abcdef12"
    assert descriptor.offset == 8


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


def test_sizes_are_set_and_a_negative_one_is_refused(files: FileSystem) -> None:
    descriptor = opened(files)
    descriptors.resize(files, descriptor, 2)
    descriptors.resize(files, descriptor, 3)
    assert files.read("/file") == b"ab\0"
    assert code_of(lambda: descriptors.resize(files, descriptor, -1)) == errno.EINVAL


@pytest.mark.parametrize(
    ("where", "flags", "code"),
    [
        ("/none", os.O_RDONLY, errno.ENOENT),
        ("/none", os.O_WRONLY, errno.ENOENT),
        ("/file", os.O_WRONLY | os.O_CREAT | os.O_EXCL, errno.EEXIST),
        ("/file", os.O_RDONLY | os.O_DIRECTORY, errno.ENOTDIR),
        ("/folder", os.O_WRONLY, errno.EISDIR),
        ("/none/file", os.O_WRONLY | os.O_CREAT, errno.ENOENT),
    ],
)
def test_what_cannot_be_opened_has_the_code_of_the_system(files: FileSystem, where: str, flags: int, code: int) -> None:
    assert code_of(lambda: open_descriptor(files, where, flags)) == code


def test_opening_to_write_may_make_or_empty_the_file(files: FileSystem) -> None:
    opened(files, "/new", os.O_WRONLY | os.O_CREAT)
    assert files.read("/new") == b""
    opened(files, "/file", os.O_RDONLY | os.O_TRUNC)
    assert files.read("/file") == b"abcdef", "it was opened for reading"
    opened(files, "/file", os.O_WRONLY | os.O_TRUNC)
    assert files.read("/file") == b""


def test_a_folder_is_opened_and_has_no_content(files: FileSystem) -> None:
    descriptor = opened(files, "/folder", os.O_RDONLY | os.O_DIRECTORY)
    assert isinstance(descriptor.node, Folder)
    assert code_of(lambda: descriptors.read(files, descriptor, 1)) == errno.EISDIR


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
