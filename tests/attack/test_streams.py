"""A stream that is full, closed or no longer read makes no finding, and no command shows a traceback of it."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.supervised

MACHINE = """
from ordeal import ChaosTest, rule

class Clean(ChaosTest):
    @rule()
    def add(self):
        print("said by a rule")

class Broken(Clean):
    @rule()
    def add(self):
        print("said by a rule")
        raise ValueError("planted")
"""
QUICK = "--max-runs 5 -w 1 --no-confirm-fresh"
#: Commands, and the code that each ends with where its streams are sound.
COMMANDS = {
    "explore": (0, f"explore machines:Clean {QUICK}"),
    "explore --json": (0, f"explore machines:Clean {QUICK} --json"),
    "explore -v": (0, f"explore machines:Clean {QUICK} -v"),
    "explore, finding": (1, f"explore machines:Broken {QUICK} --no-seeds"),
    "replay": (1, "replay"),
    "seeds": (1, "seeds -v"),
    "seeds --json": (1, "seeds --json"),
    "report": (0, "report md"),
    "report diff": (2, "report diff"),
    "view": (0, "view --no-browser"),
    "catalog": (0, "catalog"),
    "schema": (0, "schema config"),
    "completion": (0, "completion bash"),
    "help": (0, "--help"),
    "help of a command": (0, "explore --help"),
    "version": (0, "--version"),
    "wrong use": (2, "explore 'no class'"),
    "no command": (2, "exlpore"),
    "init": (2, "init machines:Clean"),
    "doctor": (0, "doctor machines:Clean"),
    "mutate": (2, "mutate missing.py"),
    "mutate --list": (0, "mutate program.py --list"),
    "chimp": (2, "chimp --code missing --tests true"),
    "fleet": (2, "fleet status dir://store"),
    "dashboard": (2, "dashboard --runs missing"),
    "bisect": (2, "bisect missing --good HEAD"),
    "benchmark": (2, "benchmark"),
}


def full(stream: int) -> None:
    os.dup2(os.open("/dev/full", os.O_WRONLY), stream)


def unread(stream: int) -> None:
    reader, writer = os.pipe()
    os.dup2(writer, stream)
    os.close(reader)


#: What becomes of a stream, and whether its owner wanted what was written there.
STATES: dict[str, tuple[Callable[[int], None], bool]] = {
    "full": (full, True),
    "unread": (unread, False),
    "closed": (os.close, False),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "machines.py").write_text(MACHINE)
    (folder / "program.py").write_text("def twice(number):\n    return 2 * number\n")
    assert run(folder, f"explore machines:Broken {QUICK}") == (1, "", "")
    return folder


def run(
    folder: Path, command: str, harm: Callable[[int], None] | None = None, streams: tuple[int, ...] = ()
) -> tuple[int, str, str]:
    """Return the code of a command, and the lines of a traceback on the streams that are left."""

    def prepare() -> None:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as a shell has it; Python ignores it in the command
        for stream in streams:
            if harm is not None:
                harm(stream)

    done = subprocess.run(
        [sys.executable, "-m", "ordeal", *shlex.split(command)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        preexec_fn=prepare,
        check=False,
        timeout=120,
    )
    said = done.stdout + done.stderr
    found = next((line for line in said.splitlines() if line.startswith(("Traceback", "Exception ignored"))), "")
    mistake = next((line for line in said.splitlines() if "made a mistake" in line), "")
    return done.returncode, found, mistake


@pytest.mark.nightly
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("state", STATES)
def test_no_stream_turns_a_command_into_a_finding(project: Path, name: str, state: str) -> None:
    code, command = COMMANDS[name]
    harm, wanted = STATES[state]
    lost = 2 if wanted and not code else code
    assert run(project, command, harm=harm, streams=(1,)) in [(code, "", ""), (lost, "", "")]
    assert run(project, command, harm=harm, streams=(2,)) == (code, "", "")
    assert run(project, command, harm=harm, streams=(1, 2)) in [(code, "", ""), (lost, "", "")]


@pytest.mark.parametrize("state", STATES)
def test_a_search_goes_on_without_its_streams(project: Path, state: str) -> None:
    harm, wanted = STATES[state]
    assert run(project, COMMANDS["explore"][1], harm=harm, streams=(1, 2)) == (2 * wanted, "", "")
    assert run(project, COMMANDS["explore, finding"][1], harm=harm, streams=(1, 2)) == (1, "", "")


def test_a_full_stream_is_named(project: Path) -> None:
    with Path("/dev/full").open("w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "ordeal", "schema", "config"],
            cwd=project,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("error: stdout cannot be written: No space left on device\n\nhint: ")


def test_a_program_that_prints_where_nobody_reads_does_not_fail_for_it(project: Path) -> None:
    assert run(project, "replay", harm=unread, streams=(1, 2)) == (1, "", "")
