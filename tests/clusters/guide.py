"""The commands that the guide of many machines has people type."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs/guides/machines.md"
_BLOCK = re.compile(r"^```(?:console|bash)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"(?:^|[\s;&(])(ordeal (?:explore|fleet|seeds) [^`\n;&)]*)")


def commands() -> list[list[str]]:
    """Return all calls of ordeal in its blocks, and those in its text, as words."""
    text = GUIDE.read_text(encoding="utf-8")
    found = [each for block in _BLOCK.findall(text) for each in _COMMAND.findall(block)]
    found += re.findall(r"`(ordeal (?:explore|fleet|seeds) [^`]*)`", text)
    return [shlex.split(each)[1:] for each in found]
