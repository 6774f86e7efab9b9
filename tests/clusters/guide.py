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
    # The end of a text that another shell is given is no part of the command.
    return [shlex.split(each.rstrip('" ') if each.count('"') % 2 else each)[1:] for each in found]


def blocks(heading: str) -> list[str]:
    """Return the shell blocks below a heading, up to the next one."""
    _, _, rest = GUIDE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    return _BLOCK.findall(rest.partition("\n## ")[0])
