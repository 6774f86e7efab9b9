"""What the judge answers when pytest itself cannot begin."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.operators import PRESETS
from ordeal._tools.mutation.running import judge_with_pytest
from ordeal._tools.mutation.sandbox import NoVerdictError
from ordeal._tools.mutation.source import Source


@pytest.mark.parametrize(
    ("tests", "why"),
    [
        (["--no-such-option"], "pytest ends before any test: unrecognized arguments: --no-such-option"),
        (["nowhere.py"], "pytest ends before any test: file or directory not found: nowhere.py"),
        (["test_broken.py"], "tests cannot be collected: test_broken.py: ModuleNotFoundError: No module named 'gone'"),
        (["conf"], "pytest ends before any test: ZeroDivisionError: division by zero"),
    ],
)
def test_why_pytest_cannot_begin_is_said_in_its_own_words(tmp_path: Path, tests: list[str], why: str) -> None:
    (tmp_path / "test_broken.py").write_text("import gone\n", "utf-8")
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/conftest.py").write_text("def pytest_configure():\n    1 / 0\n", "utf-8")
    with pytest.raises(NoVerdictError) as refused:
        judge_with_pytest([], [], tests=tests, folder=tmp_path, workers=1)
    assert refused.value.message == why
    shown = f"`python -m pytest {tests[0]}` shows it, and must pass before mutants are judged"
    assert refused.value.hint == shown


def test_options_of_the_project_that_pytest_does_not_know_may_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n", "utf-8")
    with pytest.raises(NoVerdictError, match="unrecognized arguments: --no-such-option") as refused:
        judge_with_pytest([], [], tests=[], folder=tmp_path, workers=1)
    assert "`--tests='-o addopts='`" in str(refused.value.hint)


def test_two_files_of_one_name_are_told_as_such(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "test_it.py").write_text("def test_it(): pass\n", "utf-8")
    with pytest.raises(NoVerdictError, match=r"b/test_it\.py: import file mismatch: .*a/test_it\.py which is not"):
        judge_with_pytest([], [], tests=[], folder=tmp_path, workers=1)


_LATE = """
import pathlib

def pytest_sessionfinish():
    pathlib.Path("written").touch()
    raise ValueError("this hides all")
"""


def test_what_a_plugin_does_at_the_end_hides_no_reason(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(_LATE, "utf-8")
    (tmp_path / "test_it.py").write_text("def test_it(): assert False\n", "utf-8")
    with pytest.raises(NoVerdictError, match=r"the tests fail without any mutant: test_it.py::test_it"):
        judge_with_pytest([], [], tests=[], folder=tmp_path, workers=1)
    assert not (tmp_path / "written").exists()


_KEPT = """
from shop import price

def test_price(cache):
    kept = cache.get("price", 3)
    cache.set("price", price(2))
    assert kept == price(2) == 3
"""


@pytest.mark.parametrize(
    "options", ["--strict-config", "--ff", "--cache-clear", "--randomly-seed=4", "--random-order", "--forked"]
)
def test_each_mutant_has_a_cache_of_its_own_and_options_of_others_pass(tmp_path: Path, options: str) -> None:
    (tmp_path / "pytest.ini").write_text(f"[pytest]\naddopts = {options}\ncache_dir = kept\npythonpath = .\n", "utf-8")
    (tmp_path / "shop.py").write_text("STEP = 2 - 1\ndef price(n):\n    return n + STEP\n", "utf-8")
    (tmp_path / "test_it.py").write_text(_KEPT, "utf-8")
    source = Source.of(tmp_path / "shop.py", "shop.py")
    mutants = mutants_of(source, PRESETS["standard"])
    found = judge_with_pytest([source], mutants, tests=[], folder=tmp_path, workers=1)
    assert {each.word for each in found.verdicts} == {"killed"}
    assert {each.name for each in tmp_path.iterdir()} <= {"pytest.ini", "shop.py", "test_it.py", ".ordeal"}
