"""A block is served what it recorded, and each way to differ is located."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.unit.simulate.recorded.conftest import Server

from ordeal import simulate
from ordeal._base.records_used import records
from ordeal.simulate import RecordDrift, RecordError, record
from ordeal.simulate.recorded.recording import portable

RECORDED = """\
def talk(url, httpx, subprocess):
    httpx.get(f"{url}/users/1")
    httpx.post(f"{url}/orders", content=b"one", headers={"If-Match": "a"})
    subprocess.run(["echo", "one"], capture_output=True)
    open("a.txt", "r").close()
    httpx.get(f"{url}/last")
"""
#: Each with the text that is edited, and what the drift says: number, line, and what differs.
EDITS = {
    "url": (
        "/users/1",
        "/users/2",
        ["request 1 differs: GET", "talk.py:2 in talk", "url: URL/users/2 instead of URL/users/1"],
    ),
    "header": ('"a"}', '"b"}', ["request 2 differs: POST", "talk.py:3", "header if-match: b instead of a"]),
    "body": ('b"one"', 'b"two"', ["request 2 differs", "talk.py:3", "body: two instead of one"]),
    "method": ("httpx.post", "httpx.put", ["request 2 differs: PUT", "talk.py:3", "method: PUT instead of POST"]),
    "order": (
        '    open("a.txt", "r").close()\n    httpx.get(f"{url}/last")',
        '    httpx.get(f"{url}/last")\n    open("a.txt", "r").close()',
        [
            "request 4 comes out of order: GET URL/last, at talk.py:5",
            "missing before it, number 4: open a.txt r, at talk.py:5",
        ],
    ),
    "missing": (
        '    subprocess.run(["echo", "one"], capture_output=True)\n',
        "",
        ["request 3 comes out of order: open a.txt r, at talk.py:4", "number 3: echo one, at talk.py:4"],
    ),
    "extra": (
        '/last")',
        '/last")\n    httpx.get(f"{url}/more")',
        ["request 6 was not recorded: GET URL/more, at talk.py:7", "the record has 5 answers"],
    ),
    "argument": (
        '"one"],',
        '"two"],',
        ["request 3 differs: echo two, at talk.py:4", "arguments: echo two instead of echo one"],
    ),
    "file": ('"a.txt"', '"b.txt"', ["request 4 differs: open b.txt r, at talk.py:5", "name: b.txt instead of a.txt"]),
    "mode": ('"r")', '"rb")', ["request 4 differs: open a.txt rb, at talk.py:5", "mode: rb instead of r"]),
}


def talk(source: str, url: str) -> None:
    names: dict[str, Any] = {"__name__": "talk"}
    exec(compile(source, str(Path("talk.py").absolute()), "exec"), names)
    with record("http", "process", "files", file="a.jsonl"):
        names["talk"](url, httpx, subprocess)


@pytest.mark.parametrize("edit", EDITS)
def test_each_edit_is_located(edit: str, server: Server) -> None:
    Path("a.txt").write_text("content")
    talk(RECORDED, server.url)
    server.stop()
    before, after, said = EDITS[edit]
    assert before in RECORDED
    talk(RECORDED, server.url)
    with pytest.raises(RecordDrift) as caught:
        talk(RECORDED.replace(before, after), server.url)
    text = caught.value.message.replace(server.url, "URL")
    assert [each for each in said if each not in text] == [], text


def test_a_request_that_is_not_made_at_the_end_is_missing(server: Server) -> None:
    talk_twice = RECORDED.replace('    httpx.get(f"{url}/last")\n', "")
    Path("a.txt").write_text("content")
    talk(RECORDED, server.url)
    with pytest.raises(RecordDrift, match=r"request 5 is missing: GET .*/last, at talk.py:6 in talk"):
        talk(talk_twice, server.url)


def test_the_stub_of_a_drift_can_be_pasted(server: Server) -> None:
    with record("http", file="a.jsonl"):
        httpx.get(f"{server.url}/users/1")
    with pytest.raises(RecordDrift) as caught, record("http", file="a.jsonl"):
        httpx.get(f"{server.url}/users/1")
        httpx.get(f"{server.url}/users/2")
    stub = str(caught.value.hint).partition("with the answer: ")[2].replace('"..."', '"pasted"')
    with open("a.jsonl", "a") as file:
        file.write(f"{stub}\n")
    server.stop()
    with record("http", file="a.jsonl"):
        httpx.get(f"{server.url}/users/1")
        assert httpx.get(f"{server.url}/users/2").text == "pasted"


def test_the_file_is_next_to_the_test_and_named_after_it(world: Any) -> None:
    with world.record("process") as recording:
        path = recording._path
    assert path == Path(__file__).parent / "records" / (
        "test_recording.test_the_file_is_next_to_the_test_and_named_after_it.jsonl"
    )
    assert not path.exists()  # nothing was asked


@pytest.mark.parametrize("case", ["a/b", "c"])
def test_each_case_of_a_test_has_its_file(case: str) -> None:
    assert simulate.record("process")._path.name.endswith(f"-{case.replace('/', '-')}.jsonl")


def test_a_test_that_fails_has_recorded_what_it_got() -> None:
    with pytest.raises(ZeroDivisionError), record("process", file="a.jsonl"):
        subprocess.run(["echo"], capture_output=True)
        _ = 1 / 0
    assert Path("a.jsonl").exists()


@pytest.mark.parametrize(
    ("call", "said", "hint"),
    [
        (record, "nothing to record", '"http"'),
        (lambda: record("https"), "'https'", '"process"'),
        (lambda: record("http", file="a.yaml"), "a.yaml would be a cassette", ".jsonl"),
        (lambda: record("http", mask=["("]), "cannot be used", "mask="),
        (lambda: record("http", mask="tenant"), "cannot be used", "mask="),
        (lambda: record("http", headers="X-Tenant"), "cannot be used", "headers="),
        (lambda: record("http", headers=[5]), "cannot be used", "headers="),  # type: ignore[list-item]
        (lambda: record("http", file=5), "cannot be used", "file="),  # type: ignore[arg-type]
    ],
)
def test_wrong_arguments_are_refused(call: Callable[[], Any], said: str, hint: str) -> None:
    with pytest.raises(RecordError) as caught:
        call()
    assert said in caught.value.message
    assert hint in str(caught.value.hint)


def test_without_the_extra_http_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vcr", None)
    monkeypatch.delitem(sys.modules, "ordeal.simulate.recorded.http", raising=False)
    with pytest.raises(RecordError) as caught, record("http", file="a.jsonl"):
        pass
    assert "ordeal[record]" in str(caught.value.hint)


def test_a_replay_asks_nothing_of_the_real_thing() -> None:
    with (
        pytest.raises(RecordError, match=r"nothing is recorded in a.jsonl"),
        records.replaying(),
        record("process", file="a.jsonl"),
    ):
        pass
    with record("process", file="a.jsonl", ordered=False):
        subprocess.run(["echo", "1"])
    with (
        pytest.raises(RecordDrift, match="echo 2"),
        records.replaying(),
        record("process", file="a.jsonl", ordered=False),
    ):
        subprocess.run(["echo", "2"])


def test_unordered_records_grow_and_are_served_by_how_often_they_were_asked() -> None:
    Path("n").write_text("1")
    script = "cat n; echo 2 > n"

    def ask(recording: Any) -> bytes:
        with recording:
            return subprocess.run(script, shell=True, capture_output=True).stdout.strip()

    recording = record("process", file="a.jsonl", ordered=False)
    kept = copy.deepcopy(recording)
    assert [ask(recording), ask(recording)] == [b"1", b"2"]
    assert [ask(kept), ask(copy.deepcopy(kept)), ask(kept)] == [b"1", b"2", b"2"]
    Path("n").write_text("3")
    assert [ask(kept) for _ in range(2)] == [b"3", b"2"]
    assert len(Path("a.jsonl").read_text().splitlines()) == 5


def test_in_the_root_folder_addresses_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert portable("http://a/b") == "http://a/b"


def test_an_error_that_ends_the_block_says_where_its_answers_are() -> None:
    with pytest.raises(FileNotFoundError) as caught, record("files", file="a.jsonl"):
        Path("missing.txt").read_text()
    assert "a.jsonl; delete that file" in caught.value.__notes__[0]


def test_an_ordered_record_is_used_once() -> None:
    recording = record("process", file="a.jsonl")
    with recording:
        subprocess.run(["true"])
        with pytest.raises(RecordError, match="used before"):
            recording.__enter__()
    with pytest.raises(RecordError) as caught, recording:
        pass
    assert "ordered=False" in str(caught.value.hint)


def test_a_record_that_cannot_be_written_says_so() -> None:
    Path("no").write_text("a file")
    with pytest.raises(RecordError, match="cannot write the record"), record("process", file="no/a.jsonl"):
        subprocess.run(["true"])
