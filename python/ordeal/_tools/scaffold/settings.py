"""The files that go with a new machine: its entry in ``ordeal.toml``, and what git ignores. What is there stays."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ordeal._base.regular_file import read_whole

#: The workflow that GitHub runs on each push, and at night with another seed.
WORKFLOW = Path(".github/workflows/ordeal.yml")
_WORKFLOW_TEXT = """\
name: ordeal
on:
  pull_request:
  push:
    branches: [main]
  schedule:
    - cron: "0 3 * * *"

jobs:
  explore:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    env:
      PYTHONHASHSEED: "0"
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.13"
      - run: pip install ordeal .
      - name: Search, the same on each push
        if: github.event_name != 'schedule'
        run: ordeal explore --max-time 120 --report html
      - name: Search longer, elsewhere each night
        if: github.event_name == 'schedule'
        run: ordeal explore --max-time 900 --seed "$(date +%Y%m%d)" --report html
      - name: Keep the report and the failures
        if: ${{ !cancelled() }}
        uses: actions/upload-artifact@v4
        with:
          name: ordeal
          path: |
            .ordeal/report
            .ordeal/seeds
          include-hidden-files: true
          if-no-files-found: ignore
"""
IGNORED = (".ordeal/*", "!.ordeal/seeds/")


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that is to be written: ``text`` is all of it, and ``added`` what was not there before."""

    path: Path
    text: str
    added: str
    is_new: bool


def settings_change(path: Path, class_path: str, modules: Sequence[str]) -> FileChange | None:
    """Return the settings with an entry for the class; None if they have one, or no entry can be added at the end."""
    entry = f'[[tests]]\nclass = "{class_path}"\n'
    targets = f"target_modules = {json.dumps(list(modules))}\n"
    if not path.exists():
        text = (
            "[explorer]\n"
            "# The code under test: its coverage guides the search.\n"
            f"{targets}"
            "# Seconds for each class.\n"
            "max_time = 60\n\n"
            f"{entry}"
        )
        return FileChange(path, text, text, is_new=True)
    before = read_whole(path).decode("utf-8")
    if _targets_others(before, modules):
        entry += targets
    text = f"{before.rstrip()}\n\n{entry}"
    if _classes(before) is None or class_path in (_classes(before) or ()) or _classes(text) is None:
        return None
    return FileChange(path, text, entry, is_new=False)


def workflow_change() -> FileChange:
    """Return the workflow of GitHub Actions, which is not there yet."""
    return FileChange(WORKFLOW, _WORKFLOW_TEXT, _WORKFLOW_TEXT, is_new=True)


def _targets_others(text: str, modules: Sequence[str]) -> bool:
    """Return True if the settings name target modules for all entries, and one of these is not among them."""
    try:
        named = tomllib.loads(text).get("explorer", {}).get("target_modules", [])
        return bool(named) and not set(modules) <= set(named)
    except (ValueError, AttributeError, TypeError):
        return False


def _classes(text: str) -> Sequence[str] | None:
    try:
        tests = tomllib.loads(text).get("tests", [])
        return [str(entry.get("class")) for entry in tests]
    except (ValueError, AttributeError, TypeError):
        return None


def ignore_change(path: Path) -> FileChange | None:
    """Return the list of ignored files with what ordeal writes; None without a list, or when it is in it."""
    if not path.is_file():
        return None
    before = read_whole(path).decode("utf-8", "surrogateescape")
    if any(line.strip().startswith(".ordeal") for line in before.splitlines()):
        return None
    added = "".join(f"{line}\n" for line in IGNORED)
    gap = "" if not before or before.endswith("\n") else "\n"
    return FileChange(path, f"{before}{gap}{added}", added, is_new=False)
