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
HEAD = ("| What was tried | How often | What held |", "|---|---|---|")


def run(names: Sequence[str]) -> dict[str, list[tuple[str, list[str]]]]:
    """What did not hold of each program, by the class of attacks."""
    sys.path.insert(0, str(ROOT))
    from tests.attack import copies, interpreters, objects  # noqa: F401, PLC0415 - they declare their programs
    from tests.attack.base import PROGRAMS  # noqa: PLC0415
    from tests.attack.runs import commanded  # noqa: PLC0415

    held: dict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    for program in PROGRAMS:
        if names and program.name not in names:
            continue
        done = commanded(program.machine)
        held[program.kind].append((program.does, done.broken))
        print(f"{program.name:24} {done.seconds:5.1f} s  {done.failures}  {done.broken or 'held'}", flush=True)
    return held


def table(held: dict[str, list[tuple[str, list[str]]]]) -> str:
    """The rows of the page: a line for each class, then one for each program."""
    lines = ["", *HEAD]
    for kind, programs in held.items():
        kept = sum(not broken for _, broken in programs)
        lines.append(f"| **{kind}** | {len(programs)} programs | {kept} of {len(programs)} |")
        for does, broken in programs:
            said = "; ".join(each.partition(":")[0] for each in broken)
            lines.append(f"| {does} | 1 | {f'not: {said}' if broken else 'all'} |")
    return "\n".join([*lines, "", ""])


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for, and write the table where all was."""
    names = [argument for argument in arguments if not argument.startswith("-")]
    held = run(names)
    if not names and "--check" not in arguments:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}{table(held)}{END}{after}", "utf-8")
    return int(any(broken for programs in held.values() for _, broken in programs))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
