"""Whether `ordeal mutate` judges truly however a project is laid out, and whichever plugins its tests use.

usage: python benchmarks/mutation_layouts.py [NAME]...

Each project of layouts/projects.py is written to a temporary folder and judged by `ordeal mutate`, as a user calls it.
Then each mutant is written into a copy of the program on disk, and judged by plain pytest in a new process. The two
must say the same of each; the exit code is 1 where they do not.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

from harness.peers import folder_with
from harness.report import command, host, table
from layouts.projects import PROJECTS, Project

from ordeal._tools.mutation.mutants import Mutant, mutants_of
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.targets import files_of
from ordeal._tools.mutation.verdicts import DETECTED

_OPERATORS = "arithmetic,comparison,boundary"
_SECONDS = 60.0


@dataclass(frozen=True)
class Place:
    """A project on disk: its folder, its interpreter, the environment of its processes, and what is mutated."""

    project: Project
    folder: Path
    python: Path
    environment: dict[str, str]
    target: str

    @classmethod
    def of(cls, project: Project, place: Path) -> Place:
        """Write a project, and install it if it is one that is installed."""
        folder = place / "project"
        for name, text in project.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for link, leads_to in project.links.items():
            (folder / link).symlink_to(leads_to)
        needs = [str(folder_with(f"layout-{project.needs[0]}", *project.needs))] if project.needs else []
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(needs), "PYTHONDONTWRITEBYTECODE": "1"}
        python, site = Path(sys.executable), ""
        if project.install:
            python, site = _interpreter(place / "environment")
            line = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", *project.install]
            subprocess.run(line, cwd=folder, check=True, env=environment)
            shutil.rmtree(folder / "build", ignore_errors=True)
        return cls(project, folder, python, environment, project.target.replace("{site}", site))

    def judged(self) -> dict[str, str]:
        """Return what ordeal says of each mutant.

        Raises:
            Refused: it says nothing; the text is why.
        """
        line = [str(self.python), "-m", "ordeal", "mutate", self.target, "--json", "--operators", _OPERATORS]
        line += ["--workers", "2", *(f"--tests={each}" for each in self.project.arguments)]
        done = subprocess.run(
            line, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=600, check=False
        )
        if done.returncode:
            raise Refused(" ".join(done.stderr.split("error: ")[-1].split()))
        return {each["id"]: each["verdict"] for each in json.loads(done.stdout)["mutants"]}

    def mutants(self) -> list[tuple[Source, Mutant]]:
        """Return the mutants, each with its file."""
        sources = [Source.of(path, path.as_posix()) for path in files_of([self.target], self.folder)]
        named = [Source(each.path, _shown(each.path, self.folder), each.text) for each in sources]
        return [(source, each) for source in named for each in mutants_of(source, _OPERATORS.split(","))]

    def passes(self) -> bool:
        """Return whether plain pytest passes, with all that the project asks of it."""
        line = [str(self.python), "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *self.project.arguments]
        # An editable install of ordeal makes pytest warn, which a project may take for an error.
        line += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        try:
            done = subprocess.run(
                line, cwd=self.folder, env=self.environment, capture_output=True, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


class Refused(Exception):  # noqa: N818 - it is an answer
    """No verdict was given, and why."""


def _interpreter(folder: Path) -> tuple[Path, str]:
    """Make an environment that has all that this one has. Return its interpreter, and where it installs to."""
    venv.create(folder, symlinks=True)
    site = sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)})
    Path(site, "parent.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    return folder / "bin" / "python", site


def _shown(path: Path, folder: Path) -> str:
    try:
        return path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return path.as_posix()


def row(project: Project) -> list[str]:
    """Return what ordeal says of the mutants of a project, and where plain pytest contradicts."""
    with tempfile.TemporaryDirectory(prefix="ordeal-layout-") as folder:
        place = Place.of(project, Path(folder))
        if not place.passes():
            return [project.name, "", "", "the tests fail without a mutant"]
        try:
            judged = place.judged()
        except Refused as refused:
            return [project.name, "", "", f"no verdict: {refused}"]
        wrong = []
        for source, mutant in place.mutants():
            path = source.path.resolve()
            path.write_bytes(mutant.applied(source.text))
            passed = place.passes()
            path.write_bytes(source.text)
            word = judged.get(mutant.id, "missing")
            if (word not in DETECTED and word not in ("survived", "uncovered")) or passed == (word in DETECTED):
                what = f"`{mutant.original}` to `{mutant.replacement}`"
                wrong.append(f"line {mutant.line}, {what}: {word}, pytest {'passes' if passed else 'fails'}")
        detected = sum(word in DETECTED for word in judged.values())
        return [project.name, str(len(judged)), str(detected), "; ".join(wrong)]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="only the projects whose name holds one of these")
    names = parser.parse_args().names
    print(f"{host()}\n`{command()}`\n")
    rows = []
    for project in PROJECTS:
        if not names or any(name in project.name for name in names):
            rows.append(row(project))
            print(rows[-1], file=sys.stderr, flush=True)
    print(table(["project", "mutants", "detected", "where plain pytest says something else"], rows))
    return int(any(each[-1] for each in rows))


if __name__ == "__main__":
    sys.exit(main())
