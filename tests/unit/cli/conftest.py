"""Runs the command line in this process, and stands in for the engine where only the command line is tested."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ordeal
from ordeal.cli import main
from ordeal.config.options import ExplorationOptions

Run = Callable[..., tuple[int, str, str]]

PACKAGE_FOLDER = Path(ordeal.__file__).absolute().parents[1]


@pytest.fixture(autouse=True)
def _same_ordeal_in_subprocesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test change its folder although ``PYTHONPATH`` may be relative."""
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE_FOLDER))


@pytest.fixture(autouse=True)
def _outside_of_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the same to the terminal wherever the tests run."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Run]:
    """Run ``ordeal`` with the given arguments; returns exit code, stdout and stderr."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "80")
    before = set(sys.modules)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    yield call
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def git(*arguments: str) -> str:
    """What git says in the current folder."""
    own = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *own, *arguments], check=True, capture_output=True, text=True).stdout


def commit_all(message: str) -> None:
    """Commit what lies in the current folder, to a repository that is made if need be."""
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", message)


def edit(**settings: Any) -> None:
    """Change the code under test."""
    machines: Any = importlib.import_module("machines")
    for name, value in settings.items():
        setattr(machines, name, value)


def wrong_value(option: str, shown: str, kind: str, example: str) -> str:
    """What is said of a value that an option does not take."""
    return f"error: `{option}` is {shown}, not {kind}\n\nhint: write {kind}, for example `{option} {example}`\n"


class ScriptedExplorer:
    """Takes the place of the Explorer: notes how it was called and gives what the test scripted."""

    def __init__(self) -> None:
        self.made: list[type] = []
        self.given: list[ExplorationOptions] = []
        self.outcomes: list[Any] = []

    def of(self, test_class: type, options: ExplorationOptions) -> ScriptedExplorer:
        self.made.append(test_class)
        self.given.append(options)
        return self

    def explore(self, progress: Any = None, shrink_progress: Any = None) -> Any:
        listeners = {"progress": progress, "shrink_progress": shrink_progress}
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome(listeners) if callable(outcome) else outcome


@pytest.fixture
def explorer(monkeypatch: pytest.MonkeyPatch) -> ScriptedExplorer:
    """Replaces the engine for one test."""
    scripted = ScriptedExplorer()
    monkeypatch.setattr("ordeal.cli.explore.Explorer", scripted)
    return scripted
