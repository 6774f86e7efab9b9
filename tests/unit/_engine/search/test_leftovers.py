"""What runs leave in modules of the program is named, with its size before and now."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ordeal._engine.search.leftovers import Leftovers


class Shy(dict[str, int]):
    """Must not be asked for anything."""

    def __len__(self) -> int:
        raise AssertionError("asked")


@pytest.fixture
def shop() -> Iterator[Any]:
    module = ModuleType("shop")
    module.orders = []  # type: ignore[attr-defined]
    module.shy = Shy()  # type: ignore[attr-defined]
    module.rates = {"EUR": 1}  # type: ignore[attr-defined]
    module.square = lru_cache(lambda n: n * n)  # type: ignore[attr-defined]
    module.Store = type("Store", (), {"__module__": "shop", "made": []})  # type: ignore[attr-defined]
    sys.modules["shop"] = module
    yield module
    del sys.modules["shop"]


@pytest.mark.parametrize("targets", [["shop"], ["other", "shop"]])
def test_what_has_grown_is_named(shop: Any, targets: list[str]) -> None:
    leftovers = Leftovers(targets, "tests.machine")
    assert leftovers.described() == ""
    shop.orders += [1, 2]
    shop.rates["USD"] = 2
    shop.square(3)
    assert leftovers.described() == (
        "shop.orders (0 before the first run, 2 now), shop.rates (1 before the first run, 2 now), "
        "shop.square (0 before the first run, 1 now)"
    )
    shop.Store.made.append(1)
    assert leftovers.described().startswith("shop.Store.made (0 before the first run, 1 now), ")
    for number in range(10):
        setattr(shop, f"table_{number}", [])
    late = Leftovers(targets, "tests.machine")
    for number in range(10):
        getattr(shop, f"table_{number}").append(number)
    shop.orders.append(3)
    assert late.described().endswith(" and 1 more")


def test_other_modules_do_not_count(shop: Any) -> None:
    leftovers = Leftovers(["sho", "shopping"], "sh")
    shop.orders.append(1)
    assert leftovers.described() == ""


def test_without_targets_modules_of_the_working_folder_count(
    shop: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shop.__file__ = str(tmp_path / "shop.py")
    leftovers = Leftovers([], "machine")
    shop.orders.append(1)
    assert leftovers.described() == "shop.orders (0 before the first run, 1 now)"
    shop.__file__ = str(tmp_path / "venv" / "site-packages" / "shop.py")
    assert leftovers.described() == ""


def test_a_working_folder_that_is_gone_holds_no_modules(
    shop: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    leftovers = Leftovers([], "shop")
    shop.orders.append(1)
    assert "shop.orders" in leftovers.described()
