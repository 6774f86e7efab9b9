"""Mutants of libraries as they are released today: which engine kills how many, and how soon.

usage: python benchmarks/mutant_hunt.py [--seed N] [--mutants N] [--seconds S] [--libraries NAME ...]
                                        [--engines NAME ...] [--long S] [--long-engines NAME ...] [--sound S]
                                        [--results FILE]

Each library has a machine that finds nothing in its newest release. The seed draws mutants among the lines that the
machine reaches: a statement left out, a boundary moved, a condition turned, a constant changed. Each is made in a copy
of the library and given to the engines in turns, each in a process of its own with S seconds of processor time. With
--long, what none has killed is searched anew for S seconds, by ordeal or those of --long-engines until one kills it,
which says of how many mutants that no other engine kills ordeal is the first. With --sound, the libraries are searched
as they are, and nothing may be found. Cells in FILE are not run again.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bugs.environments import Engine, engine_named
from bugs.results import OWN
from harness.cells import said_by
from harness.peers import PeerError
from harness.report import command, host
from mutants.catalog import LIBRARIES, PACKAGES, Library, library_named
from mutants.draw import Mutant, drawn
from mutants.results import Hunted, append, hard, hunt_table, read, summary

ENGINES = (OWN, "Hypothesis", "HypoFuzz")
SEED = 1
MUTANTS = 20
SECONDS = 30.0
AS_RELEASED = "(as released)"


def run_cell(python: Path, library: Library, folder: Path, *arguments: str, limit_s: float) -> dict[str, object]:
    """What a cell says of a library in a folder."""
    where = ("--library", library.package, "--folder", str(folder))
    return said_by(python, "mutants.cell", *where, *arguments, limit_s=limit_s)


@contextmanager
def mutated(library: Library, mutant: Mutant) -> Iterator[Path]:
    """A copy of the library with the mutant in it."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / PACKAGES
        shutil.copytree(library.folder(), folder)
        file = folder / mutant.file
        file.write_text(mutant.applied(file.read_text("utf-8")), "utf-8")
        yield folder


def imports(library: Library, folder: Path) -> bool:
    """Whether the library can be imported at all, without which there is nothing to hunt."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", f"import {library.module}"],
            env={**os.environ, "PYTHONPATH": str(folder)},
            capture_output=True,
            check=False,
            timeout=30,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def mutants_of(library: Library, seed: int, count: int) -> list[Mutant]:
    """The first mutants in the order of the seed that can be imported."""
    lines: dict[str, list[int]] = run_cell(  # type: ignore[assignment]
        Path(sys.executable), library, library.folder(), "--reach", limit_s=60
    )
    if "note" in lines:
        raise PeerError(f"the machine does not run: {lines['note']}")
    chosen: list[Mutant] = []
    for mutant in drawn(library.folder(), lines, seed):
        if len(chosen) == count:
            break
        with mutated(library, mutant) as folder:
            if imports(library, folder):
                chosen.append(mutant)
    return chosen


class Hunt:
    """The cells of one call, with those that are in the file already."""

    def __init__(self, path: Path, seed: int) -> None:
        self._path = path
        self._seed = seed
        self._known = {result.key: result for result in read(path)}
        self.results: list[Hunted] = []

    def cell(self, engine: Engine, library: Library, folder: Path, mutant: tuple[str, str], limit_s: float) -> Hunted:
        """The result of one engine on one mutant, which is a name and what it changes."""
        release = library.release()
        key = (release, mutant[0], engine.name, self._seed, limit_s)
        if key not in self._known:
            said = run_cell(
                engine.python, library, folder,
                "--engine", engine.module, "--seconds", str(limit_s), "--seed", str(self._seed), limit_s=limit_s,
            )  # fmt: skip
            broken = bool(said.get("broken"))
            found = Hunted(
                library=release,
                mutant=mutant[0],
                change=mutant[1],
                engine=engine.name,
                rng_seed=self._seed,
                limit_s=limit_s,
                killed=bool(said.get("found")),
                cpu_s=limit_s if broken else float(str(said["cpu_s"])),
                broken=broken,
                false_failures=int(str(said.get("false_failures", 0))),
                note=str(said["note"]),
            )
            self._known[key] = found
            append(self._path, found)
        result = self._known[key]
        if sys.stderr.isatty():
            print(f"{release} {mutant[1]} {engine.name}: {result.note or '-'}", file=sys.stderr)
        return result


def hunt(cells: Hunt, engines: list[Engine], library: Library, options: argparse.Namespace) -> list[Hunted]:
    """Give each mutant of a library to the engines, in another order each time; return the long searches."""
    long: list[Hunted] = []
    for number, mutant in enumerate(mutants_of(library, options.seed, options.mutants)):
        change = mutant.described((library.folder() / mutant.file).read_text("utf-8"))
        turn = number % len(engines)
        with mutated(library, mutant) as folder:
            own = [
                cells.cell(engine, library, folder, (mutant.name, change), options.seconds)
                for engine in [*engines[turn:], *engines[:turn]]
            ]
            cells.results += own
            if options.long and not any(result.killed for result in own):
                for name in options.long_engines:
                    long.append(cells.cell(engine_named(name), library, folder, (mutant.name, change), options.long))
                    if long[-1].killed:
                        break
    return long


def sound(cells: Hunt, libraries: list[Library], seconds: float) -> int:
    """Search the libraries as they are, and print what was found; return in how many."""
    found = [
        cells.cell(engine_named(OWN), library, library.folder(), (AS_RELEASED, AS_RELEASED), seconds)
        for library in libraries
    ]
    for result in found:
        print(f"- {result.library}: {result.note if result.killed or result.broken else 'nothing was found'}")
    return sum(result.killed or result.broken for result in found)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=SEED, help=f"draws the mutants and seeds the engines ({SEED})")
    parser.add_argument("--mutants", type=int, default=MUTANTS, help=f"for each library ({MUTANTS})")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"processor time of a cell ({SECONDS:g})")
    parser.add_argument("--libraries", nargs="+", default=[each.package for each in LIBRARIES], help="all")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES, help="all")
    parser.add_argument("--long", type=float, default=0.0, help="processor time for what none has killed (none)")
    parser.add_argument("--long-engines", nargs="+", default=[OWN], choices=ENGINES, help=f"who does ({OWN})")
    parser.add_argument("--sound", type=float, help="search the libraries as they are, for so long each")
    parser.add_argument("--results", type=Path, help="file of results to begin with and to add to")
    return parser.parse_args()


def main() -> None:
    """Hunt, and print the tables."""
    options = parsed()
    where = host()
    libraries = [library_named(name) for name in options.libraries]
    with tempfile.TemporaryDirectory() as folder:
        cells = Hunt(options.results or Path(folder) / "results.jsonl", options.seed)
        if options.sound:
            print(f"{where}\n`{command()}`\n")
            sys.exit(1 if sound(cells, libraries, options.sound) else 0)
        engines, missing = [], []
        for name in options.engines:
            try:
                engines.append(engine_named(name))
            except PeerError as error:
                missing.append(f"Not measured: {name} could not be installed ({error}).\n")
        long = []
        for library in libraries:
            try:
                long += hunt(cells, engines, library, options)
            except PeerError as error:
                missing.append(f"Not measured: {library.package} ({error}).\n")
    names = [engine.name for engine in engines]
    print(f"{where}\n`{command()}`: {'; '.join(engine.version() for engine in engines)}\n")
    print("".join(missing), end="")
    print(f"Mutants killed in {options.seconds:g} CPU seconds each\n")
    print(hunt_table(cells.results, names))
    print(f"\n{summary(cells.results, names)}")
    if options.long:
        print(f"\n{hard(cells.results, long, options.seconds, options.long)}")


if __name__ == "__main__":
    main()
