"""Records a terminal: a fleet of four on this machine, one member of which is killed, for the guide of many machines.

usage: python tools/record_fleet.py [PATH] writes docs/guides/images/fleet.svg, an animation; it needs tmux

Nothing in it is drawn by hand. Above is what `ordeal explore` shows, below what `ordeal fleet status` says meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from animation import COLUMNS, animated

ROOT = Path(__file__).parent.parent
MEMBERS, SECONDS = 4, 45
ROWS = 10
TITLE = "A fleet of four, of which one member is killed and starts again"
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
        path.write_text(animated(TITLE, frames(project)), "utf-8")
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


if __name__ == "__main__":
    sys.exit(main())
