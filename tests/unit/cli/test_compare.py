"""``ordeal compare``: two commits of a repository, and what cannot be compared."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from .conftest import Run, commit_all, git

MACHINE = """
    from ordeal import ChaosTest, rule
    from tests.helping import start
    from app import core

    class Machine(ChaosTest):
        @rule()
        def go(self):
            self.count = core.after(getattr(self, "count", start()))
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository whose first commit has the program in `src`, and no machine yet."""
    monkeypatch.chdir(tmp_path)
    for folder in ("src/app", "tests"):
        Path(folder).mkdir(parents=True)
        Path(folder, "__init__.py").touch()
    Path("src/app/core.py").write_text("def after(count):\n    return count + 1\n")
    commit_all("first")
    Path("tests/helping.py").write_text("def start():\n    return 5\n")
    Path("tests/machine.py").write_text(dedent(MACHINE))
    Path("ordeal.toml").write_text('[[tests]]\nclass = "tests.machine:Machine"\n')


@pytest.mark.slow
def test_what_was_changed_since_a_commit_is_shown_and_nothing_is_written(run: Run) -> None:
    code, out, _ = run("compare", "HEAD", "--max-time", "2")
    assert (code, out.startswith("0 differences in ")) == (0, True)
    Path("src/app/core.py").write_text("def after(count):\n    return count + (1 if count < 7 else 2)\n")
    before = git("status", "--short")
    code, out, _ = run("compare", "HEAD", "--max-time", "2")
    assert code == 1
    assert out.startswith(
        "1. tests.machine:Machine: `go` leaves another `count`\n     go()\n     go()\n     go()\n"
        "   HEAD: count = 8\n   here: count = 9\n\n1 difference in "
    )
    assert git("status", "--short") == before
    assert git("worktree", "list").count("\n") == 1
    code, out, _ = run("compare", "HEAD", "HEAD", "tests.machine:Machine", "--json", "--max-time", "2")
    assert code == 0
    assert json.loads(out)["differences"] == []


def test_what_cannot_be_compared_is_wrong_use(run: Run) -> None:
    for words, error in (
        (("nowhere",), "error: no commit `nowhere` here\n"),
        (("a", "b", "c"), "error: more than two versions\n"),
        (("m:M",), "error: no version to compare with\n"),
        (("--max-time", "-1", "HEAD"), "error: "),
    ):
        code, out, err = run("compare", *words)
        assert (code, out) == (2, "")
        assert err.startswith(error), err
    assert git("worktree", "list").count("\n") == 1


@pytest.mark.parametrize("is_slow", [False, True])
def test_a_release_that_cannot_be_installed_is_wrong_use(
    run: Run, monkeypatch: pytest.MonkeyPatch, is_slow: bool
) -> None:
    def install(command: list[str], **_options: object) -> subprocess.CompletedProcess[bytes]:
        if is_slow:
            raise subprocess.TimeoutExpired(command, 300)
        return subprocess.CompletedProcess(command, 1, b"", b"ERROR: No matching distribution found for shop==9\n")

    monkeypatch.setattr("ordeal.cli.compare.subprocess.run", install)
    code, out, err = run("compare", "shop==9")
    assert (code, out) == (2, "")
    said = (
        "could not be installed in 300 s"
        if is_slow
        else "cannot be installed: No matching distribution found for shop==9"
    )
    assert err == f"error: `shop==9` {said}\n\nhint: `pip install shop==9` says more\n"
