"""JSON that somebody else may have written: what is read, what is refused, and at what cost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ordeal._engine.storage import json_fields
from ordeal._engine.storage.json_fields import FieldReader, nesting, read_json
from ordeal.errors import TraceError

RECORD = {"text": "a", "number": -5, "list": ["b"], "mixed": [1], "texts": {"x": "y"}, "deep": {"z": [[1]]}, "no": None}


@pytest.fixture
def reader() -> FieldReader:
    return FieldReader(RECORD, "here")


@pytest.mark.parametrize("value", [None, True, 12, 1.5, "é\ud800", [], [[], {}], {"a": {"b": [1]}}])
def test_json_is_read(value: Any) -> None:
    assert read_json(json.dumps(value).encode(), "here") == value


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "here is not JSON that can be read: Expecting value"),
        (b"{}}", "here is not JSON that can be read: Extra data"),
        (b"\xc3", "here is not UTF-8: unexpected end of data at byte 0"),
        (b'"\xed\xa0\x80"', "here is not UTF-8: invalid continuation byte at byte 1"),
        (b"\xef\xbb\xbf{}", "here is not JSON that can be read: Unexpected UTF-8 BOM"),
        (b"9" * 10_000, "here is not JSON that can be read: Exceeds the limit"),
        (b'[{"a": 1, "b": 2, "a": 3}]', "here is not JSON that can be read: the field 'a' is there twice"),
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
    monkeypatch.setattr(json_fields, "SIZE_MAX", 3)
    with pytest.raises(TraceError, match="here is larger than 3 bytes"):
        read_json(b"[  ]", "here")


def test_nesting_is_measured_however_deep() -> None:
    deep: Any = 1
    for level in range(5_000):
        deep = [deep] if level % 2 else {"x": deep, "y": 0}
    assert nesting(deep) == 5_000
    values: list[Any] = [1, "[[", [], {}, [[], 1]]
    assert list(map(nesting, values)) == [0, 0, 1, 1, 2]


def test_fields_are_given_with_their_types(reader: FieldReader) -> None:
    assert (reader.text("text"), reader.integer("number"), reader.items("mixed"), reader.texts("list")) == (
        "a",
        -5,
        [1],
        ["b"],
    )
    assert reader.texts_by_name("texts") == {"x": "y"}
    assert reader.values_by_name("deep", nesting_max=2) == {"z": [[1]]}
    assert [reader.holds(name) for name in ("text", "no", "gone")] == [True, False, False]


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda reader: reader.text("gone"), "here has no field 'gone'"),
        (lambda reader: reader.text("number"), "here: field 'number' is not a text but int"),
        (lambda reader: reader.integer("no"), "here: field 'no' is not an integer but NoneType"),
        (lambda reader: reader.items("texts"), "here: field 'texts' is not a list but dict"),
        (lambda reader: reader.items("mixed", count_max=0), "here: field 'mixed' has 1 items; at most 0 are read"),
        (lambda reader: reader.texts("mixed"), "here: field 'mixed' is not a list of texts"),
        (lambda reader: reader.mapping("list"), "here: field 'list' is not an object but list"),
        (lambda reader: reader.texts_by_name("deep"), "here: 'z' of 'deep' is not a text but list"),
        (lambda reader: reader.values_by_name("deep", nesting_max=1), "here: 'z' of 'deep' nests deeper than 1 level"),
        (lambda reader: reader.refuse_others({"text"}), "here has the unknown field 'number'"),
        (lambda reader: FieldReader({"n": True}, "there").integer("n"), "there: field 'n' is not an integer but bool"),
        (lambda reader: FieldReader({"n": 2**64}, "there").integer("n"), "'n' is an integer of more than 64 bits"),
        (lambda reader: FieldReader([], "there"), "there is not a JSON object but list"),
    ],
)
def test_what_is_wrong_with_a_field_is_said(read: Any, message: str, reader: FieldReader) -> None:
    with pytest.raises(TraceError, match=message):
        read(reader)
