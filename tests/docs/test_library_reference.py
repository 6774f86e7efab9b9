"""Holds the page of the author's library against the library: every public name, with its parameters and defaults."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs/reference/library.md"
MODULES = ["ordeal.simulate", "ordeal.invariants", "ordeal.strategies", "ordeal.quickcheck", "ordeal.model"]
# Where the page writes a call in words of its own.
SPELLED_OTHERWISE = {"quickcheck": "(*, max_examples=100, **overrides)"}


def section(module: str) -> str:
    return PAGE.read_text("utf-8").split(f"\n## `{module}`\n")[1].split("\n## ")[0]


def signature(function: Any) -> str:
    """The parameters as the page writes them: without annotations, ``self`` and the sign of positional ones."""
    parameters = [
        parameter.replace(annotation=parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != "self"
    ]
    text = str(inspect.Signature(parameters)).replace("'", '"')
    return re.sub(r"/, ", "", text)


def public_members(cls: type) -> list[str]:
    return [name for name in vars(cls) if not name.startswith("_")]


def calls_of(module: str) -> list[tuple[str, str]]:
    """Each function of a module, and each method of its classes that is told of, as the page must write it."""
    calls = []
    for name in importlib.import_module(module).__all__:
        member = getattr(importlib.import_module(module), name)
        if inspect.isfunction(member):
            calls.append((module, name + SPELLED_OTHERWISE.get(name, signature(member))))
    return calls


def methods() -> list[tuple[str, str]]:
    simulate, model = importlib.import_module("ordeal.simulate"), importlib.import_module("ordeal.model")
    told_of = [
        *((simulate.Clock, "ordeal.simulate", name) for name in public_members(simulate.Clock)),
        *((simulate.FileSystem, "ordeal.simulate", name) for name in FILE_SYSTEM),
        *((simulate.World, "ordeal.simulate", name) for name in WORLD),
        *((simulate.Node, "ordeal.simulate", name) for name in NODE),
        *((model.Pair, "ordeal.model", name) for name in ("both", "match", "view", "equal")),
    ]
    functions = [(module, name, vars(cls)[name]) for cls, module, name in told_of]
    return [(module, name + signature(f)) for module, name, f in functions if inspect.isfunction(f)]


WORLD = ["node", "partition", "heal", "clog", "reset", "always", "until", "eventually", "calm"]
NODE = ["crash", "restart", "pause", "resume", "slow", "skew"]
FILE_SYSTEM = [
    *("write", "append", "read", "read_text", "exists", "delete", "rename", "make_folders", "list_dir", "fsync"),
    *("sync", "crash", "inject_fault", "clear_fault", "clear_all_faults", "reset", "patch"),
]
BIASED = importlib.import_module("ordeal.quickcheck.biased")
CALLS = [
    *(call for module in MODULES for call in calls_of(module)),
    *methods(),
    *(
        ("ordeal.quickcheck", f"biased.{name}{signature(getattr(BIASED, name))}")
        for name in ("integers", "floats", "strings", "bytes_", "lists")
    ),
]


@pytest.mark.parametrize("module", MODULES)
def test_page_names_everything_public(module: str) -> None:
    text = section(module)
    for name in importlib.import_module(module).__all__:
        assert re.search(rf"`@?{name}\b", text) or f"`{name}." in text, f"{module}.{name} is not on the page"


@pytest.mark.parametrize(("module", "call"), CALLS, ids=lambda part: str(part).partition("(")[0])
def test_page_has_the_call_as_it_is(module: str, call: str) -> None:
    assert re.search(rf"`@?{re.escape(call)}`", section(module)), f"`{call}` is not on the page"


def test_page_has_the_settings_of_a_pair_with_their_defaults() -> None:
    pair = importlib.import_module("ordeal.model").Pair
    for name in ("errors", "every", "swarm"):
        default = repr(getattr(pair, name)).replace("'", '"')
        assert re.search(rf"^\| `{name}` \| `{re.escape(default)}` \|", section("ordeal.model"), re.MULTILINE)


def test_page_says_when_an_operation_is_vacuous() -> None:
    operation = importlib.import_module("ordeal.model.operation")
    assert f"{operation.VACUOUS_CALLS} times in {operation.VACUOUS_RUNS} runs" in section("ordeal.model")
