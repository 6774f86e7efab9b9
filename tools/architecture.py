"""Draws docs/concepts/architecture.svg from the source: storeys, rooms, and where imports lead.

It shows no counts, so that it changes with the architecture and not with each import.

usage: python tools/architecture.py          writes the picture
       python tools/architecture.py --check  ends with 1 where the picture is not that of the source
"""

from __future__ import annotations

import argparse
import sys
from html import escape

from rooms import ROOMS, ROOT, import_graph, path_in_package, room_of

PICTURE = ROOT / "docs/concepts/architecture.svg"

#: The storeys from the top: a title, what it is for, and its rooms as tools/rooms.py names them.
STOREYS = (
    ("faces", "what people and pytest talk to", ("cli", "_pytest", "_report")),
    (
        "tools",
        "python/ordeal/_tools, private",
        ("_tools/mutation", "_tools/scaffold", "_tools/doctor", "_tools/compare"),
    ),
    ("doors of the engine", "public", ("explore", "trace", "scaling", "reporting")),
    (
        "engine",
        "python/ordeal/_engine, private",
        (
            *("_engine/parallel", "_engine/search", "_engine/triage", "_engine/export", "_engine/seed_corpus"),
            *("_engine/replay", "_engine/execution", "_engine/properties", "_engine/storage", "_engine/coverage"),
            *("_engine/isolation", "_engine"),
        ),
    ),
    (
        "author's library",
        "public: what tests import",
        (
            *("exhaustive", "store", "result", "model", "stateful", "chaos", "swarm", "simulate", "faults"),
            *("assertions", "buggify", "quickcheck", "invariants", "strategies", "seed", "config"),
        ),
    ),
    ("Hypothesis", "the one contact with its inside", ("_hypothesis",)),
    ("ground", "what every room may import", ("_base", "errors")),
)
#: The rooms of the extension, from the top.
NATIVE = (
    ("cpp/bindings", "the only C++ that sees Python"),
    ("cpp/core", "decides; no Python"),
)

WIDTH, LEFT, BOX_HEIGHT, GAP = 1080, 210, 30, 8
CHAR = 7.2
COLOURS = ("#fde8d7", "#fbe3e8", "#fff4cf", "#dcebfb", "#e2f3e0", "#efe3f6", "#f3ede2", "#e9e9ee", "#dedee6")


def storey_of(room: str) -> int | None:
    """The number of the storey that holds ``room``; None for what holds them all."""
    return next((number for number, (_, _, rooms) in enumerate(STOREYS) if room in rooms), None)


def arrows() -> set[tuple[int, int]]:
    """The pairs of storeys of which the first imports the second."""
    found = set()
    for name, targets in import_graph().items():
        for target in targets:
            rooms = (room_of(path_in_package(name)), room_of(path_in_package(target)))
            storeys = [storey_of(ROOMS[room]) for room in rooms if room is not None]
            if len(storeys) == 2 and storeys[0] is not None and storeys[1] is not None and storeys[0] != storeys[1]:
                found.add((storeys[0], storeys[1]))
    return found


def native_rooms() -> list[tuple[str, str, list[str]]]:
    """The storeys of the extension with the names of their folders."""
    return [
        (folder, purpose, [each.name for each in sorted((ROOT / folder).iterdir()) if each.is_dir()])
        for folder, purpose in NATIVE
    ]


def draw() -> str:
    """The picture as SVG."""
    leads = arrows()
    rows = [(title, purpose, [room.removeprefix("_engine/") for room in rooms]) for title, purpose, rooms in STOREYS]
    rows += native_rooms()
    parts: list[str] = []
    y = 16.0
    for number, (title, purpose, boxes) in enumerate(rows):
        placed, height = _placed(boxes)
        parts.append(
            f'<rect x="8" y="{y:g}" width="{WIDTH - 16}" height="{height + 16:g}" rx="6" fill="{COLOURS[number]}"/>'
            f'<text x="20" y="{y + 20:g}" class="title">{escape(title)}</text>'
            f'<text x="20" y="{y + 37:g}" class="small">{escape(purpose)}</text>'
        )
        for x, row, name, width in placed:
            top = y + 8 + row * (BOX_HEIGHT + GAP)
            parts.append(
                f'<rect x="{x:g}" y="{top:g}" width="{width:g}" height="{BOX_HEIGHT}" rx="4" class="box"/>'
                f'<text x="{x + 8:g}" y="{top + 20:g}">{escape(name)}</text>'
            )
        y += height + 16
        parts.append(f'<text x="20" y="{y + 15:g}" class="small">{escape(_below(number, rows, leads))}</text>')
        y += 22
    style = (
        "text{font:13px sans-serif;fill:#222}.title{font-weight:bold}.small{font-size:11px;fill:#555}"
        ".box{fill:#fff;stroke:#888}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 8:g}" role="img" '
        f'aria-label="Storeys and rooms of ordeal">\n<style>{style}</style>\n'
        f'<rect width="{WIDTH}" height="{y + 8:g}" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _placed(boxes: list[str]) -> tuple[list[tuple[float, int, str, float]], float]:
    """Each box with its left edge, row and width, and the height of all rows."""
    placed = []
    x, row = float(LEFT), 0
    for name in boxes:
        width = 22 + CHAR * len(name)
        if x + width > WIDTH - 20:
            x, row = float(LEFT), row + 1
        placed.append((x, row, name or "package", width))
        x += width + GAP
    return placed, (row + 1) * (BOX_HEIGHT + GAP) - GAP


def _below(number: int, rows: list[tuple[str, str, list[str]]], leads: set[tuple[int, int]]) -> str:
    """Where the imports of a storey lead, in words."""
    if number >= len(STOREYS):
        return "" if number == len(rows) - 1 else "calls cpp/core, which never calls back"
    led = sorted(to for source, to in leads if source == number)
    return "imports: " + ", ".join(rows[to][0] for to in led) if led else "imports: cpp/bindings"


def main() -> int:
    """Write the picture, or say whether it is that of the source."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        PICTURE.write_text(draw(), "utf-8")
        return 0
    if PICTURE.is_file() and PICTURE.read_text("utf-8") == draw():
        return 0
    print(f"{PICTURE.name} is not that of the source: run python tools/architecture.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
