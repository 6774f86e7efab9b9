"""The first page keeps its word: its machine finds the bug of the released library, and prints what the page shows."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_machine_of_the_first_page_prints_what_the_page_shows(tmp_path: Path) -> None:
    blocks: dict[str, list[str]] = {"python": [], "text": []}
    for language, block in re.findall(r"```(python|text)\n(.*?)```", README.read_text("utf-8"), re.DOTALL):
        blocks[language].append(block)
    (tmp_path / "queue_chaos.py").write_text(blocks["python"][0], "utf-8")
    command, *shown = blocks["text"][0].splitlines()
    search = command.removeprefix("$ ordeal ").replace("--max-time 5", "--max-time 30 --max-runs 50").split()
    done = subprocess.run(
        [sys.executable, "-m", "ordeal", *search], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    # Which of the shortest runs is shown depends on the clock of the workers.
    printed = iter(re.sub(r"Run \d+", "Run 1", done.stdout).splitlines())
    assert [line for line in shown if line not in printed] == []
