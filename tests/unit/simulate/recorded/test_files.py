"""Files are served without the files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ordeal.simulate import record


def noted(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return type(error), str(error), vars(error)


def read() -> list[Any]:
    path = Path("data/a.txt")
    with open("data/a.txt", encoding="utf-8", newline="") as file:
        name, lines = file.name, file.readlines()
    return [
        path.read_text("utf-8"),
        path.read_bytes(),
        (name, lines),
        (path.exists(), Path("nothing").exists(), path.stat().st_size, os.path.isdir("data/sub")),
        sorted(os.listdir("data")),
        sorted(map(str, Path("data").glob("*"))),
        [(folder, sorted(folders), sorted(files)) for folder, folders, files in os.walk("data")],
        noted(lambda: open("nothing.txt")),
        noted(lambda: Path("data").read_text()),
        noted(lambda: os.listdir("nothing")),
    ]


def test_what_was_recorded_is_served_without_the_files() -> None:
    Path("data/sub").mkdir(parents=True)
    Path("data/a.txt").write_bytes("é\r\nlast".encode())
    plain = read()
    with record("files", file="a.jsonl"):
        recorded = read()
    shutil.rmtree("data")
    with record("files", file="a.jsonl"):
        served = read()
    assert served == recorded == plain


def test_what_the_program_writes_is_written() -> None:
    for _ in range(2):
        with record("files", file="a.jsonl"):
            with open("made.txt", "w") as file:
                file.write("content")
        assert Path("made.txt").read_text() == "content"
        Path("made.txt").unlink()


def test_a_pipe_is_not_recorded() -> None:
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    with record("files", file="a.jsonl"):
        with open("pipe", "w") as file:
            file.write("a")
    assert os.read(reader, 10) == b"a"
    os.close(reader)
    assert not Path("a.jsonl").exists()


def test_temporary_folders_and_the_present_one_have_the_same_names_in_each_run(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    with record("files", file="a.jsonl"):
        (tmp_path / "a.txt").read_text()
    (tmp_path / "b").mkdir()
    os.chdir(tmp_path / "b")
    text = (tmp_path / "a.jsonl").read_text()
    assert str(tmp_path) not in text


@pytest.mark.parametrize("library", ["requests", "httpx"])
def test_what_clients_of_http_read_for_themselves_is_not_recorded(library: str) -> None:
    code = "from pathlib import Path\ndef read(): return Path('netrc').read_text()"
    names: dict[str, Any] = {"__name__": library}
    exec(compile(code, f"/site-packages/{library}/a.py", "exec"), names)
    Path("netrc").write_text("machine a password b")
    with record("files", file="a.jsonl"):
        assert names["read"]() == "machine a password b"
    assert not Path("a.jsonl").exists()
