"""Which modules a machine's module imports, without running any code of the program."""

from __future__ import annotations

from typing import Any

from ordeal._engine.coverage.imports import imported_modules

from ...samples.monitored import MakeModule


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
