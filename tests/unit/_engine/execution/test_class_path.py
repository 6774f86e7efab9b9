"""Class paths: the class they name, and the message for each way in which they name none."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from ordeal._engine.execution.class_path import load_class, trust_settings
from ordeal.errors import ConfigError, MachineError, OrdealError
from ordeal.explore import Explorer

MACHINES = """
    from hypothesis.stateful import RuleBasedStateMachine, rule

    class Account(RuleBasedStateMachine):
        @rule()
        def go(self): ...

        class Inner(RuleBasedStateMachine): ...

    class Störung(Account): ...

    TestAccount = Account.TestCase
    number = 3
    class Plain: ...
"""


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


def refusal(path: str, kind: type[OrdealError] = MachineError) -> tuple[str, str | None]:
    with pytest.raises(kind) as caught:
        load_class(path)
    return caught.value.message, caught.value.hint


@pytest.mark.parametrize("name", ["Account", "Account.Inner", "Störung"])
def test_names_a_class(name: str) -> None:
    write("pkg/machines.py", MACHINES)
    assert load_class(f"pkg.machines:{name}").__qualname__ == name


@pytest.mark.parametrize("path", ["", "a", "a:", ":A", "a:b:c", "a b:C", "a..b:C", ".a:B", "a/b.py:C", "a:B()"])
def test_malformed(path: str) -> None:
    assert refusal(path, ConfigError) == (
        f"`{path}` is not a class path",
        "write it as `module.path:ClassName`, such as `tests.test_chaos:MyServiceChaos`",
    )


class TestModule:
    def test_misspelled(self) -> None:
        write("machines.py", MACHINES)
        assert refusal("machine:Account") == ("no module named `machine`", "did you mean `machines`?")

    def test_misspelled_in_a_package(self) -> None:
        write("pkg/__init__.py", "")
        write("pkg/machines.py", MACHINES)
        assert refusal("pkg.machine:Account") == ("no module named `pkg.machine`", "did you mean `pkg.machines`?")

    def test_nowhere(self) -> None:
        assert refusal("elsewhere.machines:Account") == (
            "no module named `elsewhere`",
            "run `ordeal` in the folder that holds the package, or install the package",
        )

    def test_missing_import_inside_is_not_blamed_on_the_path(self) -> None:
        write("machines.py", "x = 1\nimport not_installed\n")
        assert refusal("machines:Account") == (
            "importing `machines` raised ModuleNotFoundError: No module named 'not_installed' (machines.py:2)",
            "`python -c 'import machines'` shows the whole traceback",
        )

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("x = 1\nraise RuntimeError('a\\tb\\nc')\n", r"RuntimeError: a\\tb \(machines.py:2\)"),
            ("import sys\nsys.exit(3)\n", r"SystemExit: 3 \(machines.py:2\)"),
            ("class A:\n  def half(:\n", r"SyntaxError: .+ \(machines.py:2\)"),
            ("import json\njson.loads('[')\n", r"JSONDecodeError: .+ \(machines.py:2\)"),
            ("from os import nothing\n", r"ImportError: cannot import name 'nothing' .+ \(machines.py:1\)"),
            ("def f(): f()\nf()\n", r"RecursionError: .+ \(machines.py:1\)"),
        ],
    )
    def test_raises(self, text: str, expected: str) -> None:
        write("machines.py", text)
        message, hint = refusal("machines:Account")
        assert re.fullmatch(f"importing `machines` raised {expected}", message)
        assert hint == "`python -c 'import machines'` shows the whole traceback"

    def test_an_error_of_ordeal_keeps_its_hint(self) -> None:
        write("machines.py", "from ordeal import ChaosTest\nclass A(ChaosTest):\n    faults = 3\n")
        message, hint = refusal("machines:A")
        assert message.endswith("A.faults must be a list of faults, got 3 (machines.py:2)")
        assert (hint or "").startswith("write for example `faults = [")

    def test_error_inside_a_library_points_at_the_line_that_led_there(self) -> None:
        write(".venv/site-packages/library_of_others.py", "\nraise ValueError('deep')\n")
        write("machines.py", "import sys\nsys.path.append('.venv/site-packages')\nimport library_of_others\n")
        message, _ = refusal("machines:Account")
        assert message == "importing `machines` raised ValueError: deep (machines.py:3)"

    def test_ctrl_c_during_the_import_is_not_an_error_of_the_module(self) -> None:
        write("machines.py", "raise KeyboardInterrupt\n")
        with pytest.raises(KeyboardInterrupt):
            load_class("machines:Account")


class TestClass:
    @pytest.mark.parametrize(
        ("name", "message", "hint"),
        [
            ("Acount", "`machines` has no `Acount`", "did you mean `machines:Account`?"),
            ("Zzz", "`machines` has no `Zzz`", "rule machines in `machines`: Account, Störung"),
            (
                "Plain",
                "`machines:Plain` is the class Plain, not a rule machine",
                "name a subclass of ordeal.ChaosTest or of hypothesis.stateful.RuleBasedStateMachine",
            ),
            (
                "number",
                "`machines:number` is of type int, not a rule machine",
                "name a subclass of ordeal.ChaosTest or of hypothesis.stateful.RuleBasedStateMachine",
            ),
            (
                "TestAccount",
                "`machines:TestAccount` is a TestCase, not a rule machine",
                "name the rule machine itself, the class whose `.TestCase` this is",
            ),
        ],
    )
    def test_not_there_or_no_machine(self, name: str, message: str, hint: str) -> None:
        write("machines.py", MACHINES)
        assert refusal(f"machines:{name}") == (message, hint)

    def test_module_without_machines(self) -> None:
        write("machines.py", "from hypothesis.stateful import RuleBasedStateMachine\n")
        assert refusal("machines:Account") == (
            "`machines` has no `Account`",
            "`machines` defines no ChaosTest and no other RuleBasedStateMachine",
        )
        write("chaos.py", "class AccountChaos(ChaosTest): ...\n")
        assert refusal("machines:Account") == (
            "`machines` has no `Account`",
            "`machines` defines no ChaosTest and no other RuleBasedStateMachine; `AccountChaos` is in `chaos.py`",
        )


class TestFunctions:
    FACTORY = """
        from ordeal import ChaosTest, rule

        called = []

        class Account(ChaosTest):
            @rule()
            def pay(self):
                pass

        def serve():
            called.append(1)
            return Account()
        """

    def test_one_that_nobody_trusts_is_neither_returned_nor_called(self) -> None:
        write("served.py", self.FACTORY)
        message, hint = refusal("served:serve")
        assert message == "`served:serve` is a function, which ordeal calls only if your settings name it"
        assert hint is not None
        assert 'class = "served:serve"' in hint
        assert sys.modules["served"].called == []

    def test_one_that_the_settings_name_is_returned(self) -> None:
        write("named.py", self.FACTORY)
        write("ordeal.toml", '[[tests]]\nclass = "named:serve"\n')
        trust_settings(Path("ordeal.toml"))
        assert load_class("named:serve") is sys.modules["named"].serve

    def test_settings_that_are_not_there_or_wrong_name_none(self) -> None:
        write("wrong.toml", "[[tests]\n")
        for name in ("none.toml", "wrong.toml"):
            trust_settings(Path(name))

    def test_one_that_was_explored_in_this_process_is_returned(self) -> None:
        write("explored.py", self.FACTORY)
        function = importlib.import_module("explored").serve
        Explorer(function)
        assert load_class("explored:serve") is function


def test_a_module_that_ends_the_process_is_refused_with_its_line(project: Path) -> None:
    (project / "leaving.py").write_text("import os\nos._exit(0)\n")
    with pytest.raises(MachineError, match=r"^importing `leaving` raised SystemExit: os._exit\(0\) \(leaving.py:2\)\n"):
        load_class("leaving:Machine")


# -- test files in folders that are not packages: they are imported as pytest imports them


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
