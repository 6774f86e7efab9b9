"""Saved failures in a folder or in one file, what a stranger may have put into one; ``ordeal replay --check``."""

from __future__ import annotations

import io
import json
import os
import random
import zipfile
from pathlib import Path
from textwrap import dedent

import pytest

from ordeal._base.trace_file import Trace
from ordeal.explore import Explorer

from .conftest import Run

MACHINE = """
    from ordeal import ChaosTest, rule

    class Packed(ChaosTest):
        @rule()
        def go(self):
            raise ValueError("with a bell: \\x07")
"""


@pytest.fixture(autouse=True)
def _failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("packed_machine.py").write_text(dedent(MACHINE))
    namespace: dict[str, type] = {}
    exec("from packed_machine import Packed", namespace)
    (failure,) = Explorer(namespace["Packed"]).run(max_runs=5).failures
    assert failure.trace is not None
    failure.trace.save(tmp_path / "failure.json")


def test_a_packed_failure_has_the_same_bytes_each_time_and_is_replayed(run: Run) -> None:
    for name in ("a.zip", "b.zip"):
        assert run("pack", "failure.json", "-o", name)[0] == 0
    assert Path("a.zip").read_bytes() == Path("b.zip").read_bytes()
    with zipfile.ZipFile("a.zip") as archive:
        assert archive.namelist() == ["trace.json", "failure.txt", "requirements.txt"]
        words = archive.read("failure.txt").decode()
        assert "pytest==" in archive.read("requirements.txt").decode()
    assert words.startswith("packed_machine:Packed: 1 step, ValueError: with a bell: \\x07\n")
    assert "  state.go()\n" in words
    code, _, err = run("replay", "a.zip")
    assert (code, "Failure reproduced: ValueError" in err) == (1, True)


def test_a_replay_does_not_change_which_failure_is_the_last(run: Run) -> None:
    folder = Path(".ordeal/traces")
    folder.mkdir(parents=True)
    trace = Trace.load(Path("failure.json"))
    trace.save(folder / "fail-run-1.json")
    assert run("pack", "-o", "before.zip")[0] == 0
    assert run("replay")[0] == 1
    assert run("pack", "-o", "after.zip")[0] == 0
    assert Path("before.zip").read_bytes() == Path("after.zip").read_bytes()
    # Without a name, no other file is read, however many there are.
    for number in range(300):
        (folder / f"fail-run-{number + 2}.json").write_text("")
        os.utime(folder / f"fail-run-{number + 2}.json", (1, 1))
    assert run("pack", "-o", "many.zip")[0] == 0


def test_a_file_that_is_not_an_archive_of_ordeal_is_not_replaced(run: Run) -> None:
    Path("own.zip").write_text("mine")
    code, out, err = run("pack", "failure.json", "-o", "own.zip")
    assert (code, out, err.startswith("error: `-o` would replace own.zip")) == (2, "", True)
    assert run("pack", "failure.json", "-o", "own.zip", "--on-exists", "replace")[0] == 0
    assert run("pack", "failure.json", "-o", "failure.txt")[2].startswith("error: `failure.txt` does not end in .zip")


def archive(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name.replace("_json", ".json"), data)
    return packed.getvalue()


def test_what_a_stranger_packed_is_refused(run: Run) -> None:
    run("pack", "failure.json", "-o", "a.zip")
    good, chance = Path("a.zip").read_bytes(), random.Random(1)
    damaged = []
    for _ in range(200):
        data = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        damaged.append(bytes(data[: chance.randint(1, len(data))] if chance.random() < 0.3 else data))
    for packed in (b"", b"PK", archive(), archive(other=b"x"), archive(trace_json=b"0" * 400_000_000), *damaged):
        Path("bad.zip").write_bytes(packed)
        code, _, err = run("replay", "--check", "bad.zip")
        assert code in (0, 2)
        assert (code == 2) == err.startswith("error: "), err
    assert sorted(path.name for path in Path().iterdir() if path.suffix != ".py" and path.is_file()) == [
        "a.zip",
        "bad.zip",
        "failure.json",
    ]


def test_a_check_runs_nothing_and_says_what_has_changed(run: Run) -> None:
    Path("packed_machine.py").write_text("raise SystemExit('it ran')\n")
    code, out, err = run("replay", "--check", "failure.json")
    assert (code, err) == (0, "")
    assert out.startswith("packed_machine:Packed: 1 step, ValueError: with a bell")
    found = json.loads(run("replay", "--check", "--json", "failure.json")[1])
    assert (found["tool"], found["trace_steps"], found["other_versions"]) == ("check", 1, {})
    trace = Trace.load("failure.json")
    trace.targets = {"packed_machine": "0" * 64}
    trace.versions["python"] = "3.1.4"
    trace.save("older.json")
    _, out, _ = run("replay", "--check", "older.json")
    assert "  changed since: packed_machine\n" in out
    assert "python 3.1.4\n  this is python 3." in out
    assert run("replay", "--check", "--shrink", "failure.json")[0] == 2


def test_all_that_belongs_to_a_failure_is_exported(run: Run) -> None:
    code, _, err = run("artifacts", "export", "failure.json", "-o", "out")
    assert (code, err.startswith("Exported to out: trace.json, failure.txt, ")) == (0, True)
    assert "state.go()" in Path("out/program.py").read_text()
    assert Path("out/decisions.txt").read_text().startswith("1. go()")
    assert run("replay", "out/trace.json")[0] == 1
    # Again: it replaces what ordeal wrote, and nothing else unless asked for.
    assert run("artifacts", "export", "failure.json", "-o", "out")[0] == 0
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("mine")
    code, _, err = run("artifacts", "export", "failure.json", "-o", "mine")
    assert (code, err.startswith("error: `-o` would replace mine, which ordeal did not write")) == (2, True)
    assert [each.name for each in Path("mine").iterdir()] == ["notes.txt"]


def test_the_report_and_the_events_of_the_run_are_exported_and_failures_are_listed(run: Run) -> None:
    assert run("artifacts", "list") == (0, "no failure is saved here\n", "")
    run("explore", "packed_machine:Packed", "--max-runs", "5", "--in-process")
    code, out, _ = run("artifacts", "list", "--json")
    saved = json.loads(out)["failures"]
    assert code == 0
    assert {each["test_class"] for each in saved} == {"packed_machine:Packed"}
    name = saved[0]["id"]
    assert name in run("artifacts", "list")[1]
    assert run("artifacts", "export", name)[0] == 0
    assert name in Path(name, "result.json").read_text()
    assert "packed_machine" in Path(name, "events.ndjson").read_text()
    assert run("artifacts", "list", "x")[2].startswith("error: `ordeal artifacts list` takes no ID")


def test_what_is_written_onto_something_is_refused_replaced_or_numbered(run: Run) -> None:
    assert run("pack", "failure.json", "-o", "a.zip")[0] == 0
    code, _, err = run("pack", "failure.json", "-o", "a.zip", "--on-exists", "fail")
    assert (code, err.splitlines()[0]) == (2, "error: `-o` would replace a.zip")
    for number in (2, 3):
        assert run("pack", "failure.json", "-o", "a.zip", "--on-exists", "number")[0] == 0
        assert Path(f"a-{number}.zip").read_bytes() == Path("a.zip").read_bytes()
    for name in ("out", "out-2"):
        assert run("artifacts", "export", "failure.json", "-o", "out", "--on-exists", "number")[0] == 0
        assert Path(name, "trace.json").exists()
    Path("plain.py").write_text("mine")
    for policy, code in (("fail", 2), ("number", 1)):
        assert run("replay", "failure.json", "--plain", "plain.py", "--on-exists", policy)[0] == code
    assert Path("plain.py").read_text() == "mine"
    assert run("explore", "packed_machine:Packed", "--max-runs", "5", "--on-exists", "never")[2].startswith("error: ")
