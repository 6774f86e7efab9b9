"""What the faults of input and output do to calls, files and children."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Any

import pytest

from ordeal.faults import Fault, io, randomness

from ..samples.shop import add_module, shop_app

CHARGE = "shop_app.api.charge"
GREET = [sys.executable, "-c", "import sys; print('greeting'); print('warning!', file=sys.stderr)"]


# Calls


def test_error_on_call(api: Any) -> None:
    with io.error_on_call(CHARGE), pytest.raises(OSError, match=r"^Simulated I/O error$"):
        api.charge()
    with io.error_on_call(CHARGE, KeyError, "gone"), pytest.raises(KeyError, match="gone"):
        api.charge()


def test_return_empty_does_not_call(api: Any) -> None:
    with io.return_empty(CHARGE):
        assert api.charge("not", "its", "arguments") is None


@pytest.mark.parametrize("result", [b"0123456789", bytearray(b"0123456789"), "0123456789"])
def test_corrupt_output_draws_as_much_chance(api: Any, result: Any) -> None:
    previous = randomness.set_random(random.Random(3))
    try:
        with io.corrupt_output(CHARGE):
            damaged = api.charge(result)
    finally:
        randomness.set_random(previous)
    chance = random.Random(3).randbytes(10)
    assert type(damaged) is type(result)
    assert damaged == (chance.decode("latin-1") if isinstance(result, str) else chance)


def test_corrupt_output_is_the_same_in_every_run(api: Any) -> None:
    fault = io.corrupt_output(CHARGE)
    results = []
    for _ in range(2):
        fault.reset()
        with fault:
            results.append([api.charge("text"), api.charge(b"data"), api.charge(5)])
    assert results[0] == results[1]
    assert results[0][2] == 5


@pytest.mark.parametrize(
    ("result", "cut"), [("abcde", "ab"), (b"abcd", b"ab"), ([1, 2, 3], [1]), ((1, 2), (1,)), ({1: 2}, {1: 2}), (7, 7)]
)
def test_truncate_output(api: Any, result: Any, cut: Any) -> None:
    with io.truncate_output(CHARGE):
        assert api.charge(result) == cut


# Files


@pytest.mark.parametrize(("make", "code"), [(io.disk_full, errno.ENOSPC), (io.permission_denied, errno.EACCES)])
def test_nothing_can_be_opened_for_writing(tmp_path: Path, make: Any, code: int) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("content")
    with make() as fault:
        for mode in ("w", "a", "wb", "w+"):
            with pytest.raises(OSError, match="old") as caught:
                open(old, mode)  # noqa: SIM115, PTH123
            assert (caught.value.errno, caught.value.filename) == (code, str(old))
        with pytest.raises(OSError, match="new"):
            open(new, mode="x")  # noqa: SIM115, PTH123
        with pytest.raises(OSError, match="new"):
            new.write_text("more")
        assert old.read_text() == "content"
        with open(old) as file:  # noqa: PTH123
            assert file.read() == "content"
        assert fault.observation_hits == 6
    assert not new.exists()
    new.write_text("more")


def test_a_full_disk_refuses_writes_to_open_files_but_not_to_pipes(tmp_path: Path) -> None:
    file = os.open(tmp_path / "data", os.O_CREAT | os.O_WRONLY)
    source, sink = os.pipe()
    try:
        with io.disk_full():
            with pytest.raises(OSError, match="No space left") as caught:
                os.write(file, b"data")
            assert os.write(sink, b"data") == 4
        assert caught.value.errno == errno.ENOSPC
        assert os.write(file, b"data") == 4
    finally:
        for number in (file, source, sink):
            os.close(number)


# Children


def greet(**options: Any) -> Any:
    return subprocess.run(GREET, capture_output=True, check=False, **options)


def test_subprocess_timeout_acts_on_matching_commands() -> None:
    with io.subprocess_timeout("greeting", timeout_sec=2.0) as fault:
        with pytest.raises(subprocess.TimeoutExpired) as caught:
            subprocess.check_output(GREET)
        assert subprocess.run([sys.executable, "-c", ""], check=False).returncode == 0
    assert (caught.value.timeout, caught.value.cmd, fault.observation_hits) == (2.0, GREET, 1)


def test_subprocess_exit_gives_the_ending_without_a_child() -> None:
    with io.subprocess_exit("no-such-program", returncode=3, stdout="out\n", stderr=b"err") as fault:
        done = subprocess.run("no-such-program --now", shell=True, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err")
        raw: Any = subprocess.run(["no-such-program"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert (raw.stdout, raw.stderr) == (b"out\nerr", None)
        with pytest.raises(subprocess.CalledProcessError):
            subprocess.check_call(["no-such-program"])
        assert greet(text=True).stdout == "greeting\n"
    assert fault.observation_hits == 3


def test_a_finished_child_answers_like_any_other() -> None:
    with (
        io.subprocess_exit("ghost", returncode=0, stdout="a\nb\n"),
        subprocess.Popen(["ghost"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child,
    ):
        assert child.stdout is not None
        assert list(child.stdout) == ["a\n", "b\n"]
        child.terminate()
        child.kill()
        assert (child.poll(), child.wait(1.0), child.returncode, child.args) == (0, 0, 0, ["ghost"])
        with pytest.raises(ProcessLookupError):
            os.kill(child.pid, 0)


def test_a_real_child_works_beside_a_finished_one() -> None:
    with (
        io.subprocess_exit("ghost"),
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as child,
    ):
        assert child.poll() is None
        child.terminate()
        assert child.wait() == -signal.SIGTERM


def test_subprocess_signal() -> None:
    with io.subprocess_signal("ghost", signum=signal.SIGKILL) as fault:
        assert subprocess.call(["ghost"]) == -9
    assert fault.name == "subprocess_signal('ghost', signum=9)"


def test_a_class_imported_by_name_is_replaced_too() -> None:
    with shop_app():
        module: Any = add_module("jobs", "from subprocess import Popen")
        with io.subprocess_exit("ghost", returncode=5):
            assert module.Popen(["ghost"]).wait() == 5
        assert module.Popen is subprocess.Popen


def test_outputs_of_a_child_are_damaged() -> None:
    with io.subprocess_truncate_stdout("greeting"):
        done = greet(text=True)
        assert (done.stdout, done.stderr) == ("gree", "warning!\n")
    with io.subprocess_truncate_stderr("greeting", 0.0):
        done = greet()
        assert (done.stdout, done.stderr) == (b"greeting\n", b"")
    with io.corrupt_stdout("greeting") as fault:
        done = greet()
        assert len(done.stdout) == len(b"greeting\n")
        assert done.stdout != b"greeting\n"
        assert fault.observation_hits == 1


def test_damage_is_for_matching_commands_only() -> None:
    with io.corrupt_stdout("something else"), io.subprocess_truncate_stdout("something else", 0.0):
        assert greet().stdout == b"greeting\n"


def test_subprocess_delay_sleeps_after_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    with io.subprocess_delay("greeting", delay=0.75):
        slept: list[float] = []
        with monkeypatch.context() as patch:
            patch.setattr(time, "sleep", slept.append)
            assert greet().returncode == 0
            subprocess.run([sys.executable, "-c", ""], check=False)
        assert slept == [0.75]


FAULTS: list[Callable[[], Fault]] = [
    lambda: io.subprocess_exit("ghost"),
    lambda: io.subprocess_signal("ghost"),
    lambda: io.corrupt_stdout("greeting"),
    lambda: io.subprocess_truncate_stdout("greeting"),
]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)])
def test_faults_on_one_class_come_off_in_any_order(order: tuple[int, ...]) -> None:
    original = subprocess.Popen
    faults: list[Fault] = [make() for make in FAULTS]
    for fault in faults:
        fault.activate()
    assert subprocess.call(["ghost"]) == -signal.SIGTERM
    assert len(greet().stdout) == 4
    for number in order:
        faults[number].deactivate()
    assert subprocess.Popen is original
    assert greet().stdout == b"greeting\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"stdout": PIPE, "stderr": PIPE}, (b"out", b"err")),
        ({"stdout": PIPE, "stderr": PIPE, "text": True}, ("out", "err")),
        ({"stdout": PIPE, "stderr": STDOUT, "encoding": "latin-1"}, ("outerr", None)),
        ({}, (None, None)),
    ],
)
def test_a_finished_child_has_the_streams_that_were_asked_for(options: dict[str, Any], expected: Any) -> None:
    with io.subprocess_exit("git push", returncode=3, stdout="out", stderr=b"err"):
        child = subprocess.Popen(["git", b"push", Path("origin")], **options)
        child.terminate()
        assert child.communicate() == expected
        assert (child.poll(), child.wait(), child.returncode) == (3, 3, 3)
