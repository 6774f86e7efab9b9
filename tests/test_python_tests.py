"""The Python tests run in parts: each test once, the slowest first, and whatever becomes of a part is told."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOOL = Path(__file__).parent.parent / "tools/python_tests.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("python_tests", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look their module up by name
    spec.loader.exec_module(module)
    return module


def test_quick_files_of_a_folder_share_a_part_and_the_slowest_part_is_first(tool: ModuleType) -> None:
    files = ["a/test_1.py", "a/test_slow.py", "a/test_2.py", "b/test_3.py", "b/test_4.py::test_one"]
    parts = tool.parts_of(files, {"a/test_1.py": 1.0, "a/test_slow.py": 99.0, "b/test_4.py": 50.0})
    assert [part.places for part in parts] == [
        ["a/test_slow.py"],
        ["b/test_4.py::test_one"],
        ["a/test_1.py", "a/test_2.py"],
        ["b/test_3.py"],
    ]
    assert parts[2].name == "a (2 files)"


def test_no_part_is_long_or_has_many_files(tool: ModuleType) -> None:
    files = [f"a/test_{number}.py" for number in range(100)]
    parts = tool.parts_of(files, dict.fromkeys(files[:40], 5.0))
    assert sorted(file for part in parts for file in part.places) == sorted(files)
    assert max(part.seconds for part in parts) <= tool.PART_SECONDS
    assert max(len(part.places) for part in parts) <= tool.PART_FILES


def run(folder: Path, *arguments: str) -> tuple[int, list[str]]:
    command = [sys.executable, str(TOOL), "--jobs", "2", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


FILES = {
    "good/test_good.py": "from pytest import skip\ndef test_1(): ...\ndef test_2(): ...\ndef test_3(): skip('why')\n",
    "bad/test_bad.py": "def test_bad():\n    assert 1 == 2\n",
    "dead/test_dead.py": "import os\n\ndef test_dead():\n    os._exit(0)\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -m 'not nightly'\n")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_part_that_fails_or_dies_is_shown_and_the_others_go_on(folder: Path) -> None:
    code, lines = run(folder, "good", "bad", "dead")
    assert code == 1
    assert any(line.startswith("E ") and "assert 1 == 2" in line for line in lines)
    assert "the process of dead/test_dead.py ended early, with exit code 0" in lines
    summary, *others = reversed(lines)
    assert summary.startswith("1 failed, 2 passed, 1 skipped in ")
    assert set(others[:4]) == {
        "SKIPPED 1: why",
        "     1 of good/test_good.py",
        "FAILED bad/test_bad.py",
        "FAILED dead/test_dead.py",
    }


def test_options_are_those_of_pytest(folder: Path) -> None:
    code, lines = run(folder, ".", "--without=bad", "-m", "not slow", "-k", "test_1 or test_3")
    assert code == 0
    assert lines[-1].startswith("1 passed, 1 skipped, 2 deselected in ")
    code, lines = run(folder, "-k", "nothing", "good/test_good.py::test_1")
    assert code == 5
    assert lines[-1].startswith("1 deselected in ")


#: Fails the first time, as a test may that counts on a process which others hold up.
UNSTEADY = """
from pathlib import Path

def test_unsteady():
    seen = Path(__file__).with_name("seen")
    first = not seen.exists()
    seen.touch()
    assert not first

def test_good(): ...
"""


def test_a_test_that_passes_when_it_runs_again_is_named_and_forgiven_where_asked(folder: Path) -> None:
    (folder / "unsteady").mkdir()
    (folder / "unsteady/test_unsteady.py").write_text(UNSTEADY)
    code, lines = run(folder, "--unsteady=1", "unsteady")
    assert code == 0
    named = [line for line in lines if line.startswith("note: UNSTEADY ")]
    assert [line.split(": ")[1] for line in named] == ["UNSTEADY unsteady/test_unsteady.py::test_unsteady"]
    assert "FAILED unsteady/test_unsteady.py" in lines


def test_nothing_else_is_forgiven(tool: ModuleType) -> None:
    def failed(code: int, *tests: str) -> Any:
        return tool.Ended(tool.Part(["test_a.py"]), code, "", failed=list(tests))

    assert tool.allowed([failed(1, "a", "b")], ["a", "b"], 2)
    assert not tool.allowed([failed(1, "a", "b")], ["a", "b"], 1)  # too many
    assert not tool.allowed([failed(1, "a", "b")], ["a"], 2)  # one fails again
    assert not tool.allowed([failed(1, "a"), failed(70)], ["a"], 2)  # a process ended
    assert not tool.allowed([failed(1)], [], 2)  # nobody knows what failed


CRASHES = UNSTEADY.replace("assert not first", "import os; first and os.abort()").replace("test_unsteady", "test_crash")


@pytest.mark.parametrize(("text", "code"), [(UNSTEADY, 0), (CRASHES, 1)])
def test_what_is_no_part_is_forgiven_where_asked_but_for_the_end_of_a_process(
    folder: Path, text: str, code: int
) -> None:
    (folder / "test_it.py").write_text(text)
    command = [str(TOOL.with_name("steady-pytest")), sys.executable, str(folder / "cache"), "test_it.py"]
    environment = {**os.environ, "JOBS": "1", "UNSTEADY": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout
    assert ("note: UNSTEADY test_it.py::test_unsteady: " in done.stdout) is (code == 0)
