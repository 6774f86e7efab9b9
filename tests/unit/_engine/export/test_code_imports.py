"""Imports in the order and the groups of ruff, which is asked itself."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from ordeal._engine.export.code_imports import Import, import_lines

IMPORTS: list[Import] = [
    ("struct", None),
    ("datetime", None),
    ("numpy", None),
    ("Ab", None),
    ("aa", None),
    ("ac_d", None),
    ("ac", None),
    ("pkg.mod10", None),
    ("pkg.mod2", None),
    ("ordeal.trace", "replay_packed"),
    ("ordeal.trace", "check_invariants"),
    ("collections.abc", "Iterable"),
    ("shelf", None),
    ("alone", "Machine"),
    ("below", "Machine"),
    ("shelf.machines", "LIMIT"),
    *[("mixed", name) for name in ("A10", "A2", "AA", "B", "Bb", "ab", "aB", "_c", "C_D", "M", "m1", "_P", "Über")],
    ("a_module_with_a_name_so_long.that_nothing_else_of_the_import", "AClassWithALongNameOfItsOwn"),
    ("another_module_with_a_long_name", "SomeMachineOfTheTests"),
    ("another_module_with_a_long_name", "OtherMachineOfTheTests"),
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project with modules of its own, for which ruff looks on the disk."""
    for name in ("shelf/__init__.py", "shelf/machines.py", "alone.py", "src/below.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)


def ruff(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ruff", *arguments, "--isolated", "generated.py"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_ruff_has_nothing_to_sort() -> None:
    Path("generated.py").write_text("\n".join([*import_lines(IMPORTS), ""]), encoding="utf-8")
    checked = ruff("check", "--select", "I", "--diff")
    assert checked.returncode == 0, checked.stdout
    laid_out = ruff("format", "--diff")
    assert laid_out.returncode == 0, laid_out.stdout


def test_modules_of_the_folder_stand_last() -> None:
    assert import_lines([("numpy", None), ("struct", None), ("shelf.machines", "Limit")]) == [
        "import struct",
        "",
        "import numpy",
        "",
        "from shelf.machines import Limit",
    ]


def test_the_order_given_and_repetitions_do_not_matter() -> None:
    some = IMPORTS[:4]
    assert {tuple(import_lines(order)) for order in itertools.permutations(some + some[:1])} == {
        tuple(import_lines(some))
    }


def test_no_imports() -> None:
    assert import_lines([]) == []
