"""The map of the house is that of the source, and walks through the running program stay short."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

#: How many files a walk may enter.
LIMITS = {"choice": 22, "failure": 22, "option": 3}


def run(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, f"tools/{tool}", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_picture_is_that_of_the_source() -> None:
    done = run("architecture.py", "--check")
    assert done.returncode == 0, done.stderr


def test_a_picture_of_another_source_is_refused(tmp_path: Path) -> None:
    picture = tmp_path / "architecture.svg"
    picture.write_text(
        (ROOT / "docs/concepts/architecture.svg").read_text("utf-8").replace("triage", "triaje"), "utf-8"
    )
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, 'tools'); sys.argv = ['x', '--check']\n"
        f"import architecture; architecture.PICTURE = Path({str(picture)!r}); sys.exit(architecture.main())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, "architecture.svg is not that of the source" in done.stderr) == (1, True)


def test_walks_stay_short() -> None:
    done = run("walks.py")
    lengths = {line.partition(":")[0]: int(line.split()[1]) for line in done.stdout.splitlines() if "files" in line}
    assert lengths.keys() == LIMITS.keys(), done.stderr
    assert all(0 < length <= LIMITS[name] for name, length in lengths.items()), done.stdout
