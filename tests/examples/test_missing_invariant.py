"""The page on the shop's missing invariant: each command is run, and prints the lines that the page shows of it."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.nightly
def test_each_command_of_the_page_prints_what_the_page_shows(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    shutil.copytree(ROOT / "examples" / "shop", folder)
    printed: list[str] = []
    for kind, text in BLOCK.findall((ROOT / "docs" / "guides" / "missing-invariant.md").read_text("utf-8")):
        if kind == "python":
            subprocess.run([sys.executable, "-c", text], cwd=folder, check=True)
        elif kind == "toml":
            (folder / "before.toml").write_text(text)
        elif kind == "console":
            words = shlex.split(text.removeprefix("$ ordeal "))
            done = subprocess.run(
                [sys.executable, "-m", "ordeal", *words], cwd=folder, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            printed = done.stdout.splitlines()
            survives = [line.split()[-1] for line in printed if "  survived  " in line]
            assert ("1e4ffe8c87dd" in survives) == ("before.toml" in words)
        elif "@invariant" in text:
            assert text in (folder / "tests" / "test_shop_chaos.py").read_text("utf-8")
        else:
            assert [line for line in text.splitlines() if line not in printed] == []
