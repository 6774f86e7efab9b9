"""One step of ``ordeal bisect``: replays a trace in the folder that git has checked out.

usage: python -m ordeal.cli.saved.bisect_step TRACE FOLDER, where FOLDER is where ordeal runs, below the current one.
Exit code: 1 if it fails as recorded, 0 if it does not fail, 125 if that cannot be told.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ordeal._base.interpreter import run_module

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
