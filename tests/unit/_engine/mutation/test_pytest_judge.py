"""What the judge answers when pytest itself cannot begin."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordeal._engine.mutation.running import NoVerdictError, judge_with_pytest


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
