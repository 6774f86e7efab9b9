"""Measures the source by room, and in all: how long it is, and how much of it explains or checks the rest.

usage: python tools/source_figures.py prints a table of cpp/core: lines, the share of comments, and checks per hundred
lines; then one of python/ordeal: lines, and how many of them are code, docstrings, comments and blank. Its last lines
tell the rooms that came after the house was ordered from those that existed then.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

ROOT = Path(__file__).parent.parent
CORE = ROOT / "cpp" / "core"
PACKAGE = ROOT / "python" / "ordeal"
COMMENT = re.compile(r"\s*//")
CHECK = re.compile(r"\s*ORDEAL_D?CHECK\(|[{;]\s*ORDEAL_D?CHECK\(")

#: Folders and files of the package for what did not exist when the house was ordered, by what they are for.
LATER = {
    "simulation of async programs": ("simulate/network", "simulate/nodes", "simulate/outside", "simulate/runtime"),
    "reports and pages": (
        *("_engine/runs", "_engine/trace_view", "_engine/plain"),
        *("_report/dashboard", "_report/formats", "_report/html", "_report/comparing.py", "_report/comparing.py"),
        *(
            "cli/dashboard.py",
            "cli/live.py",
            "cli/report.py",
            "cli/view.py",
            "cli/schema.py",
        ),
    ),
    "init, doctor, bisect": (
        *(
            "_tools/scaffold",
            "_tools/doctor",
            "cli/init.py",
            "cli/doctor.py",
            "cli/bisect.py",
        ),
    ),
    "mutation": (
        *("_tools/mutation", "cli/mutation", "_report/machine_mutation.py"),
        *("_report/mutation.py", "_report/mutation_files.py", "_report/stryker.py"),
    ),
    "fleets": (*("_engine/parallel/fleet", "cli/fleet", "_report/fleet.py"),),
    "model oracles": (
        *("model/laws.py", "model/laws.py", "model/oracle.py", "model/laws.py"),
        *("model/laws.py", "model/laws.py"),
    ),
}


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


def lines_of(path: Path) -> tuple[int, int, int, int]:
    """Count the lines of a Python file that are code, docstrings, comments and blank."""
    text = path.read_text("utf-8")
    documented = [
        node.body[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node, clean=False) is not None
    ]
    in_docstrings = {line for node in documented for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    others = [line.strip() for number, line in enumerate(text.splitlines(), 1) if number not in in_docstrings]
    blank, comments = others.count(""), sum(line.startswith("#") for line in others)
    return len(others) - blank - comments, len(in_docstrings), comments, blank


def package_table() -> Iterator[str]:
    """The lines of each room of the package, then of all together."""
    yield f"{'room':24}{'lines':>7}{'code':>8}{'docstrings':>12}{'comments':>10}{'blank':>7}"
    rooms = [each for each in PACKAGE.iterdir() if each.is_dir() and each.name not in {"_engine", "__pycache__"}]
    rooms += [each for each in (PACKAGE / "_engine").iterdir() if each.is_dir() and each.name != "__pycache__"]
    kinds = {str(room.relative_to(PACKAGE)): sorted(room.rglob("*.py")) for room in sorted(rooms)}
    kinds = {
        "(files)": sorted(PACKAGE.glob("*.py")),
        "_engine (files)": sorted((PACKAGE / "_engine").glob("*.py")),
    } | kinds
    total = [0, 0, 0, 0]
    for name, files in kinds.items():
        counts = [sum(column) for column in zip(*map(lines_of, files), strict=True)]
        total = [one + other for one, other in zip(total, counts, strict=True)]
        yield _package_row(name, counts)
    yield _package_row("all", total)


def ages_table() -> Iterator[str]:
    """The lines of what existed when the house was ordered, and of each part that came later."""
    yield f"{'when the house was ordered':32}{'lines':>7}{'code':>8}{'docstrings':>12}{'comments':>10}{'blank':>7}"
    counts = {path: lines_of(path) for path in PACKAGE.rglob("*.py")}
    parts = {name: [path for place in places for path in _files_of(place)] for name, places in LATER.items()}
    later = {path for paths in parts.values() for path in paths}
    parts = {"existed": [path for path in counts if path not in later]} | parts
    for name, paths in parts.items():
        yield _package_row(name, [sum(column) for column in zip(*map(counts.__getitem__, paths), strict=True)], 32)


def _files_of(place: str) -> list[Path]:
    """The files of an entry of the table, which must be there: else the table is stale."""
    path = PACKAGE / place
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path] * path.is_file()
    if not files:
        raise SystemExit(f"error: there is no python/ordeal/{place}\n\nhint: correct LATER in tools/source_figures.py")
    return files


def _package_row(name: str, counts: list[int], width: int = 24) -> str:
    code, docstrings, comments, blank = counts
    return f"{name:{width}}{sum(counts):7}{code:8}{docstrings:12}{comments:10}{blank:7}"


if __name__ == "__main__":
    sys.stdout.write("\n".join([*table(), "", *package_table(), "", *ages_table(), ""]))
