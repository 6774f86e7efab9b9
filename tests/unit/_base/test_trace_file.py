"""Trace files: every value comes back bit for bit, and nothing in a file is taken on trust."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import os
import re
import string
import struct
import time
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ordeal._native as _native
from ordeal._base.limits import INPUT_BYTES_MAX
from ordeal._base.trace_file import ChoiceValue, Trace, TraceFailure, TraceStep, decode_choice, encode_choice
from ordeal.errors import TraceError

SUFFIXES = [".json", ".json.gz", ".json.zst"]
CHOICES: list[ChoiceValue] = [
    True,
    False,
    0,
    1,
    -(2**63),
    2**63,
    -(10**400),
    10**6000,
    0.0,
    -0.0,
    5e-324,
    1.7976931348623157e308,
    math.inf,
    -math.inf,
    math.nan,
    -math.nan,
    struct.unpack(">d", bytes.fromhex("7ff0000000000001"))[0],
    struct.unpack(">d", bytes.fromhex("fff8dead0000beef"))[0],
    "",
    "plain",
    "\x00\n\x1b\x7f",
    "\ud800",
    "a\udfffb\U0010ffff",
    "é\u2028\ufeff",
    b"",
    bytes(range(256)),
]

BAD_CHOICES: list[object] = [
    None,
    1.5,
    math.nan,
    [],
    {},
    {"float": "x", "bytes": ""},
    {"float": "zz"},
    {"float": "7ff"},
    {"float": 1},
    {"bytes": "é"},
    {"bytes": "a"},
    {"bytes": 5},
    {"characters": [2**40]},
    {"characters": ["a"]},
    {"integer": "0xzz"},
    {"integer": 5},
    {"other": 1},
]


def bits(value: ChoiceValue) -> object:
    """The value with its type, comparable bit for bit."""
    return (type(value), struct.pack(">d", value) if isinstance(value, float) else value)


def sample() -> Trace:
    return Trace(
        run_id=3,
        seed=42,
        test_class="shop.tests:Orders",
        from_checkpoint=2,
        steps=[
            TraceStep("rule_swarm", "[swarm rules=1 faults=0]", params={"active_rules": ["add"], "active_faults": []}),
            TraceStep("initialize", "begin"),
            TraceStep("fault_toggle", "+slow(api, 3)", active_faults=["slow(api, 3)"]),
            TraceStep("rule", "add", params={"by": 4}, choices={"by": CHOICES, "(body)": []}, draws=["3"]),
        ],
        failure=TraceFailure("ValueError", "line\nbreak \ud800", 3, "ValueError in add: raise"),
        edges_discovered=7,
        targets={"shop.orders": "5a" * 32},
        program=["state = Orders()", "state.add(by=4)"],
    )


# What comes back


@pytest.mark.parametrize("choice", CHOICES, ids=[str(number) for number in range(len(CHOICES))])
def test_every_choice_comes_back_bit_for_bit(choice: ChoiceValue) -> None:
    assert bits(decode_choice(json.loads(json.dumps(encode_choice(choice))), "here")) == bits(choice)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_gives_the_trace_back(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / "not" / "there" / f"trace{suffix}"
    sample().save(path)
    loaded = Trace.load(path)
    assert loaded.content_hash() == sample().content_hash()
    assert loaded.to_json() == sample().to_json()
    assert loaded.failure == sample().failure
    assert [bits(choice) for choice in loaded.steps[3].choices["by"]] == [bits(choice) for choice in CHOICES]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_trace_comes_back_from_one_word() -> None:
    trace = sample()
    trace.steps.append(TraceStep("rule", "rule"))
    word = trace.to_line()
    again = Trace.load(word)
    assert set(word) <= set(string.ascii_letters + string.digits + "-_"), "a shell takes it as it is"
    assert (again.test_class, again.failure, again.content_hash()) == (
        trace.test_class,
        trace.failure,
        trace.content_hash(),
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[]", "Expected `object`, got `array`"),
        (b'{"steps":[]}', "missing required field `test_class`"),
        (b'{"test_class":"m:M","steps":[{"name":"a","choices":{"n":[{}]}}]}', "steps[0]: choices of 'n'"),
        (b'{"test_class":"m:M","steps":[{"name":"a","kind":"rule_swarm"}]}', "Invalid enum value 'rule_swarm'"),
        (b"[" * 1_000_000, "the line of a trace is damaged: "),
    ],
)
def test_a_word_that_holds_no_trace_is_refused(content: bytes, message: str) -> None:
    word = base64.urlsafe_b64encode(b"\x01" + zlib.compress(content, 9)).decode().rstrip("=")
    with pytest.raises(TraceError, match=re.escape(message)):
        Trace.load(word)


def test_a_word_that_was_cut_or_changed_is_refused() -> None:
    word = sample().to_line()
    for damaged in [word[:cut] for cut in range(4, len(word), 7)] + [word[:-5] + "!" + word[-4:], word + "AAAA"]:
        with pytest.raises(TraceError, match="the line of a trace"):
            Trace.load(damaged)


def test_the_hash_is_of_what_happens() -> None:
    changed = sample()
    changed.run_id, changed.seed, changed.edges_discovered, changed.program = 9, 1, 0, []
    changed.targets, changed.versions = {}, dict.fromkeys(changed.versions, "0")
    changed.steps = changed.steps[1:]
    changed.steps[2].text, changed.steps[2].params = {"by": "other text"}, {}
    assert changed.content_hash() == sample().content_hash()
    for edit in (
        lambda trace: trace.steps.pop(),
        lambda trace: trace.steps[3].choices.update(by=[1]),
        lambda trace: setattr(trace.failure, "bucket", "other"),
        lambda trace: setattr(trace, "test_class", "a:B"),
    ):
        other = sample()
        edit(other)
        assert other.content_hash() != sample().content_hash()


# What is refused


def edited(edit: Callable[[dict[str, Any]], object], *, sign: bool = True) -> bytes:
    """A file with one edit, and a checksum that fits."""
    record = sample().to_dict()
    edit(record)
    if sign:
        record.pop("checksum", None)
        record["checksum"] = signed(record)
    return json.dumps(record).encode()


def having(**fields: object) -> bytes:
    """A file with these fields as given."""
    return edited(lambda record: record.update(fields))


def with_step(**fields: object) -> bytes:
    """A file with these fields of its last step as given."""
    return edited(lambda record: record["steps"][3].update(fields))


def with_failure(**fields: object) -> bytes:
    """A file with these fields of its failure as given."""
    return edited(lambda record: record["failure"].update(fields))


def signed(record: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not JSON"),
        (b"\xff\xfe\x00garbage\xff", "is not UTF-8: invalid start byte at byte 0"),
        (b"{", "is not JSON"),
        (b"[]", "Expected `object`, got `array`"),
        (b"null", "Expected `object`, got `null`"),
        ('{"format": "ordeal-trace"}'.encode("utf-16"), "is not UTF-8"),
        (b"[" * 200_000, "nests lists or objects too deeply"),
        (
            b'{"steps": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
            "nests lists or objects too deeply|missing required field|got `array` - at",
        ),
        (b'{"run_id": 1, "seed": 2, "run_id": 3}', "the field 'run_id' occurs twice"),
        (b'{"run_id": ' + b"9" * 5_000 + b"}", "is not JSON"),
        (b'{"run_id": 1, "steps": [], "checksum": ""}', "missing required field `format`"),
        (b'{"format": "zip"}', "is not a trace of ordeal: its format is 'zip'"),
        (having(version=2), "version 2; this ordeal reads version 1"),
        (having(version=True), r"Expected `int \| null`, got `bool` - at `\$.version`"),
        (edited(lambda record: record.update(run_id=99), sign=False), "damaged: its checksum does not fit"),
        (edited(lambda record: record.pop("checksum"), sign=False), "damaged: its checksum does not fit"),
        (edited(lambda record: record.update(checksum=5), sign=False), r"Expected `str`, got `int` - at `\$.checksum`"),
        (having(extra=1), "contains unknown field `extra`"),
        (having(run_id=2**64), "field `run_id` is an integer of more than 64 bits"),
        (having(run_id=math.nan), r"Expected `int`, got `float` - at `\$.run_id`"),
        (having(seed=math.inf), r"Expected `int`, got `float` - at `\$.seed`"),
        (having(python=3), r"Expected `str`, got `int` - at `\$.python`"),
        (having(targets=[]), r"Expected `object`, got `array` - at `\$.targets`"),
        (having(targets={"shop": 1}), r"Expected `str`, got `int` - at `\$.targets\["),
        (having(steps=[{}] * 100_001), r"length <= 100000 - at `\$.steps`"),
        (edited(lambda record: record.pop("run_id")), "missing required field `run_id`"),
        (having(seed="42"), r"Expected `int`, got `str` - at `\$.seed`"),
        (having(from_checkpoint="x"), r"Expected `int \| null`, got `str` - at `\$.from_checkpoint`"),
        (having(steps={}), r"Expected `array`, got `object` - at `\$.steps`"),
        (having(steps=[1]), r"Expected `object`, got `int` - at `\$.steps\[0\]`"),
        (having(program=[1]), r"Expected `str`, got `int` - at `\$.program\[0\]`"),
        (having(failure=[]), r"Expected `object \| null`, got `array` - at `\$.failure`"),
        (with_failure(step=None), r"Expected `int`, got `null` - at `\$.failure.step`"),
        (having(rule_timeout="30"), r"Expected `float \| null`, got `str` - at `\$.rule_timeout`"),
        (having(rule_timeout=1e300), r"Expected `float` <= 1000000000.0 - at `\$.rule_timeout`"),
        (having(rule_timeout=2**60), r"Expected `float` <= 1000000000.0 - at `\$.rule_timeout`"),
        (with_step(name=1), r"Expected `str`, got `int` - at `\$.steps\[3\].name`"),
        (with_step(active_faults=[1]), r"got `int` - at `\$.steps\[3\].active_faults\[0\]`"),
        (with_step(kind="api_call"), r"'api_call' - at `\$.steps\[3\].kind`"),
        (with_step(extra=1), r"contains unknown field `extra` - at `\$.steps\[3\]`"),
        (with_failure(extra=1), r"contains unknown field `extra` - at `\$.failure`"),
        (with_step(params={"by": 4}), r"Expected `.*`, got `int` - at `\$.steps\[3\].params\["),
        (with_step(choices={"by": 4}), r"Expected `array`, got `int` - at `\$.steps\[3\].choices\["),
        *((with_step(choices={"by": [bad]}), "is not a choice") for bad in BAD_CHOICES),
    ],
)
def test_a_bad_file_is_refused_by_file_and_field(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    with pytest.raises(TraceError, match=message) as caught:
        Trace.load(path)
    assert "bad.json" in caught.value.message
    assert len(caught.value.message) < 1_000


@pytest.mark.parametrize("suffix", [".json.gz", ".json.zst"])
def test_a_packed_file_in_the_wrong_format_is_refused(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"trace{suffix}"
    path.write_bytes(sample().to_json())
    with pytest.raises(TraceError, match="cannot read trace"):
        Trace.load(path)


def test_bytes_after_the_end_of_a_packed_file_are_refused(tmp_path: Path) -> None:
    sample().save(tmp_path / "t.json.gz")
    packed = (tmp_path / "t.json.gz").read_bytes()
    (tmp_path / "t.json.gz").write_bytes(packed + packed)
    with pytest.raises(TraceError, match=f"{len(packed)} bytes follow the end of the gzip file"):
        Trace.load(tmp_path / "t.json.gz")


def test_a_zst_that_claims_to_be_huge_is_refused_before_memory_is_taken(tmp_path: Path) -> None:
    # A frame header with a content size of 2**62 bytes, and nothing behind it.
    path = tmp_path / "trace.json.zst"
    path.write_bytes(struct.pack("<IBQ", 0xFD2FB528, 0b11100000, 2**62))
    with pytest.raises(TraceError, match="cannot read trace"):
        Trace.load(path)


def test_ten_million_steps_are_refused_at_once_and_take_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.zst"
    path.write_bytes(_native.compress(b'{"steps": [' + b"{}," * 10_000_000 + b"{}]}"))
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(TraceError, match=r"trace.json.zst holds 20000003 values; at most 4000000 are read"):
        Trace.load(path)
    took, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took < 2.0
    assert peak < 200 * 2**20


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    bomb = b" " * (INPUT_BYTES_MAX + 2)
    for name, packed in (("a.json.zst", _native.compress(bomb)), ("a.json.gz", gzip.compress(bomb, 1))):
        (tmp_path / name).write_bytes(packed)
        with pytest.raises(TraceError, match=r"larger than|cannot read"):
            Trace.load(tmp_path / name)


@pytest.mark.parametrize("name", ["gone.json", "gone.json.gz", "gone.json.zst", "folder.json"])
def test_a_path_that_is_no_file_is_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(TraceError, match=r"cannot read trace .*: (No such file or directory|Is a directory)\n"):
        Trace.load(tmp_path / name)


def test_a_trace_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TraceError, match="cannot write trace"):
        sample().save(tmp_path / "file" / "trace.json")
    (tmp_path / "trace.json").mkdir()
    with pytest.raises(TraceError, match="cannot write trace"):
        sample().save(tmp_path / "trace.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "trace.json"]


def test_a_device_and_a_pipe_that_is_read_are_written_to_and_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "null").symlink_to("/dev/null")
    sample().save(tmp_path / "null")
    assert (tmp_path / "null").is_char_device()
    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    sample().save(tmp_path / "pipe")
    assert os.read(reading, 1 << 16) == sample().to_json()
    os.close(reading)
    sample().save(tmp_path / "pipe")
    assert (tmp_path / "pipe").is_file(), "nobody reads it: to write would wait without end"
