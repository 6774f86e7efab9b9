"""What commands ask of git: commits, the files that differ from one, and a checkout of one in a separate folder."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ordeal._base.formatting import one_line
from ordeal.errors import ConfigError


def git(folder: Path, *arguments: str, what: str = "") -> str:
    """Return what git prints, without white space around it.

    Raises:
        ConfigError: git fails, or is not installed. ``what`` names what it does not have here.
    """
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, check=True, capture_output=True, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        raise ConfigError("git is not installed", hint="install git") from None
    except subprocess.CalledProcessError as error:
        if what:
            raise ConfigError(one_line(f"no {what} here"), hint="`git log --oneline` lists the commits") from None
        said = last_line(error.stderr.decode("utf-8", "replace"))
        raise ConfigError(said, hint="run it in a git repository") from None
    return done.stdout.decode("utf-8", "replace").strip()


def last_line(text: str) -> str:
    """Return the last line with something on it, for a message."""
    lines = [each for each in text.splitlines() if each.strip()]
    return one_line(lines[-1]) if lines else "it said nothing"


def root_of(folder: Path) -> Path:
    """Return the folder of the repository that ``folder`` is in."""
    return Path(git(folder, "rev-parse", "--show-toplevel"))


def commit(root: Path, name: str) -> str:
    """Return the full name of the commit that ``name``, a branch, a tag or a beginning of its hash, stands for."""
    wanted = f"{name}^{{commit}}"
    return git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted, what=f"commit `{name}`")


def changed_files(root: Path, name: str) -> set[Path]:
    """Return the files that differ from a commit, with those that git does not know yet and does not ignore."""
    differ = git(root, "diff", "--name-only", "-z", "--no-renames", commit(root, name))
    new = git(root, "ls-files", "-z", "--others", "--exclude-standard", "--full-name")
    return {root / each for each in f"{differ}\0{new}".split("\0") if each}


@contextmanager
def checked_out(root: Path, name: str) -> Iterator[Path]:
    """Check a commit out into a separate folder during the block, so that the user's files stay as they are."""
    with tempfile.TemporaryDirectory(prefix="ordeal-commit-") as place:
        tree = Path(place, "tree")
        git(root, "worktree", "add", "--detach", str(tree), name)
        try:
            yield tree
        finally:
            subprocess.run(
                ["git", "worktree", "remove", "--force", str(tree)], cwd=root, check=False, capture_output=True
            )
