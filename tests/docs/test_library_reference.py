"""The page of the author's library names everything public, and each call that it spells out is as it is."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parent.parent.parent / "docs/reference/library.md").read_text("utf-8")
MODULES = ["ordeal.simulate", "ordeal.invariants", "ordeal.strategies", "ordeal.quickcheck", "ordeal.model"]


def section(module: str) -> str:
    return PAGE.split(f"\n## `{module}`\n")[1].split("\n## ")[0].replace("\n", " ")


def signature(function: Any) -> str:
    """Return the parameters as the page writes them: without annotations, ``self`` and the sign of positional ones."""
    parameters = [
        parameter.replace(annotation=parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != "self"
    ]
    return str(inspect.Signature(parameters)).replace("'", '"').replace("/, ", "")


def functions(module: str) -> dict[str, list[Any]]:
    """Return by its name each public function of a module, and each method of its public classes."""
    found: dict[str, list[Any]] = {}
    for name, member in inspect.getmembers(importlib.import_module(module)):
        if name in importlib.import_module(module).__all__:
            methods = inspect.getmembers(member, inspect.isfunction) if inspect.isclass(member) else [(name, member)]
            for each, function in methods:
                if inspect.isfunction(function):
                    found.setdefault(each, []).append(function)
    return found


@pytest.mark.parametrize("module", MODULES)
def test_page_names_everything_public(module: str) -> None:
    for name in importlib.import_module(module).__all__:
        assert re.search(rf"`@?{name}\b", section(module)), f"{module}.{name} is not on the page"


@pytest.mark.parametrize("module", MODULES)
def test_page_has_each_call_as_it_is(module: str) -> None:
    known = functions(module)
    for name, arguments in re.findall(r"`@?(\w+)(\([^`]*\))`", section(module)):
        if name in known and (module, name) != ("ordeal.quickcheck", "quickcheck"):
            assert arguments in map(signature, known[name]), f"{module}.{name}{arguments}"


def test_page_has_the_settings_of_a_pair_with_their_defaults() -> None:
    pair = importlib.import_module("ordeal.model").Pair
    for name in ("errors", "every", "swarm"):
        default = repr(getattr(pair, name)).replace("'", '"')
        assert re.search(rf"^\| `{name}` \| `{re.escape(default)}` \|", PAGE, re.MULTILINE)
