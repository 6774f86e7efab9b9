"""Damaged files of every kind through the command line: it says what is wrong, in bounded time and memory.

``ORDEAL_DAMAGED_FILES`` sets how many files are tried in all; a failing one is kept, and its path is told.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.unit.samples.mutations import mutated

from .damaged import KINDS, Ending, Kind, broken, file_of, project, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.forks,
]

FILES = int(os.environ.get("ORDEAL_DAMAGED_FILES", "76"))
#: Of the processor, for one file.
SECONDS_MAX = 5.0
MEBIBYTES_MAX = 300.0


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two projects: the files of one are damaged, and those of the other spliced in."""
    folder = tmp_path_factory.mktemp("damaged")
    return project(folder / "one", 1), project(folder / "other", 2)


def test_whole_files_are_read(projects: tuple[Path, Path], tmp_path: Path) -> None:
    for kind in KINDS:
        folder = tmp_path / "project"
        shutil.copytree(projects[0], folder)
        ending = run(folder, kind.command, tmp_path / "said")
        assert (kind.name, ending.code) == (kind.name, 0 if kind.name == "properties" else 1), ending.said
        shutil.rmtree(folder)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_it_is_refused_or_read(kind: Kind, projects: tuple[Path, Path], tmp_path: Path) -> None:
    whole, other = (file_of(kind, each).read_bytes() for each in projects)
    rng = random.Random(kind.name)
    worst = Ending(0, "", 0.0, 0.0)
    codes: Counter[int] = Counter()
    files = FILES * kind.share // sum(each.share for each in KINDS)
    for number in range(files):
        data = (kind.reseal if number % 2 else mutated)(rng, whole, other)
        folder = tmp_path / "project"
        shutil.copytree(projects[0], folder)
        file_of(kind, folder).write_bytes(data)
        ending = run(folder, kind.command, tmp_path / "said")
        problem = broken(ending, SECONDS_MAX, MEBIBYTES_MAX)
        if problem:
            (tmp_path / "culprit").write_bytes(data)
        assert not problem, f"{problem}: file {number}, {tmp_path / 'culprit'}\n{ending.said[-2000:]}"
        codes[ending.code] += 1
        worst = Ending(0, "", max(worst.seconds, ending.seconds), max(worst.mebibytes, ending.mebibytes))
        shutil.rmtree(folder)
    most = f"at most {worst.seconds:.1f} s and {worst.mebibytes:.0f} MiB"
    sys.stdout.write(f"{kind.name}: {files} files, exit codes {dict(sorted(codes.items()))}, {most}\n")
