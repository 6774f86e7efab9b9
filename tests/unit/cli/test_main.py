"""The command line as a whole: what it lists, what it refuses, and what it does not load."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ordeal import __version__, cli

Run = Callable[..., tuple[int, str, str]]

HELP = """\
Usage: ordeal [OPTIONS] [COMMAND] [ARGS]...

  Find the bugs that only a sequence of steps shows.

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.

Commands:
  benchmark  Measure how exploring scales with the number of workers
  catalog    List the assertions of the source that no run has reached
  explore    Search the classes named in ordeal.toml for failures
  replay     Run a saved trace again, shrink it, or see which faults it needs
  seeds      Replay the saved seeds, and say which still fail
"""


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help(run: Run, arguments: list[str]) -> None:
    assert run(*arguments) == (0, HELP, "")


def test_version(run: Run) -> None:
    assert run("--version") == (0, f"ordeal {__version__}\n", "")


def test_explore_help_has_one_line_for_each_option(run: Run) -> None:
    code, out, err = run("explore", "--help")
    assert (code, err) == (0, "")
    options = out.split("Options:\n")[1].split("\n\n")[0].splitlines()
    assert all(line.startswith("  -") for line in options)
    assert [line for line in options if "(default: " not in line] == [
        "  -h, --help             Show this message and exit."
    ]


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["explor"], "no command named `explor`", "did you mean `explore`?"),
        (["zzz"], "no command named `zzz`", "`ordeal --help` lists the commands"),
        (["--bogus"], "no option named `--bogus`", "`ordeal --help` lists the options"),
        (["explore", "--sed", "3"], "no option named `--sed`", "did you mean `--seed`?"),
        (["explore", "--zzz"], "no option named `--zzz`", "`ordeal explore --help` lists the options"),
        (["explore", "here"], "got unexpected extra argument (here)", "`ordeal explore --help` lists the options"),
        (["explore", "-w"], "option '-w' requires an argument", "`ordeal COMMAND --help` lists the options"),
    ],
)
def test_wrong_use(run: Run, arguments: list[str], message: str, hint: str) -> None:
    assert run(*arguments) == (2, "", f"error: {message}\n\nhint: {hint}\n")


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_asking_about_the_program_loads_neither_hypothesis_nor_the_engine(argument: str) -> None:
    script = f"""
import sys
from ordeal.cli import main
main([{argument!r}])
print([name for name in ("hypothesis", "ordeal._native", "ordeal.explore") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"


def test_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "ordeal", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"ordeal {__version__}\n", "")


def test_current_folder_that_was_removed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert run("explore") == (2, "", "error: the current folder no longer exists\n\nhint: change to another folder\n")


def test_current_folder_is_searched_first(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("--help")
    assert sys.path[0] == str(tmp_path)
    run("--help")
    assert sys.path.count(str(tmp_path)) == 1


def test_every_command_in_the_table_exists() -> None:
    context = cli._ordeal.make_context("ordeal", ["--help"], resilient_parsing=True)
    for name in cli._ordeal.list_commands(context):
        assert cli._ordeal.get_command(context, name) is not None
