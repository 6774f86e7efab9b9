"""What a terminal showed, as an animated picture for the guides."""

from __future__ import annotations

import html
import tomllib
from pathlib import Path

#: The first line of a picture: the version of ordeal that it shows.
VERSION_LINE = "<!-- ordeal {version} -->\n".format_map(
    tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8"))["project"]
)
COLUMNS = 104
#: How long each frame is shown, and the last one.
FRAME_SECONDS, LAST_SECONDS = 0.7, 6.0
#: The size of a character, in units of the picture.
WIDTH, HEIGHT = 8.4, 18


def animated(title: str, screens: list[list[str]]) -> str:
    """The screens as an SVG that shows one after the other, and begins again."""
    rows = max(map(len, screens))
    width, height = COLUMNS * WIDTH + 24, rows * HEIGHT + 24
    total = FRAME_SECONDS * (len(screens) - 1) + LAST_SECONDS
    parts = [
        f'{VERSION_LINE}<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}">',
        f"<title>{html.escape(title)}</title>",
        '<rect width="100%" height="100%" rx="8" fill="#1e1e1e"/>',
        '<g font-family="monospace" font-size="14" fill="#d8d8d8">',
    ]
    for number, screen in enumerate(screens):
        begin = FRAME_SECONDS * number / total
        end = FRAME_SECONDS * (number + 1) / total if number + 1 < len(screens) else 1.0
        shown = [(0.0, int(begin == 0)), *([(begin, 1)] if begin else []), *([(end, 0)] if end < 1 else [])]
        parts.append(f'<g opacity="{int(number + 1 == len(screens))}">')
        parts.append(
            f'<animate attributeName="opacity" calcMode="discrete" dur="{total:.1f}s" repeatCount="indefinite" '
            f'keyTimes="{";".join(f"{at:.4f}" for at, _ in shown)}" values="{";".join(str(on) for _, on in shown)}"/>'
        )
        for row, line in enumerate(screen):
            if line.strip():
                colour = ' fill="#7fd17f"' if line.startswith("$ ") else ""
                text = html.escape(line.rstrip()[:COLUMNS]).replace(" ", "&#160;")  # browsers join plain spaces
                parts.append(f'<text x="12" y="{12 + HEIGHT * row + 14}"{colour}>{text}</text>')
        parts.append("</g>")
    return "\n".join([*parts, "</g>", "</svg>", ""])
