"""Only regular files are read, and no more of them than is wanted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ordeal._base.regular_file import read_regular


def test_a_file_is_read_to_one_byte_more_than_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_regular(path, 9) == b"12345"
    assert read_regular(path, 3) == b"1234"


def test_what_may_have_no_end_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), Path(os.devnull)):
        with pytest.raises(OSError, match="no regular file"):
            read_regular(path, 9)


def test_a_folder_and_nothing_are_refused_as_usual(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path, 9)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none", 9)
