"""A machine records what its runs ask, and its traces are replayed without the real thing."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from ordeal import ChaosTest, Explorer, invariant, rule
from ordeal.cli import main
from ordeal.simulate import RecordDrift, RecordError, record
from ordeal.trace import Trace, replay

WORD = "a"


class Counting(ChaosTest):
    def __init__(self) -> None:
        super().__init__()
        self.outside = record("process", file="counted.jsonl", ordered=False)
        self.seen = ""

    @rule()
    def ask(self) -> None:
        with self.outside:
            self.seen += subprocess.run(
                f"cat count; echo {WORD} >> count", shell=True, capture_output=True, text=True
            ).stdout

    @rule()
    def rest(self) -> None:
        pass

    @invariant()
    def few_were_seen(self) -> None:
        assert len(self.seen) < 8


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    Path("count").write_text("")
    (failure,) = Explorer(Counting, seed=1).run(max_runs=20).failures
    assert failure.trace is not None
    Path("count").unlink()
    failure.trace.save("trace.json")
    return Trace.load("trace.json")


def test_a_failing_trace_names_its_record_and_is_replayed_from_it(trace: Trace) -> None:
    assert trace.records == ["counted.jsonl"]
    before = Path("counted.jsonl").read_bytes()
    assert isinstance(replay(trace, Counting), AssertionError)
    assert not Path("count").exists()
    assert Path("counted.jsonl").read_bytes() == before


def test_a_changed_request_is_a_drift(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "WORD", "b")
    with pytest.raises(RecordDrift, match=r"echo b >> count.* instead of .*echo a >> count"):
        replay(trace, Counting)
    Path("counted.jsonl").unlink()
    with pytest.raises(RecordError, match="nothing is recorded"):
        replay(trace, Counting)


def test_a_packed_failure_has_its_record(trace: Trace, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["artifacts", "export", "trace.json", "-o", "out"]) == 0
    assert Path("out/counted.jsonl").read_bytes() == Path("counted.jsonl").read_bytes()
    foreign = Path("../foreign.jsonl")
    foreign.write_text("not of this project")
    trace.records = [str(foreign), str(foreign.absolute()), "missing.jsonl", "count"]
    trace.save("trace.json")
    assert main(["artifacts", "export", "trace.json", "-o", "other"]) == 0
    assert [each.name for each in Path("other").iterdir() if each.suffix == ".jsonl"] == []


@pytest.mark.forks
def test_plain_python_of_a_packed_failure_is_tried_with_the_record_in_its_archive(
    trace: Trace, capsys: pytest.CaptureFixture[str]
) -> None:
    trace.save("trace.json")
    assert main(["pack", "trace.json", "-o", "bug.zip"]) == 0
    Path("counted.jsonl").write_text("another one, of the project that it is opened in")
    assert main(["replay", "bug.zip", "--plain", "-"]) == 1
    assert "No plain Python: what the test compares" in capsys.readouterr().err, "it got as far as the assertion"


def test_a_packed_failure_is_replayed_from_the_record_in_its_archive(
    trace: Trace, capsys: pytest.CaptureFixture[str]
) -> None:
    trace.records.append("missing.jsonl")
    trace.save("trace.json")
    assert main(["pack", "trace.json", "-o", "bug.zip"]) == 0
    Path("counted.jsonl").write_text("another one, of the project that it is opened in")
    assert main(["replay", "bug.zip"]) == 1
    assert "12 = len(" in capsys.readouterr().err
    # So do the commands that have another process run it.
    assert main(["view", "bug.zip", "-o", "page.html", "--no-browser"]) == 0
    assert "12 = len(" in Path("page.html").read_text()
    assert "did not fail when it was recorded" not in Path("page.html").read_text()
    assert not Path("count").exists()
    with zipfile.ZipFile("bug.zip", "a") as archive:
        archive.writestr("missing.jsonl", "damaged")
    assert main(["replay", "bug.zip"]) == 1, "nothing asks it"
    packed = bytearray(Path("bug.zip").read_bytes())
    packed[packed.index(b"counted.jsonl") + 20] ^= 255
    Path("damaged.zip").write_bytes(packed)
    assert main(["replay", "damaged.zip"]) == 2
    assert "error: cannot read the records in damaged.zip: " in capsys.readouterr().err
