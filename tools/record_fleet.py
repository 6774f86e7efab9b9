"""Records a terminal: a fleet of four on this machine, one member of which is killed, for the guide of many machines.

usage: python tools/record_fleet.py [PATH] writes docs/guides/images/fleet.svg, an animation; it needs tmux

Nothing in it is drawn by hand. Above is what `ordeal explore` shows, below what `ordeal fleet status` says meanwhile.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
MEMBERS, SECONDS = 4, 45
COLUMNS, ROWS = 104, 10
#: How long each frame is shown, and the last one.
FRAME_SECONDS, LAST_SECONDS = 0.7, 6.0
#: The size of a character, in units of the picture.
WIDTH, HEIGHT = 8.4, 18
KILLED = "member-000002"


def main() -> int:
    """Run the fleet, and write what was seen of it."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/guides/images/fleet.svg"
    if shutil.which("tmux") is None:
        print("needs tmux", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "shop")
        shutil.copytree(ROOT / "examples/shop", project, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        settings = project / "ordeal.toml"
        settings.write_text(settings.read_text("utf-8").replace("verbose = true", "verbose = false"), "utf-8")
        path.write_text(animated(frames(project)), "utf-8")
    return 0


def frames(project: Path) -> list[list[str]]:
    """What the terminal shows, each time that it has changed."""
    tmux = ["tmux", "-L", f"ordeal-fleet-{os.getpid()}"]
    ordeal = [str(Path(sys.executable).parent / "ordeal")]
    command = ["explore", "--on", f"local:{MEMBERS}", "--max-time", str(SECONDS)]
    prompt = "$ " + " ".join(["ordeal", *command])
    text = f"{ordeal[0]} {' '.join(command)} > report.txt; echo; grep -E 'FAILURE|Note:' report.txt; sleep 99"
    size = ["-x", str(COLUMNS), "-y", str(ROWS)]
    subprocess.run([*tmux, "new-session", "-d", *size, "-c", str(project), text], check=True)
    seen, killed = list[list[str]](), ""
    try:
        for _ in range(6 * SECONDS):
            above = subprocess.run([*tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True).stdout
            status = [*ordeal, "fleet", "status", "dir://.ordeal/store"]
            below = subprocess.run(status, cwd=project, capture_output=True, text=True, check=False).stdout
            screen = [prompt, *(above.splitlines() + [""] * ROWS)[:ROWS], "$ ordeal fleet status", *below.splitlines()]
            if killed:
                screen.append(killed)
            if not seen or screen != seen[-1]:
                seen.append(screen)
            if below.count("  running  ") == MEMBERS and not killed:
                killed = kill([*status, "--json"], project)
            if "Note:" in above:
                return seen
            time.sleep(0.4)
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
    return seen


def kill(status: list[str], project: Path) -> str:
    """Kill a member with all that it has started, once it has run for a while, and say so."""
    told = subprocess.run(status, cwd=project, capture_output=True, text=True, check=True).stdout
    pid = int(json.loads(told)["members"][KILLED]["pid"])
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = [tuple(map(int, line.split())) for line in listed.splitlines()]
    found = [pid]
    for each in found:
        found += [own for own, parent in parents if parent == each]
    for each in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
    return f"$ kill -9 {' '.join(map(str, found))}"


def animated(screens: list[list[str]]) -> str:
    """The frames as an SVG that shows one after the other, and begins again."""
    rows = max(map(len, screens))
    width, height = COLUMNS * WIDTH + 24, rows * HEIGHT + 24
    total = FRAME_SECONDS * (len(screens) - 1) + LAST_SECONDS
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}">',
        "<title>A fleet of four, of which one member is killed and starts again</title>",
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


if __name__ == "__main__":
    sys.exit(main())
