"""Files of Python as mutation reads them."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from ordeal._tools.mutation.source import Source
from ordeal.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"x = 1\ry = 2\r", "a.py cannot be read as Python in UTF-8: line 1 ends with a carriage return alone"),
        (b"# coding: latin-1\ns = '\xc3\xa9'\n", "it declares the encoding iso-8859-1"),
        (b"# coding: gone\n", "unknown encoding"),
        (b"x = '\xe9'\n", "can't decode byte"),
        (b"x = 1\0\n", "a.py cannot be read as Python in UTF-8: source code"),
        (b"x = 1 +\n", "a.py:1 cannot be read as Python in UTF-8: invalid syntax"),
    ],
)
def test_what_is_read_otherwise_than_by_its_bytes_is_refused(tmp_path: Path, text: bytes, said: str) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(text)
    with pytest.raises(ConfigError) as caught:
        Source.of(path, "a.py")
    assert said in str(caught.value)


@pytest.mark.parametrize("text", [b"x = 1\r\ny = 2\r\n", b"# coding: latin-1\nx = 1\n", b"\xef\xbb\xbfx = 1\n"])
def test_what_means_the_same_is_read(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(text)
    assert Source.of(path, "a.py").tree.body


def test_nobody_is_warned_of_what_a_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(r'x = "\d"' + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Source.of(path, "a.py").tree.body
