"""``ordeal bisect``: the commit that brought a failure, found by ``git bisect`` with a saved trace.

usage of one step: python -m ordeal.cli.bisect TRACE FOLDER, where FOLDER is where ordeal runs, below the current one.
Exit code: 1 if the trace fails as recorded, 0 if it does not fail, 125 if that cannot be said.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ordeal._base.formatting import one_line
from ordeal._base.interpreter import run_module
from ordeal._engine.seed_corpus.lookup import find_failure
from ordeal._report.formats.document import line
from ordeal.cli import terminal
from ordeal.cli.folders import corpus_folders, traces_folders
from ordeal.config.flags import BisectFlags
from ordeal.errors import ConfigError


def run(flags: BisectFlags) -> int:
    """Find the commit, and print it. Return 0 if it was found."""
    trace = find_failure(flags.trace, traces_folders(), corpus_folders()).absolute()
    root = Path(_git(Path.cwd(), "rev-parse", "--show-toplevel"))
    folder = Path.cwd().relative_to(root)
    good, bad = _commit(root, flags.good), _commit(root, flags.bad)
    with _worktree(root, bad) as tree, tempfile.TemporaryDirectory(prefix="ordeal-bisect-") as place:
        # Another commit may have another trace of that name, or none.
        kept = Path(place, "trace.json")
        shutil.copyfile(trace, kept)
        command = [sys.executable, "-m", "ordeal.cli.bisect", str(kept), str(folder)]
        terminal.say(f"Replaying {one_line(str(flags.trace))} between {good[:12]} and {bad[:12]} ...")
        _check_end(tree, bad, command, wanted=FAILS, what="the later one, where it must fail")
        _check_end(tree, good, command, wanted=PASSES, what="the earlier one, where it must not fail")
        _git(tree, "bisect", "start", bad, good)
        done = subprocess.run(
            ["git", "bisect", "run", *command], cwd=tree, check=False, capture_output=True, stdin=subprocess.DEVNULL
        )
        left = _git(tree, "rev-list", "--count", "refs/bisect/bad", "--not", "--glob=refs/bisect/good-*")
        if left != "1":
            raise ConfigError(
                f"the commit was not found: {left} are left that may have brought the failure, and between them "
                "the trace cannot be replayed",
                hint=_last((done.stdout + done.stderr).decode("utf-8", "replace")),
            )
        found = _git(tree, "rev-parse", "refs/bisect/bad")
        shown = _git(tree, "show", "--no-patch", "--format=%h %an %as %s", found)
    terminal.write(f"{line(shown)}\n")
    return 0


def _check_end(tree: Path, commit: str, command: list[str], *, wanted: int, what: str) -> None:
    """Replay at one end. git asks neither, and would name a commit in any case."""
    _git(tree, "checkout", "--quiet", "--detach", commit)
    done = subprocess.run(command, cwd=tree, check=False, capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode != wanted:
        does = {FAILS: "fails", PASSES: "does not fail"}.get(done.returncode, "cannot be replayed")
        raise ConfigError(
            f"the trace {does} at {commit[:12]}, {what}",
            hint="name a --good commit where the program was right, and a --bad one where it is wrong",
        )


def _last(text: str) -> str:
    lines = [each for each in text.splitlines() if each.strip()]
    return one_line(lines[-1]) if lines else "`git bisect` said nothing"


def _commit(root: Path, name: str) -> str:
    return _git(
        root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", what=f"commit `{name}`"
    )


def _git(folder: Path, *arguments: str, what: str = "") -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, check=True, capture_output=True, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        raise ConfigError("git is not installed", hint="install git") from None
    except subprocess.CalledProcessError as error:
        said = _last(error.stderr.decode("utf-8", "replace"))
        if what:
            raise ConfigError(one_line(f"no {what} here"), hint="`git log --oneline` lists the commits") from None
        raise ConfigError(said, hint="run it in a git repository") from None
    return done.stdout.decode("utf-8", "replace").strip()


@contextmanager
def _worktree(root: Path, commit: str) -> Iterator[Path]:
    """Check a commit out into a separate folder, so that the user's files stay as they are."""
    with tempfile.TemporaryDirectory(prefix="ordeal-bisect-") as place:
        tree = Path(place, "tree")
        _git(root, "worktree", "add", "--detach", str(tree), commit)
        try:
            yield tree
        finally:
            subprocess.run(
                ["git", "worktree", "remove", "--force", str(tree)], cwd=root, check=False, capture_output=True
            )


FAILS, PASSES = 1, 0
_SECONDS_MAX = 600.0
_CODES = {"reproduced": FAILS, "not_reproduced": PASSES}
_UNKNOWN = 125


def main(trace: str, below: str) -> int:
    """Return what `git bisect run` is to know of the commit that is checked out."""
    folder = Path.cwd() / below
    if not folder.is_dir():
        return _UNKNOWN
    paths = [each for each in (folder, folder / "src") if each.is_dir()]
    out, _ = run_module("ordeal", ["replay", trace, "--json"], folder=folder, seconds=_SECONDS_MAX, paths=paths)
    try:
        return _CODES.get(json.loads(out)["status"], _UNKNOWN)
    except (ValueError, KeyError, TypeError):
        return _UNKNOWN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
