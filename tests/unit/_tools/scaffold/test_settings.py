"""The files beside a new machine."""

from __future__ import annotations

import tomllib
from pathlib import Path

from ordeal._tools.scaffold.settings import ignore_change, settings_change

PATH = "tests.test_ordeal_cart:CartChaos"


def test_settings_are_written_and_entries_are_added(tmp_path: Path) -> None:
    file = tmp_path / "ordeal.toml"
    new = settings_change(file, PATH, ["shop"])
    assert new is not None
    assert new.is_new
    assert tomllib.loads(new.text)["explorer"]["target_modules"] == ["shop"]
    file.write_text("# mine\n[explorer]\nseed = 3 # chosen")
    added = settings_change(file, PATH, ["shop"])
    assert added is not None
    assert added.text == f'# mine\n[explorer]\nseed = 3 # chosen\n\n[[tests]]\nclass = "{PATH}"\n'
    file.write_text(added.text)
    assert settings_change(file, PATH, ["shop"]) is None


def test_a_class_of_another_package_has_targets_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "ordeal.toml"
    file.write_text('[explorer]\ntarget_modules = ["bank"]\n')
    added = settings_change(file, PATH, ["shop"])
    assert added is not None
    assert added.added == f'[[tests]]\nclass = "{PATH}"\ntarget_modules = ["shop"]\n'


def test_settings_that_cannot_be_added_to_stay(tmp_path: Path) -> None:
    file = tmp_path / "ordeal.toml"
    for text in ("tests = []\n", "not toml"):
        file.write_text(text)
        assert settings_change(file, PATH, ["shop"]) is None


def test_what_is_ignored_is_added_once(tmp_path: Path) -> None:
    file = tmp_path / ".gitignore"
    assert ignore_change(file) is None
    file.write_text("*.pyc")
    change = ignore_change(file)
    assert change is not None
    assert change.text == "*.pyc\n.ordeal/*\n!.ordeal/seeds/\n"
    file.write_text(change.text)
    assert ignore_change(file) is None
