"""What the READMEs of the examples show is what their programs do, what `ordeal explore` prints, and what is there."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import EXAMPLES

#: Examples whose program a short search prints. In those of others nothing is left to chance.
QUICK = {"order_retry", "simulated_store"}
#: The example whose library is not installed: its own test compares the program.
BORROWING = "cacheout_lfu"


def shown() -> Iterator[tuple[str, str]]:
    """Yield the name of each example with each block that it shows."""
    for readme in sorted(EXAMPLES.glob("*/README.md")):
        for block in re.findall(r"```text\n(.*?)```", readme.read_text("utf-8"), re.DOTALL):
            yield readme.parent.name, block


PROGRAMS = [(name, block) for name, block in shown() if block.startswith("state = ")]
CHANGES = [(name, block) for name, block in shown() if re.fullmatch(r"(?:[-+ ].*\n)+", block)]


def sources(name: str) -> list[Path]:
    return sorted(path for path in (EXAMPLES / name).rglob("*.py") if "lib" not in path.parts)


@pytest.fixture
def project(name: str, tmp_path: Path) -> Path:
    """A copy of the example, in which nothing is saved yet."""
    ignored = shutil.ignore_patterns(".ordeal", "__pycache__")
    return Path(shutil.copytree(EXAMPLES / name, tmp_path / "project", ignore=ignored))


def test_every_block_is_a_program_or_a_change() -> None:
    assert [each for each in shown() if each not in [*PROGRAMS, *CHANGES]] == []


@pytest.mark.parametrize(("name", "program"), [each for each in PROGRAMS if each[0] not in {*QUICK, BORROWING}])
def test_a_program_fails_in_its_last_step(name: str, program: str, project: Path) -> None:
    machine = program.split(" = ")[1].split("(")[0]
    (file,) = [path for path in sources(name) if f"class {machine}(" in path.read_text("utf-8")]
    module = ".".join(file.relative_to(EXAMPLES / name).with_suffix("").parts)
    code = f"from {module} import {machine}\n{program}"
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False)
    failed = re.findall(r'File "<string>", line (\d+)', done.stderr)
    assert failed == [str(len(code.splitlines()) - 1)], done.stderr


@pytest.mark.parametrize(("name", "program"), [each for each in PROGRAMS if each[0] in QUICK])
def test_a_short_search_prints_the_program(name: str, program: str, project: Path) -> None:
    search = ["explore", "--max-runs", "200", "--workers", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "ordeal", *search], cwd=project, capture_output=True, text=True, check=False
    )
    printed = [line.strip() for line in done.stdout.splitlines()]
    first = printed.index(program.splitlines()[0])
    assert printed[first : first + len(program.splitlines())] == program.splitlines()


@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_a_change_fits_the_source(name: str, change: str) -> None:
    before = "".join(f"{line[1:]}\n" for line in change.splitlines() if not line.startswith("+"))
    assert any(before in path.read_text("utf-8") for path in sources(name))
