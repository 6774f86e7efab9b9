"""The example of a real library: the pinned release has its bug, the Explorer finds it, the next release is clean."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from .conftest import EXAMPLES, imported

PROJECT = EXAMPLES / "cacheout_lfu"
OUTGROWN = "the cache holds more than its maxsize"
BORROWED = {"cacheout", "pkg_resources", "profiles"}


def install(folder: Path, *requirements: str) -> Path:
    """Install a release into a folder of its own and return the folder."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *requirements]
    subprocess.run(command, check=True)
    return folder


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release that the example pins."""
    return install(tmp_path_factory.mktemp("pinned"), "-r", str(PROJECT / "requirements.txt"))


@pytest.fixture
def chaos(pinned: Path) -> Iterator[ModuleType]:
    """The machine of the example over the pinned release."""
    path = [pinned, PROJECT / "compat", PROJECT]
    with imported(PROJECT / "test_profiles_chaos.py", path=path, modules=BORROWED) as module:
        yield module


@pytest.fixture
def explore(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs `ordeal explore` on a copy of the example with that release."""
    project = shutil.copytree(PROJECT, tmp_path / "project", ignore=shutil.ignore_patterns("lib"))

    def run(library: Path, *options: str) -> subprocess.CompletedProcess[str]:
        inherited = os.environ.get("PYTHONPATH")
        path = [str(library), "compat", *([inherited] if inherited else [])]
        return subprocess.run(
            [sys.executable, "-m", "ordeal", "explore", *options],
            cwd=project,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_failed_look_up_lets_the_cache_outgrow_its_bound(chaos: ModuleType) -> None:
    machine = chaos.ProfilesChaos()
    (database_down,) = machine._faults
    with database_down:
        machine.show(customer=1)
    for customer in range(2, chaos.MAXSIZE + 2):
        machine.show(customer=customer)
        machine.cache_is_bounded()
    machine.show(customer=chaos.MAXSIZE + 2)
    with pytest.raises(AssertionError, match=OUTGROWN):
        machine.cache_is_bounded()
    machine.teardown()


def test_explore_finds_it_in_the_pinned_release(
    pinned: Path, explore: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = explore(pinned, "--workers", "1", "--max-time", "5", "--max-runs", "400")
    assert done.returncode == 1, done.stderr
    assert OUTGROWN in done.stdout
    shown = (PROJECT / "README.md").read_text("utf-8").split("```text\n")[1].split("```")[0].splitlines()
    printed = [line.strip() for line in done.stdout.splitlines()]
    first = printed.index(shown[0])
    assert printed[first : first + len(shown)] == shown


def test_explore_finds_nothing_in_the_next_release(
    tmp_path: Path, explore: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = explore(install(tmp_path / "next", "cacheout==0.11.2"), "--workers", "1", "--max-runs", "400")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No failures." in done.stdout
