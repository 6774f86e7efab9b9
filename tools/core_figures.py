"""Measures cpp/core: lines, the share of comments, and checks per hundred lines of code; by room, and in all.

usage: python tools/core_figures.py
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

CORE = Path(__file__).parent.parent / "cpp" / "core"
COMMENT = re.compile(r"\s*//")
CHECK = re.compile(r"\s*ORDEAL_D?CHECK\(|[{;]\s*ORDEAL_D?CHECK\(")


@dataclass
class Figures:
    """Of some files: a line that holds nothing but a comment counts as one of comment."""

    lines: int = 0
    comments: int = 0
    checks: int = 0

    def __add__(self, other: Figures) -> Figures:
        return Figures(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    def row(self, name: str) -> str:
        """A line of the table."""
        share = 100 * self.comments / self.lines
        return f"{name:10}{self.lines:7}{share:9.1f} %{self.checks:8}{100 * self.checks / self.lines:9.2f}"


def figures_of(path: Path) -> Figures:
    """Counts one file. The definitions of the macros are no checks."""
    lines = path.read_text("utf-8").splitlines()
    return Figures(
        lines=len(lines),
        comments=sum(1 for line in lines if COMMENT.match(line)),
        checks=sum(1 for line in lines if CHECK.search(line) and not COMMENT.match(line)),
    )


def table() -> Iterator[str]:
    """The figures of each room, then of all together."""
    yield f"{'room':10}{'lines':>7}{'comment':>11}{'checks':>8}{'per 100':>9}"
    total = Figures()
    for room in sorted(each for each in CORE.iterdir() if each.is_dir()):
        files = [path for path in room.iterdir() if path.suffix in {".h", ".cpp"}]
        of_room = sum((figures_of(path) for path in files), Figures())
        total += of_room
        yield of_room.row(room.name)
    yield total.row("all")


if __name__ == "__main__":
    sys.stdout.write("\n".join([*table(), ""]))
