"""From names of target modules to their source."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ordeal._engine.coverage.targets import (
    Source,
    Target,
    changed_modules,
    digest_targets,
    imported_modules,
    resolve_targets,
)
from ordeal.errors import TargetError

from ...samples.monitored import MakeModule

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write a file below a directory that is on sys.path; modules that it brought are forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    known = set(sys.modules)

    def write(name: str, text: str = "") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        importlib.invalidate_caches()
        return path

    yield write
    for name in set(sys.modules) - known:
        del sys.modules[name]


def refused(name: object) -> TargetError:
    with pytest.raises(TargetError) as caught:
        resolve_targets([name])  # type: ignore[list-item]
    return caught.value


def test_a_package_is_its_directory(write: Write) -> None:
    path = write("shop_b/__init__.py")
    assert resolve_targets(["shop_b"]) == [Target("shop_b", str(path.parent), is_package=True)]


def test_a_namespace_package_is_all_its_directories(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("one/shop_d/cart.py")
    write("two/shop_d/till.py")
    monkeypatch.syspath_prepend(str(tmp_path / "two"))
    monkeypatch.syspath_prepend(str(tmp_path / "one"))
    targets = resolve_targets(["shop_d"])
    assert [target.path for target in targets] == [str(tmp_path / "one/shop_d"), str(tmp_path / "two/shop_d")]
    assert [source.module_name for target in targets for source in target.sources()] == ["shop_d.cart", "shop_d.till"]


def test_sources_of_a_package_are_what_can_be_imported(write: Write) -> None:
    init = write("shop_g/__init__.py")
    inner = write("shop_g/inner/deep.py")
    cart = write("shop_g/cart.py")
    for name in (
        ".venv/lib/click.py",
        "venv/lib/python3.13/click.py",
        "my-script.py",
        "page.html",
        "__pycache__/x.pyc",
    ):
        write(f"shop_g/{name}")
    (target,) = resolve_targets(["shop_g"])
    assert list(target.sources()) == [
        Source("shop_g", str(init)),
        Source("shop_g.cart", str(cart)),
        Source("shop_g.inner.deep", str(inner)),
    ]


def test_a_string_is_not_a_list_of_names() -> None:
    with pytest.raises(TargetError, match="target_modules is the string 'shop'") as caught:
        resolve_targets("shop")
    assert caught.value.hint == "write a list: ['shop']"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("shop.py", "write 'shop'"),
        ("src/shop", "write 'src.shop'"),
        ("shop:Cart", "write 'shop'"),
        ("my-shop", "write a dotted name, as in an import statement"),
        ("", "write a dotted name, as in an import statement"),
        (".shop", "write 'shop'"),
    ],
)
def test_what_is_no_name_of_a_module(name: str, hint: str) -> None:
    error = refused(name)
    if name == "shop.py":  # a name in form; what it means shows only when there is such a module
        assert error.message == "no target module named 'shop.py'"
        return
    assert (error.message, error.hint) == (f"target module {name!r} is not the name of a module", hint)


def test_a_misspelt_module(write: Write) -> None:
    write("warehouse_h.py")
    error = refused("warehose_h")
    assert (error.message, error.hint) == ("no target module named 'warehose_h'", "did you mean 'warehouse_h'?")


def test_a_misspelt_module_in_a_package(write: Write) -> None:
    write("shop_i/__init__.py")
    write("shop_i/checkout.py")
    assert refused("shop_i.chekout").hint == "did you mean 'shop_i.checkout'?"
    assert refused("shop_i.zzz").hint == "'shop_i' holds checkout"


def test_a_module_is_not_a_package(write: Write) -> None:
    write("shop_k.py")
    error = refused("shop_k.Cart")
    assert error.message == "no target module named 'shop_k.Cart': 'shop_k' is a module, not a package"
    assert error.hint == "to trace the whole module write 'shop_k'"


def test_a_file_name_as_written_on_the_command_line(write: Write) -> None:
    write("shop_l.py")
    assert refused("shop_l.py").hint == "to trace the whole module write 'shop_l'"


def test_a_syntax_error_names_file_and_line(write: Write) -> None:
    path = write("shop_m.py", "x = 1\ndef broken(:\n")
    error = refused("shop_m")
    assert error.message.startswith(f"target module 'shop_m' cannot be imported: {path}:2: ")
    assert isinstance(error.__cause__, SyntaxError)


def test_an_import_inside_that_fails(write: Write) -> None:
    write("shop_n.py", "import not_there_at_all_n\n")
    error = refused("shop_n")
    assert error.message == "target module 'shop_n' cannot be imported: No module named 'not_there_at_all_n'"
    write("shop_o.py", "from os import not_there_at_all_o\n")
    assert "cannot import name 'not_there_at_all_o'" in refused("shop_o").message
    assert isinstance(refused("shop_o").__cause__, ImportError)


@pytest.mark.parametrize(
    ("statement", "kind"), [("raise ValueError('no')", "ValueError"), ("raise SystemExit(3)", "SystemExit")]
)
def test_a_module_that_raises(write: Write, statement: str, kind: str) -> None:
    write(f"shop_{kind}.py", statement)
    assert refused(f"shop_{kind}").message.startswith(
        f"target module 'shop_{kind}' raised {kind} while it was imported"
    )


@pytest.mark.parametrize("name", ["sys", "builtins", "_thread"])
def test_a_module_without_python_source(name: str) -> None:
    error = refused(name)
    assert error.message == f"target module {name!r} matches no Python source"
    assert error.hint is not None


def test_every_module_of_a_target_has_a_digest(make_module: MakeModule) -> None:
    make_module("X = 1\n", "pack.__init__")
    make_module("Y = 2\n", "pack.inner.deep", import_it=False)
    make_module("Z = 3\n", "single")
    digests = digest_targets(resolve_targets(["pack", "single"]))
    assert list(digests) == ["pack", "pack.inner.deep", "single"]
    assert digests["single"] == hashlib.sha256(b"Z = 3\n").hexdigest()
    assert changed_modules(digests) == []


def test_a_module_that_changed_or_went_is_named(make_module: MakeModule, tmp_path: Path) -> None:
    make_module("X = 1\n", "pack.__init__")
    make_module("Y = 2\n", "pack.edited")
    make_module("Y = 2\n", "pack.gone")
    digests = digest_targets(resolve_targets(["pack"]))
    (tmp_path / "pack" / "edited.py").write_text("Y = 3\n")
    (tmp_path / "pack" / "gone.py").unlink()
    assert changed_modules(digests) == ["pack.edited", "pack.gone"]


def test_nothing_is_imported_to_look_a_module_up(make_module: MakeModule) -> None:
    make_module("raise SystemExit", "loud.__init__", import_it=False)
    make_module("raise SystemExit", "loud.inner", import_it=False)
    digest = hashlib.sha256(b"raise SystemExit").hexdigest()
    assert changed_modules({"loud": digest, "loud.inner": digest, "loud.other": digest}) == ["loud.other"]
    assert "loud" not in sys.modules


def test_modules_classes_and_functions_count(make_module: MakeModule) -> None:
    make_module(
        "class Account: pass\nclass Odd(type):\n    @property\n    def __module__(cls): 1 / 0\n", "bank.account"
    )
    make_module("def post(): pass\n", "bank.ledger")
    source = """
        import os, json as js
        from collections import Counter
        import bank.ledger
        from bank.account import Account
        from hypothesis import strategies as st
        from ordeal import ChaosTest, rule

        class Machine(ChaosTest):
            @rule()
            def go(self): ...
    """
    module: Any = make_module(source, "test_bank")
    assert imported_modules(module.Machine) == ("bank", "bank.account")
    module.Made = type("Made", (), {"__module__": "bank.made"})
    module.Proxy = type("Proxy", (), {"__getattr__": lambda self, name: 1 / 0})()
    assert imported_modules(module.Machine) == ("bank", "bank.account", "bank.made")


def test_installed_packages_count_where_nothing_else_is_imported(make_module: MakeModule) -> None:
    make_module("class Account: pass\n", "bank")
    both: Any = make_module("from bank import Account\nfrom attrs import Attribute\nclass Machine: ...\n", "test_both")
    assert imported_modules(both.Machine) == ("bank",)
    one: Any = make_module("from attrs import Attribute\nclass Machine: ...\n", "test_one")
    assert imported_modules(one.Machine) == ("attr._make",)
