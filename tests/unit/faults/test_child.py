"""Stand-ins for Popen: matching children end as they are told to, others run, and callers see what they asked for."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ordeal.faults.io import Ending, changed_output, command_text, finished


def strike() -> int:
    return 1


def miss() -> int:
    return 0


def popen(ending: Ending, *, strikes: Any = strike) -> Any:
    return finished("git push", ending, strikes)(subprocess.Popen)


@pytest.mark.parametrize(
    "command", ["git push origin", b"git push origin", ["git", "push", "origin"], ["git", b"push", Path("origin")]]
)
def test_a_command_is_one_line_of_text(command: Any) -> None:
    assert command_text(command) == "git push origin"


def test_bytes_that_are_no_text_are_kept() -> None:
    assert command_text([b"git", b"\xff"]) == "git \udcff"


def test_the_child_has_ended_with_what_it_wrote() -> None:
    child = popen(Ending(3, "out", b"err"))(["git", "push"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (child.poll(), child.wait(), child.returncode) == (3, 3, 3)
    assert child.communicate() == (b"out", b"err")


def test_signals_reach_nobody() -> None:
    child = popen(Ending(-signal.SIGKILL))(["git", "push"])
    child.send_signal(signal.SIGTERM)
    child.kill()
    child.terminate()
    assert child.returncode == -9


def test_what_is_no_pipe_is_not_there_to_read() -> None:
    child = popen(Ending(0, "out", "err"))(["git", "push"])
    assert (child.stdin, child.stdout, child.stderr) == (None, None, None)
    assert child.communicate() == (None, None)


@pytest.mark.parametrize("options", [{"text": True}, {"universal_newlines": True}, {"errors": "replace"}])
def test_text_comes_as_text(options: dict[str, Any]) -> None:
    child = popen(Ending(0, "é\n"))(["git", "push"], stdout=subprocess.PIPE, **options)
    assert child.communicate() == ("é\n", None)


def test_an_encoding_is_that_of_the_caller() -> None:
    child = popen(Ending(0, b"\xe9"))(["git", "push"], stdout=subprocess.PIPE, encoding="latin-1")
    assert child.stdout.read() == "é"


def test_errors_go_where_the_output_goes_when_they_are_to() -> None:
    child = popen(Ending(0, "out", "err"))(["git", "push"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert child.communicate() == (b"outerr", None)


def test_what_is_written_to_it_is_taken() -> None:
    with popen(Ending(0))(["git", "push"], stdin=subprocess.PIPE) as child:
        child.stdin.write(b"anything")
    assert child.returncode == 0


def test_run_and_check_output_meet_the_same_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", popen(Ending(2, "half", "no network")))
    done = subprocess.run(["git", "push"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "half", "no network")
    with pytest.raises(subprocess.CalledProcessError) as caught:
        subprocess.check_output(["git", "push"])
    assert (caught.value.returncode, caught.value.output) == (2, b"half")


def test_other_commands_and_misses_run() -> None:
    command = [sys.executable, "-c", "print('really')  # git push"]
    for cls in (popen(Ending(3), strikes=miss), finished("git pull", Ending(3), strike)(subprocess.Popen)):
        child = cls(command, stdout=subprocess.PIPE, text=True)
        assert child.communicate() == ("really\n", None)
        assert child.wait() == child.poll() == 0


def test_output_is_changed_where_it_strikes() -> None:
    command = [sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr)"]
    for strikes, expected in ((strike, ("OUT\n", "err\n")), (miss, ("out\n", "err\n"))):
        cls = changed_output("print", strikes, stdout=str.upper)(subprocess.Popen)
        child = cls(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert child.communicate() == expected


def test_errors_can_be_changed_alone() -> None:
    cls = changed_output("", strike, stderr=lambda err: b"denied")(popen(Ending(1, "out", "err")))
    child = cls(["git", "push"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.communicate() == (b"out", b"denied")


def test_the_stand_in_is_called_as_the_original() -> None:
    for cls in (popen(Ending(0)), changed_output("x", strike)(subprocess.Popen)):
        assert (cls.__module__, cls.__qualname__) == ("subprocess", "Popen")
        assert issubclass(cls, subprocess.Popen)
