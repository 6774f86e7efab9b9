"""How long it takes from nothing to the first finding in a package of one's own, with the commands of the README alone.

usage: python benchmarks/newcomer.py

A fresh clone, an empty environment of this Python without a cache of pip, and a small package with a bug. The commands
are those of the README's section "Install", and then `ordeal init` in the folder of the package; the compiler and the
two libraries that it names are installed. Exit 1 if there are more than three commands, or nothing is found.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.report import host, table

ROOT = Path(__file__).parent.parent
HEADING = "## Install"
COMMANDS_MAX = 3
PACKAGE = {
    "pyproject.toml": '[project]\nname = "parking"\nversion = "1.0"\n',
    "parking/__init__.py": "from parking.lot import Lot as Lot\n",
    "parking/lot.py": '''"""Who stands in a car park, and how many places are free."""


class Lot:
    def __init__(self, places: int = 3) -> None:
        self.places = places
        self.free = places
        self.cars: set[str] = set()

    def enter(self, plate: str) -> None:
        """Let a car in. Raises ValueError where no place is free."""
        if self.free <= 0:
            raise ValueError("full")
        self.free -= 1
        self.cars.add(plate)  # a car that is inside already takes a second place

    def leave(self, plate: str) -> None:
        """Let a car out. Raises KeyError for one that is not inside."""
        self.cars.remove(plate)
        self.free += 1

    def __len__(self) -> int:
        return self.places - self.free

    def __iter__(self):
        return iter(self.cars)

    def __contains__(self, plate: object) -> bool:
        return plate in self.cars
''',
}
#: What `ordeal init` and a pipe that `ordeal explore` writes to say first of a finding.
FOUND = re.compile(r"^\s+found: |FAILURE|✗")


def commands() -> list[str]:
    """Return the commands of the README's section, and the one that it names for a package of one's own."""
    text = (ROOT / "README.md").read_text("utf-8")
    block = text[text.index(HEADING) :].split("```")[1]
    lines = [line[2:] for line in block.splitlines() if line.startswith("$ ") and "apt-get" not in line]
    return ["cd ordeal", *(part for line in lines for part in line.split(" && ")), "cd ../myproject", "ordeal init"]


def prepare(folder: Path) -> dict[str, str]:
    """Lay out the clone, the package and the environment; return the variables of the shell."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder / "ordeal")], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    for name, text in PACKAGE.items():
        path = folder / "myproject" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_")) or "proxy" in name}
    programs = f"{folder}/venv/bin:/usr/local/bin:/usr/bin:/bin"
    return {
        **kept,
        "PATH": programs,
        "HOME": str(folder),
        "PIP_NO_CACHE_DIR": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


def until_found(command: str, folder: Path, variables: dict[str, str]) -> bool:
    """Run a command, and return whether it told of a finding, at which it is ended."""
    with subprocess.Popen(
        ["bash", "-c", f"exec {command}"], cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:
            print(f"    {line}", end="", file=sys.stderr)
            if FOUND.search(line):
                process.terminate()
                return True
    return False


def main() -> int:
    """Run the commands, and print how long each took."""
    given, rows, found = commands(), [], False
    about = host()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        variables = prepare(folder)
        began = time.monotonic()
        for command in given:
            if command.startswith("cd "):
                folder = folder / command[3:]
                rows.append([f"`{command}`", "", ""])
                continue
            start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            found = until_found(command, folder, variables)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            rows.append([f"`{command}`", f"{time.monotonic() - start:.1f}", f"{spent:.1f}"])
            if found:
                break
        took = time.monotonic() - began
    print(f"{about}\n`python benchmarks/newcomer.py`\n")
    print(table(["command", "seconds", "processor seconds"], rows))
    verdict = f"the first finding after {took:.0f} s" if found else "nothing was found"
    print(f"\n{len(rows)} of {len(given)} commands, {verdict}")
    return int(not found or sum(not each.startswith("cd ") for each in given) > COMMANDS_MAX)


if __name__ == "__main__":
    sys.exit(main())
