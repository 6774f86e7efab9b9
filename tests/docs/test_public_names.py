"""Every public name says what it does, what each argument means, in which unit, and what it raises."""

from __future__ import annotations

import ast
import dataclasses
import enum
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.docs.test_docs_site import TOOL

#: Arguments that are a length of time, if they are numbers.
TIMES = re.compile(r"(^|_)(time|delay|duration|timeout|interval)(_|$)")
#: What every reader of Python knows.
KNOWN = {"self", "cls", "args", "kwargs", "kwds"}


def names() -> Iterator[tuple[str, Any, Any]]:
    """Yield each public function, class and method once, with its place and the class or module around it."""
    seen: set[int] = set()
    for module_name in TOOL.public_modules():
        module = importlib.import_module(module_name)
        for name in module.__all__:
            thing = getattr(module, name)
            if not str(getattr(thing, "__module__", "")).startswith("ordeal") or id(thing) in seen:
                continue
            seen.add(id(thing))
            if inspect.isclass(thing):
                yield f"{module_name}.{name}", thing, module
                for method in vars(thing):
                    if not method.startswith("_") and inspect.isroutine(getattr(thing, method)):
                        yield f"{module_name}.{name}.{method}", inspect.unwrap(getattr(thing, method)), thing
            elif inspect.isroutine(thing):
                yield f"{module_name}.{name}", inspect.unwrap(thing), module


NAMES = {place: (thing, around) for place, thing, around in names()}


def source_of(thing: Any) -> str:
    try:
        return textwrap.dedent(inspect.getsource(thing))
    except (OSError, TypeError):
        return ""


def text_about(thing: Any, around: Any) -> str:
    """Return the docstrings in which a reader looks: of the thing, and of the class and module around it."""
    module = sys.modules.get(thing.__module__)
    parts = [thing.__doc__, around.__doc__, module.__doc__ if module else None]
    # A docstring may say where another one explains the arguments.
    parts += [sys.modules[name].__doc__ for name in re.findall(r"``(ordeal\.\w+)`` explains", str(thing.__doc__))]
    if inspect.isclass(thing):
        parts += [thing.__init__.__doc__, *re.findall(r"#:.*|# .*", source_of(thing)), *fields_documented(thing)]
    return "\n".join(part for part in parts if part)


def fields_documented(cls: type) -> Iterator[str]:
    """Yield the names of the fields that have a comment or a text of their own in the source."""
    for line in source_of(cls).splitlines():
        if match := re.match(r"\s+(\w+): .*#", line):
            yield match[1]
    for match in re.finditer(r"#:.*\n(?:\s*#.*\n)*\s+(\w+)[:=]|^\s+(\w+): .*\n\s+\"\"\"", source_of(cls), re.MULTILINE):
        yield match[1] or match[2]


def parameters_of(thing: Any) -> dict[str, inspect.Parameter]:
    if inspect.isclass(thing):
        # Programs catch errors and read results; ordeal makes them.
        if issubclass(thing, BaseException | enum.Enum) or not callable(thing.__init__):
            return {}
        if not dataclasses.is_dataclass(thing) and "__init__" not in vars(thing):
            return {}
    try:
        found = inspect.signature(thing).parameters
    except (TypeError, ValueError):
        return {}
    return {name: each for name, each in found.items() if name not in KNOWN and not name.startswith("_")}


@pytest.mark.parametrize("place", NAMES)
def test_a_public_name_is_described(place: str) -> None:
    thing, around = NAMES[place]
    assert thing.__doc__, f"{place} has no docstring"
    text = text_about(thing, around)
    parameters = parameters_of(thing)
    silent = [name for name in parameters if not re.search(rf"\b{name}\b", text)]
    assert not silent, f"{place} does not say what {silent} mean"
    for name, parameter in parameters.items():
        if TIMES.search(name) and "float" in str(parameter.annotation):
            assert re.search(r"second|\bs\b", text), f"{place} does not say the unit of {name}"


@pytest.mark.parametrize("place", [place for place, (thing, _) in NAMES.items() if not inspect.isclass(thing)])
def test_a_public_name_says_what_it_raises(place: str) -> None:
    thing: Callable[..., Any] = NAMES[place][0]
    tree = ast.parse(source_of(thing) or "pass")
    raised = {
        ast.unparse(node.exc.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
    }
    text = text_about(*NAMES[place])
    # A helper that is called after ``raise`` has a lower-case name; a base class raises NotImplementedError.
    named = {name for name in raised if name[:1].isupper()} - {"NotImplementedError", "AssertionError"}
    silent = [name for name in named if name not in text]
    assert not silent, f"{place} does not say when it raises {silent}"


def test_all_of_the_library_is_judged() -> None:
    assert {"ordeal.explore.Explorer.run", "ordeal.faults.io.disk_full", "ordeal.simulate.explore"} <= set(NAMES)
