"""Test files in folders that are no packages: they are imported as pytest imports them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from ordeal._engine.execution.class_path import load_class
from ordeal.errors import MachineError

MACHINE = """
    from hypothesis.stateful import RuleBasedStateMachine, rule
    {imports}

    class Account(RuleBasedStateMachine):
        @rule()
        def go(self): ...
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to import from; what was imported is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    kept = dict(sys.modules)
    for name in [name for name in kept if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    monkeypatch.setattr(sys, "path", [str(tmp_path), *(root for root in sys.path if "unit" not in root)])
    yield tmp_path
    for name in set(sys.modules) - set(kept):
        if str(tmp_path) in str(getattr(sys.modules[name], "__path__", getattr(sys.modules[name], "__file__", ""))):
            del sys.modules[name]
    sys.modules.update(kept)


def write(name: str, text: str = "", **imports: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text).format(**imports) if imports else dedent(text), encoding="utf-8")


def test_a_test_file_imports_what_lies_beside_it() -> None:
    write("tests/limits_of_tests.py")
    write("tests/test_account.py", MACHINE, imports="import limits_of_tests")
    assert load_class("tests.test_account:Account").__name__ == "Account"


def test_a_package_of_tests_imports_from_the_folder_that_holds_it() -> None:
    write("tests/limits_of_tests.py")
    write("tests/shop/__init__.py")
    write("tests/shop/test_account.py", MACHINE, imports="import limits_of_tests, shop.test_account")
    load_class("tests.shop.test_account:Account")


@pytest.mark.parametrize("package", ["", "shop."])
def test_the_name_that_pytest_gives_a_test_file_leads_to_it(package: str) -> None:
    if package:
        write("tests/shop/__init__.py")
    write(f"tests/{package.replace('.', '/')}test_in_pytest.py", MACHINE, imports="")
    assert load_class(f"{package}test_in_pytest:Account").__module__ == f"{package}test_in_pytest"


def test_an_installed_package_of_the_same_name_hides_no_test_file(project: Path) -> None:
    write("site-packages/tests/__init__.py")
    sys.path.append(str(project / "site-packages"))
    write("tests/test_account.py", MACHINE, imports="")
    load_class("tests.test_account:Account")


def test_of_two_files_of_one_name_none_is_meant() -> None:
    for folder in ("tests", "more"):
        write(f"{folder}/test_twice.py", MACHINE, imports="")
    with pytest.raises(MachineError, match="no module named `test_twice`"):
        load_class("test_twice:Account")


def test_what_the_standard_library_has_is_not_hidden(project: Path) -> None:
    write("tests/fractions.py")
    write("tests/test_account.py", MACHINE, imports="import fractions; fractions.Fraction")
    load_class("tests.test_account:Account")
    assert sys.path.index(str(project / "tests")) > 0
