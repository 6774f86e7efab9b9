"""``ordeal bisect``: the commit that brought a failure."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from ordeal._base.trace_file import Trace
from ordeal.explore import Explorer

from .conftest import Run, commit_all, git

MACHINE = """
    from ordeal import ChaosTest, rule
    import program

    class Machine(ChaosTest):
        @rule()
        def go(self):
            program.go()
"""


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A repository with five commits, of which the fourth brings the failure, and the trace of it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for number in range(5):
        Path("bisected_machine.py").write_text(dedent(MACHINE).replace("program", "bisected_program"))
        body = "raise ValueError('x')" if number >= 3 else "pass" if number else "return ("
        Path("bisected_program.py").write_text(f"def go():\n    {body}\n# {number}\n")
        commit_all(f"number {number}")
    namespace: dict[str, type] = {}
    exec("from bisected_machine import Machine", namespace)
    (failure,) = Explorer(namespace["Machine"]).run(max_runs=1).failures
    assert isinstance(failure.trace, Trace)
    failure.trace.save(tmp_path / "failure.json")
    return "failure.json"


@pytest.mark.slow
def test_the_commit_is_found_and_nothing_else_changes(run: Run, trace: str) -> None:
    Path("bisected_program.py").write_text("# changed, and not committed\n")
    code, out, err = run("bisect", trace, "--good", "HEAD~3")
    assert (code, out.split()[-2:]) == (0, ["number", "3"]), err
    assert Path("bisected_program.py").read_text() == "# changed, and not committed\n"
    assert git("worktree", "list").count("\n") == 1
    assert not Path(".git/BISECT_LOG").exists()
    code, out, err = run("bisect", trace, "--good", "HEAD~1")
    assert (code, out) == (2, "")
    assert "error: the trace fails at" in err
    assert "the earlier one, where it must not fail" in err
    code, out, err = run("bisect", trace, "--good", "HEAD~3", "--bad", "HEAD~2")
    assert (code, out) == (2, "")
    assert "error: the trace does not fail at" in err
    code, out, err = run("bisect", trace, "--good", "HEAD~9")
    assert (code, out) == (2, "")
    assert err.startswith("error: no commit `HEAD~9` here")
    assert "hint: `git log --oneline` lists the commits" in err


def test_a_folder_without_a_repository_is_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    Path("failure.json").write_text("{}")
    code, out, err = run("bisect", "failure.json", "--good", "x")
    assert (code, out) == (2, "")
    assert "not a git repository" in err
