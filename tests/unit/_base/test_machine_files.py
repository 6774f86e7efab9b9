"""Machines are found in the files of a project, whatever else is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ordeal._base.machine_files import class_paths_like, machines_nearby

MACHINE = "class {}({}):\n    pass\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(project: Path, path: str, text: str) -> None:
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    (project / path).write_text(text, "utf-8")


def test_the_one_called_most_alike_is_named_first(project: Path) -> None:
    put(project, "tests/test_shop.py", MACHINE.format("ShopChaos", "ChaosTest") + MACHINE.format("Helper", "Base"))
    put(project, "tests/test_bank.py", MACHINE.format("Bank", "stateful.RuleBasedStateMachine"))
    put(project, "venv/pyvenv.cfg", "")
    put(project, "venv/test_lib.py", MACHINE.format("Other", "ChaosTest"))
    assert machines_nearby("Bnak") == "`Bank` is in `tests/test_bank.py`, `ShopChaos` is in `tests/test_shop.py`"
    assert machines_nearby("Shop").startswith("`ShopChaos` is in `tests/test_shop.py`")
    put(project, "bank/chaos.py", MACHINE.format("Teller", "ChaosTest"))
    assert machines_nearby("Bank", ["bank"]).startswith("`Teller` is in `bank/chaos.py`, `Bank` is in ")


def test_whatever_is_no_source_is_passed_over(project: Path) -> None:
    (project / "binary.py").write_bytes(b"\xff\0class A(ChaosTest):")
    os.mkfifo(project / "pipe.py")
    (project / "folder.py").mkdir()
    (project / "gone.py").symlink_to("nowhere.py")
    put(project, "large.py", "#" * 300_000 + "\n" + MACHINE.format("Late", "ChaosTest"))
    assert machines_nearby("A") == ""


def test_a_class_path_is_found_by_its_class_its_module_or_its_file(tmp_path: Path) -> None:
    (tmp_path / "src/shop").mkdir(parents=True)
    (tmp_path / "src/shop/chaos.py").write_text("class Shop(ChaosTest):\n")
    (tmp_path / "a").mkdir()
    (tmp_path / "a/first.py").write_text("class First(ChaosTest):\n")
    (tmp_path / "bank.py").write_text("class Bank(ChaosTest):\n    pass\n\nclass Vault(ChaosTest):\n")
    first, bank, vault, shop = "a.first:First", "bank:Bank", "bank:Vault", "shop.chaos:Shop"
    for text in ("", "."):
        assert class_paths_like(text) == [bank, vault, first, shop]
    for text in ("bank", "bank.py", "./bank.py"):
        assert class_paths_like(text) == [bank, vault]
    for text in ("Bank", "bank.Bank", "bank.py::Bank", "bank:Bank"):
        assert class_paths_like(text) == [bank]
    for text in ("Shop", "shop.chaos", "src", "src/shop/", "src/shop/chaos.py", "src/shop/chaos.py::Shop"):
        assert class_paths_like(text) == [shop]
    for text in ("nobody", "bank.py::Shop", "shop", "bank.p"):
        assert class_paths_like(text) == []
