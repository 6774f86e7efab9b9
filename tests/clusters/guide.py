"""The commands that the guide of many machines has people type."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs/guides/many-hosts.md"
_SHELL = "console|bash"
_CALL = r"ordeal (?:explore|fleet|seeds) "
_COMMAND = re.compile(rf"(?:^|[\s;&(])({_CALL}[^`\n;&)]*)")


def commands() -> list[list[str]]:
    """Return all calls of ordeal in its blocks, and those in its text, as words."""
    text = GUIDE.read_text(encoding="utf-8")
    found = [each for block in _of(text, _SHELL) for each in _COMMAND.findall(block)]
    found += re.findall(rf"`({_CALL}[^`]*)`", text)
    # The end of a text that another shell is given is not a part of the command.
    return [shlex.split(each.rstrip('" ') if each.count('"') % 2 else each)[1:] for each in found]


def blocks(heading: str, language: str = _SHELL) -> list[str]:
    """Return the blocks below a heading, up to the next one: those of shells, if no other language is named."""
    _, _, rest = GUIDE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    return _of(rest.partition("\n## ")[0], language)


def _of(text: str, language: str) -> list[str]:
    return re.findall(rf"^```(?:{language})\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
