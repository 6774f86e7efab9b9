"""The command line as a whole: what it lists, what it refuses, and what it does not load."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ordeal import __version__, cli
from ordeal._base.trace_file import Trace, TraceFailure, TraceStep

from ..samples.mistakes import MISTAKES, RIGHT, Mistake
from .conftest import Run

HELP = """\
Usage: ordeal [OPTIONS] [COMMAND] [ARGS]...

  Find bugs that need a particular sequence of calls and faults.

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.

Find:
  init        Write a first machine for a package, and run it
  explore     Search the classes named in ordeal.toml for failures
  doctor      Explain why a machine finds nothing
  catalog     List the assertions of the source that no run has reached

Understand:
  view        Make the page of a saved failure, and open it
  replay      Run a saved failure again, shrink it, write it as plain Python
  diff        Show where two saved failures diverge
  report      Make a page of a run, or a report in another format; compare two
  dashboard   Serve pages of all runs to a browser on this computer

Keep:
  seeds       Replay the saved failures (seeds), and report which still fail
  bisect      Find the commit that introduced a failure
  pack        Pack a saved failure into one file, to share it
  artifacts   List the saved failures, or export all that belongs to one

Before a merge:
  gate        Check all that must hold before a merge
  compare     Show what a program does differently from an earlier version
  profile     Count what steps cost, in figures that are equal in every run

Judge tests:
  mutate      Break a program, and report which changes no test notices
  chimp       Break each node of a program, with any command of tests

Many hosts:
  fleet       Show the members of a fleet, what failed there, or stop it
  benchmark   Measure how exploring scales with the number of workers

Set up:
  completion  Print the script that completes commands in a shell
  env         Print what there is here: versions, what works, what is switched
  schema      Print the JSON Schema of the settings, or of a file of a run
"""


@pytest.mark.parametrize("arguments", [["--help"], ["-h"]])
def test_help(run: Run, arguments: list[str]) -> None:
    assert run(*arguments) == (0, HELP, "")


def test_without_a_command_it_names_the_next_one(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    assert "Next:\n  ordeal init" in run()[1]
    Path("lamps.py").write_text("class Lamp(ChaosTest):\n")
    assert "Next:\n  ordeal explore lamps:Lamp  Search this class" in run()[1]
    Path("ordeal.toml").touch()
    assert "Next:\n  ordeal explore" in run()[1]


def test_version(run: Run) -> None:
    assert run("--version") == (0, f"ordeal {__version__}\n", "")


@pytest.mark.parametrize(
    ("command", "groups"),
    [("explore", ["Search", "Seeds", "State", "Fleet", "Output"]), ("benchmark", ["Trials", "Output"])],
)
def test_help_of_a_command_is_in_groups_and_names_only_defaults_that_say_something(
    run: Run, command: str, groups: list[str]
) -> None:
    code, out, err = run(command, "--help")
    assert (code, err) == (0, "")
    assert re.findall(r"^(\w+):$", out, re.MULTILINE) == groups
    assert "(default: " not in out
    assert not re.search(r"\[default: (none|off|do not)\]", out)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(run: Run, shell: str) -> None:
    code, out, err = run("completion", shell)
    assert (code, err) == (0, "")
    assert "_ORDEAL_COMPLETE" in out


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["explor"], "no command named `explor`", "did you mean `explore`?"),
        (["zzz"], "no command named `zzz`", "`ordeal --help` lists the commands"),
        (["--bogus"], "no option named `--bogus`", "`ordeal --help` lists the options"),
        (["explore", "--sed", "3"], "no option named `--sed`", "did you mean `--seed`?"),
        (["explore", "--zzz"], "no option named `--zzz`", "`ordeal explore --help` lists the options"),
        (["seeds", "here"], "`ordeal seeds here` is not a command", "write `ordeal seeds pull URL`"),
        (
            ["seeds", "pull", "a"],
            "`a` is neither the URL of a store nor a class",
            "write `ordeal seeds pull redis://HOST/0 tests.test_shop:ShopChaos`",
        ),
        (["explore", "-w"], "option '-w' requires an argument", "`ordeal explore --help` lists the options"),
        (["completion"], "missing argument '{bash|zsh|fish}'", "`ordeal completion --help` lists the options"),
    ],
)
def test_wrong_use(run: Run, arguments: list[str], message: str, hint: str) -> None:
    assert run(*arguments) == (2, "", f"error: {message}\n\nhint: {hint}\n")


@pytest.mark.parametrize(
    ("arguments", "variable", "loaded"),
    [
        (["--version"], "", ["ordeal._native"]),  # which knows the version sooner than what is installed can be asked
        (["--help"], "", []),
        *([[command, "--help"], "", []] for command in cli._COMMANDS),
        ([], "ordeal explore --max-", []),
    ],
)
def test_asking_about_the_program_loads_neither_hypothesis_nor_the_engine(
    arguments: list[str], variable: str, loaded: list[str]
) -> None:
    script = f"""
import os, sys
from ordeal.cli import main
if {variable!r}:
    os.environ |= {{"_ORDEAL_COMPLETE": "bash_complete", "COMP_WORDS": {variable!r}, "COMP_CWORD": "2"}}
try:
    main({arguments!r})
except SystemExit:
    pass
print([name for name in ("hypothesis", "ordeal._native", "ordeal.explore") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.splitlines()[-1] == str(loaded)


def test_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "ordeal", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"ordeal {__version__}\n", "")


def test_current_folder_that_was_removed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert run("explore") == (2, "", "error: the current folder no longer exists\n\nhint: change to another folder\n")


def test_a_package_in_src_is_found_last(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("src").mkdir()
    run("--help")
    assert str(tmp_path / "src") not in sys.path  # it may be anything without a project
    Path("pyproject.toml").touch()
    run("--help")
    run("--help")
    assert sys.path[-1] == str(tmp_path / "src")
    assert sys.path.count(str(tmp_path / "src")) == 1


def test_every_command_in_the_table_exists() -> None:
    context = cli._ordeal.make_context("ordeal", ["--help"], resilient_parsing=True)
    for name in cli._ordeal.list_commands(context):
        assert cli._ordeal.get_command(context, name) is not None


SETTINGS = """
[explorer]
max_runs = 20
workers = 1
[[tests]]
class = "bank_test:Bank"
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    Path("ordeal.toml").write_text(SETTINGS)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: each.name)
def test_it_is_no_finding(run: Run, mistake: Mistake) -> None:
    Path("bank_test.py").write_text(mistake.source)
    code, out, err = run("explore")
    assert code == 2
    assert mistake.words in err
    assert "Traceback" not in err + out
    assert not {path.name for path in Path(".ordeal").glob("*")} - {"runs"}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: each.name)
def test_it_is_no_replayed_failure(run: Run, mistake: Mistake) -> None:
    Path("bank_test.py").write_text(mistake.source)
    step = TraceStep("rule", "pay", choices={"amount": [1]}, text={"amount": "1"})
    failure = TraceFailure("ValueError", "broke", 1)
    Trace(run_id=1, seed=1, test_class="bank_test:Bank", steps=[step], failure=failure).save("t.json")
    code, out, err = run("replay", "t.json")
    assert code == 2
    assert mistake.words in err
    assert "Traceback" not in err + out


def test_without_a_mistake_it_is_found(run: Run) -> None:
    Path("bank_test.py").write_text(RIGHT)
    assert run("explore")[0] == 1


@pytest.mark.forks
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("sys.exit(0)", "raised SystemExit: 0"),
        ("os._exit(0)", "ended its process with exit code 0"),
        ("re.match('(a+)+$', 'a' * 64 + 'b')", "did not return within 0.3 s"),
        ("1 / 0", "raised ZeroDivisionError: division by zero"),
    ],
)
def test_a_function_that_makes_no_machine_ends_nothing(run: Run, body: str, problem: str) -> None:
    limit = 0.3 if "0.3 s" in problem else 600.0
    settings = SETTINGS.replace(":Bank", ":make").replace("workers = 1", f"workers = 1\nrule_timeout = {limit}")
    Path("ordeal.toml").write_text(settings)
    Path("bank_test.py").write_text(f"import os, re, sys\n{RIGHT}\ndef make():\n    {body}\n    return Bank()\n")
    code, out, err = run("explore")
    assert code == 2
    assert f"error: `make`, which should make machines, {problem}" in err
    assert "Traceback" not in err + out
