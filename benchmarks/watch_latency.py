"""How soon `ordeal seeds --watch` says whether a saved failure still fails, after a file of the program was saved.

usage: python benchmarks/watch_latency.py [--saves N]

The package of newcomer.py with the machine that `ordeal init` writes for it: its file is saved so often, each time the
failure is replayed in a fork of a warm process. Prints milliseconds from the save to the line that tells.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.report import command, host, spread
from newcomer import PACKAGE
from report_cost import processor_seconds

ORDEAL = (sys.executable, "-m", "ordeal")


def saved(folder: Path, saves: int) -> tuple[list[float], float]:
    """Return how many milliseconds each answer took, and how many of processor time one takes with what follows it."""
    file = folder / "parking/lot.py"
    took = []
    with subprocess.Popen(
        [*ORDEAL, "seeds", "--watch"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        next(line for line in lines if line.startswith("Watching"))
        before = processor_seconds(process.pid)
        for number in range(saves):
            time.sleep(0.5)
            began = time.perf_counter()
            file.write_text(PACKAGE["parking/lot.py"] + f"# {number}\n", "utf-8")
            next(line for line in lines if "REGRESSION" in line)
            took.append(1_000 * (time.perf_counter() - began))
            next(line for line in lines if "seed run in" in line)
        spent = processor_seconds(process.pid) - before
        process.terminate()
    return took, 1_000 * spent / saves


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--saves", type=int, default=15)
    given = parser.parse_args()
    about = host()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, text in PACKAGE.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        subprocess.run([*ORDEAL, "init", "--yes"], cwd=folder, check=False, capture_output=True)
        took, spent = saved(folder, given.saves)
    print(f"{about}\n`{command()}`\n")
    print(f"from the save to the answer: {spread(took, '.0f')} ms (min / median / max of {len(took)})")
    print(f"processor time of an answer: {spent:.0f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
