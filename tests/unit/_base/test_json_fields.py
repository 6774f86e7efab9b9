"""JSON that somebody else may have written: what is read, what is refused, and at what cost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ordeal._base import json_fields
from ordeal._base.json_fields import Record, checked, read_json
from ordeal._base.regular_file import read_regular
from ordeal.errors import TraceError


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "here is not JSON that can be read: Expecting value"),
        (b"{}}", "here is not JSON that can be read: Extra data"),
        (b"\xc3", "here is not UTF-8: unexpected end of data at byte 0"),
        (b'"\xed\xa0\x80"', "here is not UTF-8: invalid continuation byte at byte 1"),
        (b"\xef\xbb\xbf{}", "here is not JSON that can be read: Unexpected UTF-8 BOM"),
        (b"9" * 10_000, "here is not JSON that can be read: Exceeds the limit"),
        (b'[{"a": 1, "b": 2, "a": 3}]', "here is not JSON that can be read: the field 'a' occurs twice"),
    ],
)
def test_what_is_wrong_with_a_text_is_said(data: bytes, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        read_json(data, "here")


def test_values_are_counted_before_any_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_fields, "VALUES_MAX", 6)
    with pytest.raises(TraceError, match="here holds 7 values; at most 6 are read"):
        read_json(b"[1, [2, 3], {}, 4]", "here")
    assert read_json(b"[1, [2, 3], 4]", "here") == [1, [2, 3], 4]


@pytest.mark.parametrize("text", [",[{" * 9, "\\,,,,,,,\\", '",,,,,,,,"'])
def test_what_stands_in_a_string_is_no_value(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_fields, "VALUES_MAX", 6)
    assert read_json(json.dumps([text, text]).encode(), "here") == [text, text]


@pytest.mark.parametrize("tail", [b"", b"\\", b'\\"' * 1_000_000])
def test_a_string_without_an_end_is_looked_at_once(tail: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_fields, "VALUES_MAX", 6)
    with pytest.raises(TraceError, match="is not JSON"):
        read_json(b'[",,,,,,,,,,,,,,,,' + tail, "here")


def test_a_text_that_is_too_long_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_fields, "INPUT_BYTES_MAX", 3)
    with pytest.raises(TraceError, match="here is larger than 3 bytes"):
        read_json(b"[  ]", "here")


class Note(Record, forbid_unknown_fields=True):
    text: str
    number: int = 0


def test_a_record_has_the_types_of_its_fields() -> None:
    assert checked({"text": "\ud800", "number": -(2**64) + 1}, Note, "here") == Note("\ud800", -(2**64) + 1)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([], "here: Expected `object`, got `array`"),
        ({}, "here: Object missing required field `text`"),
        ({"text": 1}, r"here: Expected `str`, got `int` - at `\$.text`"),
        ({"text": "", "number": True}, r"here: Expected `int`, got `bool` - at `\$.number`"),
        ({"text": "", "number": 2**64}, "here: field `number` is an integer of more than 64 bits"),
        ({"text": "", "more": 1}, "here: Object contains unknown field `more`"),
        ({"text": "", "\ud800": 1}, "here: .*surrogates"),
        ({"text": "", "\x1b[2J" * 1_000: 1}, r"here: Object contains unknown field `\\x1b"),
    ],
)
def test_what_is_wrong_with_a_record_is_said(record: Any, message: str) -> None:
    with pytest.raises(TraceError, match=message) as caught:
        checked(record, Note, "here")
    assert len(caught.value.message) < 1_000


def test_a_file_is_read_to_one_byte_more_than_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_regular(path, 9) == b"12345"
    assert read_regular(path, 3) == b"1234"


def test_what_may_have_no_end_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), Path(os.devnull)):
        with pytest.raises(OSError, match="not a regular file"):
            read_regular(path, 9)


def test_a_folder_and_nothing_are_refused_as_usual(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path, 9)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none", 9)
