"""What commands ask of git: commits, the files that differ from one, and a checkout of one in a separate folder."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ordeal._base.formatting import one_line
from ordeal.errors import ConfigError

#: The repository may be anybody's: it gets to run neither a monitor nor a hook, and its names are printed as they are.
_SAFE = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "core.quotePath=false")
#: How long git may take, which waits for a file system that is gone, or for a lock.
SECONDS_MAX = 600.0


def ended(
    folder: Path, *arguments: str, seconds: float | None = SECONDS_MAX, instead: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder, and return how it ended. ``instead`` is what to do without it, for the hint.

    Raises:
        ConfigError: git is not installed, or takes longer than ``seconds``.
    """
    # A hook of git sets variables that lead to its own repository.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k.startswith("GIT_CONFIG")}
    try:
        return subprocess.run(
            ["git", *_SAFE, *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except FileNotFoundError:
        hint = f"install git, or {instead}" if instead else "install git"
        raise ConfigError("git is not installed", hint=hint) from None
    except subprocess.TimeoutExpired:
        said = one_line(f"`git {arguments[0]}` did not end within {seconds:g} s in {folder}")
        raise ConfigError(said, hint="try the same command by hand") from None


def git(folder: Path, *arguments: str, instead: str = "") -> str:
    """Return what git prints.

    Raises:
        ConfigError: git fails, or is not installed.
    """
    done = ended(folder, *arguments, instead=instead)
    if done.returncode:
        raise ConfigError(last_line(os.fsdecode(done.stderr)), hint="run it in a git repository")
    return os.fsdecode(done.stdout).removesuffix("\n")


def last_line(text: str) -> str:
    """Return the last line with something on it, for a message."""
    lines = [each for each in text.splitlines() if each.strip()]
    return one_line(lines[-1]) if lines else "it said nothing"


def root_of(folder: Path) -> Path:
    """Return the folder of the repository that ``folder`` is in."""
    return Path(git(folder, "rev-parse", "--show-toplevel"))


def commit(root: Path, name: str) -> str:
    """Return the full name of the commit that ``name``, a branch, a tag or a beginning of its hash, stands for."""
    done = ended(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if done.returncode and git(root, "rev-parse", "--is-shallow-repository") == "true":
        hint = "`git fetch --unshallow` gets it; actions/checkout takes `fetch-depth: 0`"
        raise ConfigError(one_line(f"no commit `{name}` here: the clone is shallow"), hint=hint)
    if done.returncode:
        raise ConfigError(one_line(f"no commit `{name}` here"), hint="`git log --oneline` lists the commits")
    return os.fsdecode(done.stdout).strip()


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
            ended(root, "worktree", "remove", "--force", str(tree))
