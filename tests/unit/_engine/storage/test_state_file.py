"""An exploration goes on from a file as if it had not stopped, and a file that nobody wrote is refused by name."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from msgspec import structs
from tests.warm_python import WarmPopen

import ordeal
import ordeal._native as _native
from ordeal._engine.storage import state_file
from ordeal.chaos import ChaosTest
from ordeal.errors import StateError
from ordeal.explore import Explorer
from ordeal.result import ExplorationResult

from ...samples.machines import switches

PACKAGE_FOLDER = Path(ordeal.__file__).absolute().parents[1]

JARS = """
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, consumes, initialize, rule

from ordeal.chaos import ChaosTest
from ordeal.faults import LambdaFault

# For all characters Hypothesis computes in seconds which there are.
LETTERS = "abcxyz019 \\n\\0\\"\\u00e9\\u2028\\uffff\\U0001f600"


class Jars(ChaosTest):
    faults = [LambdaFault("slow", int, int), LambdaFault("lossy", int, int)]
    swarm = True
    jars = Bundle("jars")

    def __init__(self):
        super().__init__()
        self.levels = {}
        self.dropped = 0

    @initialize(target=jars)
    def first(self):
        self.levels["a"] = 0
        return "a"

    @rule(target=jars, name=st.text(LETTERS, min_size=1, max_size=3), level=st.integers(0, 9))
    def make(self, name, level):
        self.levels[name] = level
        return name

    @rule(jar=jars, amount=st.integers(1, 2**70))
    def fill(self, jar, amount):
        self.levels[jar] = (self.levels.get(jar, 0) + amount) % 97
        assert self.levels[jar] != 96, "full"

    @rule(jar=consumes(jars), data=st.data())
    def drop(self, jar, data):
        self.levels.pop(jar, None)
        self.dropped += data.draw(st.booleans())
        assert self.dropped < 9 or not self.active_faults, "too many"

    def state_hash(self):
        return sum(self.levels.values()) % 50 + len(self.levels) * 100 + 1
"""

EXPLORE = """
import importlib, json, sys
from ordeal._report.exploration import json_report
from ordeal.explore import Explorer

options = json.loads(sys.argv[1])
module, name = options["class"].split(":")
cls = getattr(importlib.import_module(module), name)
explorer = Explorer(cls, record_traces=True, **{"workers": 1} | options["explorer"])
result = explorer.run(max_time=600, max_shrink_time=100, **options["run"])
document = json.loads(json_report([result]))
del document["results"][0]["timing"]
print(json.dumps([document, [trace.to_dict() for trace in result.traces]]))
"""


class Till(ChaosTest):
    """Counts money, and loses it in one way."""

    faults = switches("slow", "full")

    def __init__(self) -> None:
        super().__init__()
        self.cents = 0

    @rule(amount=st.integers(0, 100))
    def pay(self, amount: int) -> None:
        self.cents += amount

    @rule()
    def close(self) -> None:
        assert self.cents < 250 or not self.active_faults, "lost"

    def state_hash(self) -> int:
        return self.cents // 20 + 1


def save(path: Path, cls: type[RuleBasedStateMachine] = Till, runs: int = 60, **options: Any) -> ExplorationResult:
    return Explorer(cls, **options).run(max_runs=runs, save_state_to=path, shrink=False)


def resume(path: Path, cls: type[RuleBasedStateMachine] = Till, runs: int = 80, **options: Any) -> ExplorationResult:
    return Explorer(cls, **options).run(max_runs=runs, resume_from=path, shrink=False)


def refusal(path: Path, cls: type[RuleBasedStateMachine] = Till, **options: Any) -> str:
    with pytest.raises(StateError) as caught:
        resume(path, cls, **options)
    assert caught.value.hint
    assert caught.value.exit_code == 2
    return caught.value.message


def write_byte(path: Path, at: int, value: int) -> None:
    with path.open("r+b", buffering=0) as file:
        file.seek(at)
        file.write(bytes([value]))


class InProcesses:
    """Explores in processes of their own, each with another ``PYTHONHASHSEED``."""

    def __init__(self, folder: Path, cls: str, **explorer: Any) -> None:
        self._folder = folder
        self._options = {"class": cls, "explorer": explorer}
        self._started = 0

    def explore(self, **run: Any) -> Any:
        self._started += 1
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(PACKAGE_FOLDER), str(self._folder)]),
            "PYTHONHASHSEED": str(self._started),
        }
        command = [sys.executable, "-c", EXPLORE, json.dumps({**self._options, "run": run})]
        ran = subprocess.run(command, cwd=self._folder, env=environment, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    (tmp_path / "jars.py").write_text(JARS)
    return tmp_path


@pytest.mark.slow
class TestGoingOn:
    @pytest.mark.nightly
    @pytest.mark.parametrize(
        "options",
        [
            {"rule_swarm": True, "target_modules": ["jars"]},
            pytest.param(
                {
                    "seed": 3,
                    "target_modules": ["jars"],
                    "coverage": "novelty",
                    "rule_swarm": True,
                    "max_checkpoints": 16,
                },
                marks=pytest.mark.nightly,
            ),
            pytest.param(
                {"seed": 4, "checkpoint_strategy": "uniform", "max_checkpoints": 16, "seed_mutation_prob": 0.25},
                marks=pytest.mark.nightly,
            ),
        ],
    )
    def test_bundles_swarm_and_state_hashes_survive_two_breaks(self, jars: Path, options: dict[str, Any]) -> None:
        processes = InProcesses(jars, "jars:Jars", **options)
        whole = processes.explore(max_runs=40)
        processes.explore(max_runs=10, save_state_to="state", shrink=False)
        processes.explore(max_runs=25, save_state_to="state", resume_from="state", shrink=False)
        assert processes.explore(max_runs=40, resume_from="state") == whole

    def test_a_machine_that_cannot_be_copied(self, tmp_path: Path) -> None:
        class Locked(Till):
            def __init__(self) -> None:
                super().__init__()
                self.numbers = (number for number in range(0))

        (whole,) = save(tmp_path / "whole", Locked, runs=100).failures
        save(tmp_path / "state", Locked, runs=50)
        (rest,) = resume(tmp_path / "state", Locked, runs=100).failures
        assert (rest.bucket, rest.count, rest.run_id, rest.program) == (
            whole.bucket,
            whole.count,
            whole.run_id,
            whole.program,
        )

    def test_nothing_is_left_to_do(self, tmp_path: Path) -> None:
        before = save(tmp_path / "state", runs=60)
        after = resume(tmp_path / "state", runs=60)
        assert (after.total_runs, after.total_steps) == (before.total_runs, before.total_steps)
        assert [failure.bucket for failure in after.failures] == [failure.bucket for failure in before.failures]
        seconds = state_file.read_state(tmp_path / "state")[0][0].seconds
        assert after.duration_seconds > seconds > 0

    def test_findings_are_shrunk_after_the_break(self, tmp_path: Path) -> None:
        before = save(tmp_path / "state", runs=100)
        after = Explorer(Till).run(max_runs=100, resume_from=tmp_path / "state")
        assert before.failures
        assert [failure.bucket for failure in after.failures] == [failure.bucket for failure in before.failures]
        assert all(failure.shrunk for failure in after.failures)

    def test_a_flaky_finding_keeps_what_was_seen_of_it(self, tmp_path: Path) -> None:
        class Moody(RuleBasedStateMachine):
            failed = False

            @rule()
            def frown(self) -> None:
                if not Moody.failed:
                    Moody.failed = True
                    raise KeyError("only once")

        (failure,) = save(tmp_path / "state", Moody, runs=3).failures
        (again,) = resume(tmp_path / "state", Moody, runs=3).failures
        assert failure.flaky
        assert again.flaky
        # Where in the rule it was raised is known only while the error itself is there.
        assert again.place is not None
        assert failure.place is not None
        assert again.place.name == failure.place.name == "frown"
        assert str(structs.replace(again, place=None)) == str(structs.replace(failure, place=None))
        assert again.error_traceback == failure.error_traceback
        assert type(again.error).__name__ == "KeyError"


class TestSaving:
    def test_saves_in_between(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ordeal._engine.search.state.PERIOD_SECONDS", 0.0)
        path = tmp_path / "new" / "state"
        runs: list[int] = []

        def look(_: object) -> None:
            ((header, _),) = state_file.read_state(path)
            runs.append(header.tally["runs"])

        Explorer(Till).run(max_runs=5, save_state_to=path, progress=look)
        assert runs == [1, 2, 3, 4, 5]
        assert [each.name for each in path.parent.iterdir()] == ["state"]

    def test_saves_after_an_interrupt_in_the_middle_of_a_run(self, tmp_path: Path) -> None:
        class Interrupted(Till):
            calls = 0

            @rule()
            def interrupt(self) -> None:
                Interrupted.calls += 1
                if Interrupted.calls == 40:
                    signal.raise_signal(signal.SIGINT)

        before = save(tmp_path / "state", Interrupted, runs=10_000)
        assert before.stopped_reason == "interrupted"
        after = resume(tmp_path / "state", Interrupted, runs=before.total_runs + 20)
        assert after.total_runs == before.total_runs + 20
        assert after.stopped_reason == "max_runs"

    @pytest.mark.parametrize(("when", "code"), [("the start", 130), ("a failure", 1)])
    def test_a_signal_ends_it_with_a_state(self, jars: Path, when: str, code: int) -> None:
        (jars / "ordeal.toml").write_text('[explorer]\nmax_time = 60\n[[tests]]\nclass = "told:Told"\n')
        (jars / "told.py").write_text(
            "from pathlib import Path\nfrom ordeal import ChaosTest, rule\n\nTOLD = []\n\nclass Told(ChaosTest):\n"
            "    @rule()\n    def tell(self):\n        TOLD.append(1)\n"
            # It is in the middle of the search, and has told what it found.
            "        if len(TOLD) == 50:\n            Path('running').touch()\n"
            f"        assert {when != 'a failure'}\n"
        )
        command = [sys.executable, "-m", "ordeal", "explore", "--no-shrink", "--save-state", "state"]
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE_FOLDER)}
        process = WarmPopen(command, cwd=jars, env=environment, stderr=subprocess.PIPE, text=True)
        with process:
            while not (jars / "running").exists():
                assert process.poll() is None
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=600)
        assert process.returncode == code
        assert "State saved: state" in err
        state_file.read_state(jars / "state")

    def test_a_place_that_cannot_be_written_is_refused_before_the_first_run(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        for path in (tmp_path / "file" / "state", tmp_path):
            ran: list[object] = []
            with pytest.raises(StateError, match="cannot save the state"):
                Explorer(Till).run(max_runs=5, save_state_to=path, progress=ran.append)
            assert not ran

    def test_what_cannot_be_written_later_is_noted(self, tmp_path: Path) -> None:
        path = tmp_path / "state"
        result = Explorer(Till).run(max_runs=1, save_state_to=path, progress=lambda _: path.mkdir(exist_ok=True))
        assert result.notes == (f"The state was not saved: cannot save the state to {path}: Is a directory.",)


class TestRefusing:
    def test_no_file(self, tmp_path: Path) -> None:
        assert refusal(tmp_path / "state") == f"the state {tmp_path / 'state'} does not exist"

    def test_no_regular_file(self, tmp_path: Path) -> None:
        assert refusal(tmp_path) == f"cannot read the state {tmp_path}: Is a directory"
        assert refusal(Path("/dev/zero")) == "cannot read the state /dev/zero: it is not a regular file"
        os.mkfifo(tmp_path / "pipe")
        assert refusal(tmp_path / "pipe").endswith("it is not a regular file")

    @pytest.mark.parametrize(
        "part", [struct.pack("<Q", 0), struct.pack("<QQ", 8, 0), struct.pack("<QQ2s", 10, 2, b"{}")]
    )
    def test_a_small_file_takes_neither_time_nor_memory(self, tmp_path: Path, part: bytes) -> None:
        path = tmp_path / "state"
        path.write_bytes(framed(part * 2_000_000))  # a few kilobytes, packed
        assert "is damaged" in refusal(path)

    def test_what_a_file_may_hold_grows_with_it(self, tmp_path: Path) -> None:
        path = tmp_path / "state"
        path.write_bytes(framed(bytes(state_file.UNPACKED_SIZE_MIN + 1)))
        assert path.stat().st_size < 10_000
        assert "is damaged" in refusal(path)

    def test_a_pickle_is_refused_by_name(self, tmp_path: Path) -> None:
        path = tmp_path / "state.pkl"
        path.write_bytes(b"\x80\x04\x95\x0f\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x07version\x94K\x01s.")
        assert "is a pickle, which ordeal never loads: loading one can run any code" in refusal(path)

    @pytest.mark.parametrize("content", [b"", b"ordeal", b"{}", b"ordeal-states\n" * 9])
    def test_another_file(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "state"
        path.write_bytes(content)
        assert refusal(path) == f"{path} {'is not a state of ordeal' if content else 'is empty'}"

    def test_another_version(self, tmp_path: Path) -> None:
        path = tmp_path / "state"
        save(path, runs=1)
        data = bytearray(path.read_bytes())
        data[len(state_file.MAGIC)] = 1
        path.write_bytes(data)
        assert refusal(path) == f"the state {path} has version 1; this ordeal reads version {state_file.VERSION}"

    def test_another_class(self, tmp_path: Path) -> None:
        class Other(Till):
            pass

        save(tmp_path / "state", runs=1)
        assert f"belongs to {__name__}:Till, not to" in refusal(tmp_path / "state", Other)

    def test_another_seed(self, tmp_path: Path) -> None:
        save(tmp_path / "state", runs=1)
        assert refusal(tmp_path / "state", seed=7).endswith("was explored with seed 42, not 7")

    def test_every_truncation_and_thousands_of_damages(self, tmp_path: Path) -> None:
        path = tmp_path / "state"
        save(path, runs=30)
        data = path.read_bytes()
        for size in reversed(range(len(data))):
            os.truncate(path, size)
            with pytest.raises(StateError):
                state_file.read_state(path)
        path.write_bytes(data)
        for at in range(0, len(data) * 8, max(1, len(data) * 8 // 2000)):
            # In place: a disk may wait for a file that is written anew.
            write_byte(path, at // 8, data[at // 8] ^ 1 << at % 8)
            with pytest.raises(StateError):
                state_file.read_state(path)
            write_byte(path, at // 8, data[at // 8])
        assert path.read_bytes() == data

    @pytest.mark.parametrize("size", [0, 1, 2**40, 2**64 - 1])
    def test_hostile_sizes(self, tmp_path: Path, size: int) -> None:
        path = tmp_path / "state"
        path.write_bytes(framed(struct.pack("<Q", size) + b"{}"))
        assert "is damaged" in refusal(path)
        path.write_bytes(state_file.MAGIC + struct.pack("<IQ32s", state_file.VERSION, size, bytes(32)) + b"xx")
        assert "is damaged" in refusal(path)


class TestHostileContent:
    """Files with a right checksum, whose content nobody wrote."""

    @pytest.mark.parametrize(
        "change",
        [
            lambda header: header.pop("tally"),
            lambda header: header.update(surprise=1),
            lambda header: header.update(seconds="long"),
            lambda header: header.update(snapshot_kind="memory"),
            lambda header: header["tally"].update(runs="many"),
            lambda header: header["tally"].update(unknown=1),
            lambda header: header.update(findings=[]),
            lambda header: header["productive"].append({"run_id": 1, "checkpoint": 0, "edges": 1, "swarm": None}),
            lambda header: header["monitor"].update(level="everything"),
            lambda header: header["monitor"].update(events=-1),
            lambda header: header["monitor"].update(codes=[[1, True, [2**70], []]]),
            lambda header: header["monitor"].update(touched=["first"]),
        ],
    )
    def test_a_damaged_header_is_refused(self, saved: Path, change: Callable[[dict[str, Any]], object]) -> None:
        rewrite(saved, change)
        with pytest.raises(StateError, match="is damaged"):
            self.explorer(saved.parent).run(max_runs=100, resume_from=saved)

    @pytest.mark.parametrize(
        "change",
        [
            lambda header: header["monitor"].update(
                touched=[10**6], codes=[[1, True, [1], [[-2, 0, False, [1, True], [2, True]]]]]
            ),
            lambda header: header["monitor"]["files"][0].update(path="../../elsewhere.py"),
            lambda header: header["monitor"]["files"][0].update(target="elsewhere"),
            lambda header: header.update(rule_files={"make": [-1, 10**6], "gone": [0]}),
        ],
    )
    def test_what_fits_nothing_is_left_out(self, saved: Path, change: Callable[[dict[str, Any]], object]) -> None:
        rewrite(saved, change)
        assert self.explorer(saved.parent).run(max_runs=70, resume_from=saved, shrink=False).total_runs == 70

    @pytest.fixture(scope="class")
    @classmethod
    def folder(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
        folder = tmp_path_factory.mktemp("hostile")
        (folder / "jars.py").write_text(JARS)
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(folder)
            patch.delitem(sys.modules, "jars", raising=False)
            state = folder / "state"
            assert cls.explorer(folder).run(max_runs=60, save_state_to=state, shrink=False).failures
            yield folder

    @pytest.fixture
    def saved(self, folder: Path) -> Iterator[Path]:
        """A state that is what it should be, and again so for the next test."""
        state = folder / "state"
        content = state.read_bytes()
        yield state
        state.write_bytes(content)

    @staticmethod
    def explorer(folder: Path) -> Explorer:
        __import__("jars")
        assert sys.modules["jars"].__file__ == str(folder / "jars.py")
        return Explorer(sys.modules["jars"].Jars, target_modules=["jars"], rule_swarm=True)


class TestChangedMachines:
    def test_tapes_that_still_apply_are_kept_and_the_others_counted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = save(tmp_path / "state", runs=100)
        monkeypatch.setattr(Till, "faults", switches("full", "new"))
        after = resume(tmp_path / "state", runs=100)
        assert after.notes
        assert "of the resumed state were dropped" in after.notes[0]
        assert after.total_runs == before.total_runs

    def test_nothing_applies(self, tmp_path: Path) -> None:
        def make(name: str) -> type[RuleBasedStateMachine]:
            def body(self: Any) -> None:
                self.count = getattr(self, "count", 0) + 1

            body.__name__ = name
            members = {"__module__": __name__, "__qualname__": "Counter", name: rule()(body)}
            return type("Counter", (RuleBasedStateMachine,), members)

        save(tmp_path / "state", make("count"), runs=5)
        assert "nothing in the state" in refusal(tmp_path / "state", make("tally"))

    def test_other_options_are_noted(self, tmp_path: Path) -> None:
        save(tmp_path / "state", runs=5, checkpoint_prob=0.5)
        notes = resume(tmp_path / "state", runs=10, checkpoint_prob=0.4).notes
        assert notes == ("checkpoint_prob is 0.4 since the resumed state was saved with 0.5.",)
        notes = resume(tmp_path / "state", runs=10).notes
        assert notes == ("checkpoint_prob is not set since the resumed state was saved with 0.5.",)

    def test_an_option_that_was_not_set_is_noted(self, tmp_path: Path) -> None:
        save(tmp_path / "state", runs=5)
        notes = resume(tmp_path / "state", runs=10, checkpoint_prob=0.4).notes
        assert notes == ("checkpoint_prob is 0.4 since the resumed state was saved without it.",)

    def test_another_version_of_python_is_noted(self, tmp_path: Path) -> None:
        save(tmp_path / "state", runs=5)
        rewrite(tmp_path / "state", lambda header: header["versions"].update(Python="3.99.0"))
        (note,) = resume(tmp_path / "state", runs=5).notes
        assert note.startswith("The resumed state was saved under Python 3.99.0; this is ")


def framed(content: bytes) -> bytes:
    frame = _native.compress(content)
    start = struct.pack("<IQ32s", state_file.VERSION, len(frame), hashlib.sha256(frame).digest())
    return state_file.MAGIC + start + frame


def rewrite(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = _native.decompress(path.read_bytes()[len(state_file.MAGIC) + 44 :], state_file.UNPACKED_SIZE_MAX)
    content = content[8:]  # of the only part
    (size,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + size])
    change(header)
    encoded = json.dumps(header).encode()
    part = struct.pack("<Q", len(encoded)) + encoded + content[8 + size :]
    path.write_bytes(framed(struct.pack("<Q", len(part)) + part))
