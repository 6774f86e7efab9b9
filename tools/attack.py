"""Runs the programs of tests/attack by the command, and writes what held into the table of docs/concepts/robustness.md.

usage: python tools/attack.py [--check] [NAME...] runs all programs, or those named; --check writes nothing

Each program is explored once by `ordeal explore` with two workers, a store, a saved state and generated tests; the
seeds that come of it are replayed in pytest. The exit code is 1 when something did not hold.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/concepts/robustness.md"
BEGIN, END = "<!-- attack: begin -->\n", "<!-- attack: end -->\n"
HEAD = ("| What was tried | Programs | Held |", "|---|---|---|")


def run(names: Sequence[str]) -> dict[str, list[bool]]:
    """Run the programs, and return by the class of attacks which held."""
    sys.path.insert(0, str(ROOT))
    from tests.attack import copies, interpreters, objects  # noqa: F401, PLC0415 - they declare their programs
    from tests.attack.base import PROGRAMS  # noqa: PLC0415
    from tests.attack.runs import commanded  # noqa: PLC0415

    held: dict[str, list[bool]] = defaultdict(list)
    for program in PROGRAMS:
        if names and program.name not in names:
            continue
        done = commanded(program.machine)
        held[program.kind].append(not done.broken)
        print(f"{done.seconds:5.1f} s  {done.broken or 'held'}  {program.name}: {program.does}", flush=True)
    return held


def table(held: dict[str, list[bool]]) -> str:
    """Return the table of the page: a row for each class."""
    rows = [f"| {kind} | {len(programs)} | {sum(programs)} |" for kind, programs in held.items()]
    return "\n".join(["", *HEAD, *rows, "", ""])


def main(arguments: Sequence[str]) -> int:
    """Run the programs; write the table if none was named."""
    names = [argument for argument in arguments if not argument.startswith("-")]
    held = run(names)
    if not names and "--check" not in arguments:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}{table(held)}{END}{after}", "utf-8")
    return int(not all(each for programs in held.values() for each in programs))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
