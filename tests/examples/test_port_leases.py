"""The leases of the examples: some seeds find the planted bug, and what such a run prints finds it again."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import _ordeal_pytest

from .conftest import EXAMPLES

PROJECT = EXAMPLES / "port_leases"
TEST = "test_leases.py::test_no_port_is_leased_twice"


def run_pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder, with this plugin and no other."""
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTHONDONTWRITEBYTECODE": "1"}
    source = str(Path(_ordeal_pytest.__file__).absolute().parent)
    words = [sys.executable, "-m", "pytest", "-p", "_ordeal_pytest", *options]
    environment = {**os.environ, **alone, "PYTHONPATH": source}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the example."""
    return Path(shutil.copytree(PROJECT, tmp_path / "project", ignore=shutil.ignore_patterns("__pycache__")))


def test_printed_seed_finds_the_bug_again(project: Path) -> None:
    found = run_pytest(project, "--ordeal-seed=1")
    shown = (PROJECT / "README.md").read_text("utf-8").split("```")[1].splitlines()
    for line in shown[2:]:
        assert line == "..." or line in found.stdout.splitlines()
    (replay,) = [line for line in found.stdout.splitlines() if line.startswith("replay: ")]
    again = run_pytest(project, *shlex.split(replay)[2:])
    assert again.returncode == 1
    assert shown[4] in again.stdout


def test_other_seeds_pass(project: Path) -> None:
    assert run_pytest(project, "--ordeal-seed=2").returncode == 0


def test_repair_passes(project: Path) -> None:
    source = project / "leases.py"
    text = source.read_text("utf-8")
    broken = "        if port in self.ports.values():"
    assert broken in text
    source.write_text(text.replace(broken, broken.replace("if", "while")), "utf-8")
    assert run_pytest(project, "--ordeal-seed=1", TEST).returncode == 0
