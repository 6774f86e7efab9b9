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
from pathlib import Path

from ordeal._base.formatting import one_line
from ordeal._base.git import checked_out, commit, ended, git, last_line, root_of
from ordeal._base.interpreter import run_module
from ordeal._report.formats.document import line
from ordeal.cli import terminal
from ordeal.cli.folders import failure_path
from ordeal.config.flags import BisectFlags
from ordeal.errors import ConfigError


def run(flags: BisectFlags) -> int:
    """Find the commit, and print it. Return 0 if it was found."""
    trace = failure_path(flags.trace).absolute()
    root = root_of(Path.cwd())
    folder = Path.cwd().relative_to(root)
    good, bad = commit(root, flags.good), commit(root, flags.bad)
    with checked_out(root, bad) as tree, tempfile.TemporaryDirectory(prefix="ordeal-bisect-") as place:
        # Another commit may have another trace of that name, or none.
        kept = Path(place, "trace.json")
        shutil.copyfile(trace, kept)
        command = [sys.executable, "-m", "ordeal.cli.bisect", str(kept), str(folder)]
        terminal.say(f"Replaying {one_line(str(flags.trace))} between {good[:12]} and {bad[:12]} ...")
        _check_end(tree, bad, command, wanted=FAILS, what="the later one, where it must fail")
        _check_end(tree, good, command, wanted=PASSES, what="the earlier one, where it must not fail")
        git(tree, "bisect", "start", bad, good)
        done = ended(tree, "bisect", "run", *command, seconds=None)
        left = git(tree, "rev-list", "--count", "refs/bisect/bad", "--not", "--glob=refs/bisect/good-*")
        if left != "1":
            raise ConfigError(
                f"the commit was not found: the trace cannot be replayed at {left} commits that may have introduced "
                "the failure",
                hint=last_line((done.stdout + done.stderr).decode("utf-8", "replace")),
            )
        found = git(tree, "rev-parse", "refs/bisect/bad")
        shown = git(tree, "show", "--no-patch", "--format=%h %an %as %s", found)
    terminal.write(f"{line(shown)}\n")
    return 0


def _check_end(tree: Path, name: str, command: list[str], *, wanted: int, what: str) -> None:
    """Replay at one end. git checks neither end, and would name a commit in any case."""
    git(tree, "checkout", "--quiet", "--detach", name)
    done = subprocess.run(command, cwd=tree, check=False, capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode != wanted:
        does = {FAILS: "fails", PASSES: "does not fail"}.get(done.returncode, "cannot be replayed")
        raise ConfigError(
            f"the trace {does} at {name[:12]}, {what}",
            hint="name a --good commit where the program was right, and a --bad one where it is wrong",
        )


FAILS, PASSES = 1, 0
_CODES = {"reproduced": FAILS, "not_reproduced": PASSES}
#: `git bisect run` skips a commit that ends with it.
_UNKNOWN = 125


def main(trace: str, below: str) -> int:
    """Return the exit code for `git bisect run` about the commit that is checked out."""
    folder = Path.cwd() / below
    if not folder.is_dir():
        return _UNKNOWN
    paths = [each for each in (folder, folder / "src") if each.is_dir()]
    out, _ = run_module("ordeal", ["replay", trace, "--json"], folder=folder, seconds=600.0, paths=paths)
    try:
        return _CODES.get(json.loads(out)["status"], _UNKNOWN)
    except (ValueError, KeyError, TypeError):
        return _UNKNOWN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
