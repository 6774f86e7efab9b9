"""Packages and classes, found by reading."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from ordeal._tools.scaffold.packages import find_class, find_classes, find_package
from ordeal.errors import ConfigError

SHOP = """
    raise SystemExit("imported")

    class Cart:
        def __init__(self): self.items = {}
        def add(self, name: str, units: int) -> None: self.items[name] = units
        def remove(self, name): del self.items[name]
        def total(self): return sum(self.items.values())

    class Counter:
        def up(self): self.value += 1
        def show(self): ...

    class CartError(Exception):
        def add(self): self.x = 1
        def remove(self): self.x = 2

    class _Hidden(Cart): ...
"""


def project(folder: Path, layout: str = "") -> Path:
    package = folder / layout / "shop"
    package.mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    (package / "__init__.py").write_text("")
    (package / "cart.py").write_text(dedent(SHOP))
    (package / "broken.py").write_text("class (")
    return folder


@pytest.mark.parametrize("layout", ["", "src"])
def test_the_package_of_a_project_is_found_and_not_imported(layout: str, tmp_path: Path) -> None:
    package = find_package(None, project(tmp_path, layout))
    assert (package.name, package.root) == ("shop", tmp_path / layout)
    assert [name for name, _ in package.files] == ["shop", "shop.broken", "shop.cart"]
    classes = find_classes(package)
    assert [each.path for each in classes] == ["shop.cart:Cart", "shop.cart:Counter"]
    assert classes[0].changing == ("add", "remove")
    assert classes[0].reasons() == "2 methods change it, add/remove"


def test_an_installed_package_is_found(tmp_path: Path) -> None:
    classes = find_classes(find_package("sortedcontainers", tmp_path))
    assert "SortedList" in {each.name for each in classes[:4]}


def test_a_class_is_found_by_its_path(tmp_path: Path) -> None:
    package, found = find_class("shop.cart:Counter", project(tmp_path))
    assert (package.name, found.name, found.line) == ("shop.cart", "Counter", 10)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (None, "no package is in this folder"),
        ("no_such_package", "no package named `no_such_package`"),
        ("a-b", "`a-b` is not a package name"),
    ],
)
def test_what_is_not_there_is_named(target: str | None, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        find_package(target, tmp_path)


def test_a_module_or_class_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder = project(tmp_path)
    with pytest.raises(ConfigError, match=r"`shop` has no module named `shop\.carts`"):
        find_package("shop.carts", folder)
    with pytest.raises(ConfigError, match=r"no class named `Basket` in `shop\.cart`"):
        find_class("shop.cart:Basket", folder)
