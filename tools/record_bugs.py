"""Records a terminal: one search that finds four bugs of one library, for the guide of failures.

usage: python tools/record_bugs.py [PATH] writes docs/guides/images/bugs.svg, an animation; it needs tmux

Nothing in it is drawn by hand. The library is pyrsistent 0.20.0 as it was released, installed into a folder of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from animation import COLUMNS, animated

ROOT = Path(__file__).parent.parent
REQUIREMENT = "pyrsistent==0.20.0"
SECONDS = 10
ROWS = 34
TITLE = "One search that finds four bugs of one library"
#: What is read of the report: how many failures there are, and of each what was asserted and which steps lead to it.
READ = "FAILURES|Asserted|Told apart|Sequence"
#: A persistent deque of at most three items, beside a list.
MACHINE = """
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from pyrsistent import pdeque


class Deque(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.deque, self.plain = pdeque([], maxlen=3), []

    @rule(item=st.integers(0, 3))
    def append(self, item):
        self.deque = self.deque.append(item)
        self.plain = [*self.plain, item][-3:]

    @rule()
    def reverse(self):
        self.deque = self.deque.reverse()
        self.plain = self.plain[::-1]

    @rule(item=st.integers(0, 3))
    def remove(self, item):
        if item in self.plain:
            self.deque = self.deque.remove(item)
            self.plain.remove(item)

    @rule(steps=st.integers(-4, 4))
    def rotate(self, steps):
        self.deque = self.deque.rotate(steps)
        by = steps % len(self.plain) if self.plain else 0
        self.plain = self.plain[-by:] + self.plain[:-by]

    @rule(start=st.integers(0, 3), stop=st.integers(0, 3))
    def part(self, start, stop):
        if self.plain:
            assert list(self.deque[start:stop]) == self.plain[start:stop]

    @invariant()
    def is_alike(self):
        assert list(self.deque) == self.plain
"""
SETTINGS = f"""[explorer]
target_modules = ["pyrsistent._pdeque"]
max_time = {SECONDS}
workers = 1

[[tests]]
class = "test_deque:Deque"
"""


def main() -> int:
    """Search, and write what was seen of it."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/guides/images/bugs.svg"
    if shutil.which("tmux") is None:
        print("needs tmux", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        library, project = Path(folder, "library"), Path(folder, "deque")
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(library), REQUIREMENT]
        subprocess.run(install, check=True)
        project.mkdir()
        (project / "test_deque.py").write_text(MACHINE.lstrip(), "utf-8")
        (project / "ordeal.toml").write_text(SETTINGS, "utf-8")
        path.write_text(animated(TITLE, frames(project, library)), "utf-8")
    return 0


def frames(project: Path, library: Path) -> list[list[str]]:
    """What the terminal shows, each time that it has changed."""
    tmux = ["tmux", "-L", f"ordeal-bugs-{os.getpid()}"]
    ordeal = Path(sys.executable).parent / "ordeal"
    reading = f"grep -E '{READ}' report.txt"
    prompts = "$ ordeal explore --seed 1 > report.txt", f"$ {reading}"
    text = f'{ordeal} explore --seed 1 > report.txt; echo; echo "{prompts[1]}"; {reading}; echo .; sleep 99'
    size = ["-x", str(COLUMNS), "-y", str(ROWS)]
    environment = {**os.environ, "PYTHONPATH": str(library)}
    starting = [*tmux, "new-session", "-d", *size, "-c", str(project), text]
    subprocess.run(starting, check=True, env=environment)
    seen = list[list[str]]()
    try:
        for _ in range(40 * SECONDS):
            shown = subprocess.run([*tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True).stdout
            lines = shown.rstrip().splitlines()
            is_over = lines[-1:] == ["."]
            screen = [prompts[0], *(lines[:-1] if is_over else lines)]
            if not seen or screen != seen[-1]:
                seen.append(screen)
            if is_over:
                return seen
            time.sleep(0.4)
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
    return seen


if __name__ == "__main__":
    sys.exit(main())
