"""``ordeal explore CLASS``: classes that are named on the command line, with a settings file and without."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from .conftest import Run, ScriptedExplorer
from .test_explore import ACCOUNT, LEDGER, MACHINES, make_result, settings

NAME_A_CLASS = (
    "name a class: `ordeal explore tests.test_chaos:MyServiceChaos`, or create the file with a `[[tests]]` entry"
)


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("machines.py").write_text(dedent(MACHINES))


def test_classes_are_explored_without_a_file(run: Run, explorer: ScriptedExplorer) -> None:
    explorer.outcomes = [make_result(), make_result()]
    code, _, err = run("explore", "machines:Ledger", "machines:Account", "-t", "shop", "--target", "bank")
    assert code == 0
    assert [cls.__name__ for cls, _ in explorer.constructed] == ["Ledger", "Account"]
    assert [options["target_modules"] for _, options in explorer.constructed] == [("shop", "bank")] * 2
    assert "2 classes" in err
    assert "options: target_modules=shop,bank\n" in err


def test_a_class_that_the_file_lists_has_the_options_of_its_entry(run: Run, explorer: ScriptedExplorer) -> None:
    settings(f"[explorer]\nseed = 7\n{ACCOUNT}steps_per_run = 9\n{LEDGER}")
    explorer.outcomes = [make_result()]
    run("explore", "machines:Account")
    ((cls, options),) = explorer.constructed
    assert (cls.__name__, options["seed"], explorer.ran[0]["steps_per_run"]) == ("Account", 7, 9)


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ([], "config file not found: ordeal.toml", NAME_A_CLASS),
        (
            ["machines.Account"],
            '`CLASS` is "machines.Account", not a class path "module.path:ClassName"',
            'write a class path "module.path:ClassName", for example `tests.test_chaos:MyServiceChaos`',
        ),
        (["machines:Acount"], "`machines` has no `Acount`", "did you mean `machines:Account`?"),
    ],
)
def test_a_class_that_is_not_there(run: Run, arguments: list[str], message: str, hint: str) -> None:
    assert run("explore", *arguments) == (2, "", f"error: {message}\n\nhint: {hint}\n")
