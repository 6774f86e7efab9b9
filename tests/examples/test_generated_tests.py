"""The tests that the command writes for the shop: they say of it what its report says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.warm_python import run_module

import ordeal

from .conftest import EXAMPLES

RUNS = 150
FILE = "test_generated.py"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example, explored."""
    project = shutil.copytree(EXAMPLES / "shop", tmp_path_factory.mktemp("shop") / "project")
    done = python(project, "-m", "ordeal", "explore", "--max-runs", str(RUNS), "--generate-tests", FILE)
    assert done.returncode == 1, done.stderr
    return project


def python(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = [str(Path(ordeal.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
    if arguments[:2] in {("-m", "pytest"), ("-m", "ordeal")}:
        return run_module(*arguments[1:], environment=environment, folder=project)
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def test_tests_of_failures_fail_and_tests_of_paths_pass(shop: Path) -> None:
    done = python(shop, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "--tb=no", "-q", FILE)
    seen = re.findall(rf"^(PASSED|FAILED) {FILE}::test_(fail|path)_\w+", done.stdout, re.MULTILINE)
    assert set(seen) == {("FAILED", "fail"), ("PASSED", "path")}
    assert 5 < len(seen) < 30


def test_tests_pass_once_the_bugs_are_repaired(shop: Path) -> None:
    patched = (
        "import repairs\n\nREPAIRED = repairs.repaired('abc')\n\n\ndef pytest_configure():\n    REPAIRED.__enter__()\n"
    )
    (shop / "conftest.py").write_text(patched, encoding="utf-8")
    try:
        done = python(shop, "-m", "pytest", "-p", "no:cacheprovider", "-q", FILE)
    finally:
        (shop / "conftest.py").unlink()
    assert done.returncode == 0, done.stdout


def test_ruff_finds_nothing_wrong(shop: Path) -> None:
    done = python(shop, "-m", "ruff", "check", "--ignore", "I", "--isolated", "--no-cache", FILE)
    assert done.returncode == 0, done.stdout
