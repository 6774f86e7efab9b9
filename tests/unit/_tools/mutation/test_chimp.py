"""``ordeal chimp``: the two ways in which it is called, and what it says."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ordeal._tools.mutation import chimp
from ordeal.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("validator", "tests", "bin"):
        Path(name).mkdir()
    Path("validator/shop.py").write_text("def f(a):\n    global b\n    c = a + 1\n    return 7\n")
    Path("tests/check.py").write_text("import sys\nsys.path[:0] = ['validator']\nimport shop\nassert shop.f(1) == 7\n")
    for name in ("nosetests", "fab"):
        Path("bin", name).write_text(f"#!/bin/sh\nexec {sys.executable} tests/check.py\n")
        Path("bin", name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(sys, "path", list(sys.path))

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


EXPECTED = (
    "DEAD       validator/shop.py:2  global b  (compiles to the same program)\n"
    "DEAD?      validator/shop.py:3  c = a + 1  (this value of `c` is never read)\n"
    "DEAD?      validator/shop.py:3  a + 1  (this value of `c` is never read)\n"
    "killed 1  timeout 0  DEAD 1  DEAD? 2  UNCOVERED 0\n"
)


@pytest.mark.slow
def test_both_examples_run_as_written(run: Run) -> None:
    text = Path("validator/shop.py").read_bytes()
    first = ("--code", ".", "--tests", "nosetests", "--exclude", "./chaos/*", "./tests/*", "--timeout", "60")
    assert run("chimp", *first)[:2] == (0, EXPECTED)
    assert run("chimp", "--code", "validator", "--tests", "fab", "test", "--timeout", "15")[:2] == (0, EXPECTED)
    assert Path("validator/shop.py").read_bytes() == text


def test_what_never_runs_is_told_from_what_no_test_asks_about(run: Run) -> None:
    Path("validator/shop.py").write_text("def f(a):\n    if a > 9:\n        a[0]()\n    [a].sort()\n    return 7\n")
    found = run("chimp", "--code", "validator", "--tests", "fab", "test")[1].splitlines()
    assert "UNCOVERED  validator/shop.py:3  a[0]()  (never run)" in found
    assert "UNCOVERED  validator/shop.py:4  [a].sort()  (no test fails)" in found


@pytest.mark.nightly
@pytest.mark.slow
def test_pytest_says_the_same_in_memory_and_in_a_copy(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("validator/shop.py").write_text("import os\ndef f(a, b):\n    b.append(a)\n    return 7 + a\n")
    Path("tests/test_shop.py").write_text("import shop\ndef test_it():\n    assert shop.f(0, []) == 7\n")
    monkeypatch.setenv("PYTHONPATH", "validator")
    words = (
        "chimp",
        "--code",
        "validator",
        "--timeout",
        "90",
        "--tests",
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "tests",
    )
    found = run(*words)
    assert found[1] == (
        "DEAD?      validator/shop.py:1  import os  (nothing else names `os`)\n"
        "UNCOVERED  validator/shop.py:3  b.append(a)  (no test fails)\n"
        "killed 2  timeout 0  DEAD 0  DEAD? 1  UNCOVERED 1\n"
    )
    monkeypatch.setattr(chimp, "_arguments", lambda _: None)
    assert run(*words[:5], "--logs", "--fail-on", "dead", *words[5:])[:2] == (1, found[1])
    log = Path("validator/shop.py.log").read_text()
    assert log.startswith("Failure: DEAD?, nothing else names `os`\nLine 1:0\nCode:\nimport os\n\n")


def test_wrong_use(run: Run) -> None:
    assert run("chimp", "--code", "gone", "--tests", "fab")[0] == 2
    assert run("chimp", "--code", ".")[0] == 2
    assert run("chimp", "--code", ".", "--fail-on", "alive", "--tests", "fab")[0] == 2
    assert run("chimp", "--code", ".", "--tests", "false")[0] == 3


def test_what_a_link_leads_to_is_never_written(run: Run, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "shop.py").write_text("x = 1 + 1\n")
    Path("linked").symlink_to(outside)
    Path("validator/other.py").symlink_to(outside / "shop.py")
    for code, file in (("linked", "linked/shop.py"), ("validator", "validator/other.py")):
        result, said, _ = run("chimp", "--code", code, "--tests", sys.executable, file)
        assert result == 0
        assert "killed 0" in said
    assert (outside / "shop.py").read_text() == "x = 1 + 1\n"


def test_a_quotation_mark_without_another_is_wrong_use(run: Run) -> None:
    code, _, err = run("chimp", "--code", "validator", "--tests", 'fab "')
    assert code == 2
    assert "a quotation mark is missing" in err


@pytest.mark.slow
def test_what_is_no_file_is_not_copied_and_how_far_it_is_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordeal.cli.mutation.mutate._QUIET_SECONDS", 0.0)
    os.mkfifo("pipe")
    code, out, err = run("chimp", "--code", "validator", "--tests", "fab")
    assert (code, out) == (0, EXPECTED)
    assert err.startswith("  the command runs on the unchanged program\n  0/4 nodes\n")
