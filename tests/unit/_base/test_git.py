"""What runs git: a repository may be anybody's, and a disk may be gone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ordeal._base.git import changed_files, checked_out, commit, ended, git
from ordeal.errors import ConfigError


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (["init"], ["add", "."], [*who, "commit", "-m", "a"]):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
    return folder


def test_what_a_repository_sets_up_does_not_run(repository: Path) -> None:
    """Neither its monitor of the file system, which any status would start, nor a hook of a checkout."""
    trap = repository / ".git/trap"
    trap.write_text(f"#!/bin/sh\ntouch {repository / 'ran'}\n")
    trap.chmod(0o755)
    (repository / ".git/hooks").mkdir(exist_ok=True)
    os.link(trap, repository / ".git/hooks/post-checkout")
    git(repository, "config", "core.fsmonitor", str(trap))
    (repository / "b.py").touch()
    with checked_out(repository, commit(repository, "HEAD")) as tree:
        assert (tree / "a.py").is_file()
    assert changed_files(repository, "HEAD") == {repository / "b.py"}
    assert not (repository / "ran").exists()


def test_a_file_may_have_any_name(repository: Path) -> None:
    strange = repository / os.fsdecode(b" caf\xe9\n.py")
    strange.touch()
    assert changed_files(repository, "HEAD") == {strange}


def test_what_a_hook_of_git_sets_does_not_lead_elsewhere(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(repository.parent / "gone"))
    assert git(repository, "rev-parse", "--show-toplevel") == str(repository)


def test_git_that_does_not_end_is_named(repository: Path) -> None:
    git(repository, "config", "alias.x", "!sleep 60")
    with pytest.raises(ConfigError, match="`git x` did not end within"):
        ended(repository, "x", seconds=0.2)


def test_git_may_be_missing(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    with pytest.raises(ConfigError, match="git is not installed") as caught:
        git(repository, "status", instead="leave `--since` out")
    assert caught.value.hint == "install git, or leave `--since` out"
