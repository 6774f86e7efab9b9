"""Functions that show what they compare do all that they did before, and nothing else."""

import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ordeal._engine.coverage.comparison_rewrite import (
    ComparisonSites,
    Fixed,
    Kind,
    find_comparisons,
    operands_in,
    with_calls,
)


def load(folder: Path, source: str) -> tuple[dict[str, Any], ComparisonSites]:
    path = folder / "program.py"
    path.write_text(source)
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(compile(source, str(path), "exec", dont_inherit=True), namespace)
    found = find_comparisons(source, str(path))
    assert found is not None
    return namespace, found


class Shown:
    """Swaps the code of functions, and keeps what operands are handed over."""

    def __init__(self, found: ComparisonSites) -> None:
        self.found = found
        self.values: list[Any] = []

    def call(self, _operand: int) -> Callable[[Any], Any]:
        def show(value: Any) -> Any:
            self.values.append(value)
            return value

        return show

    def swap(self, function: types.FunctionType) -> bool:
        own = function.__code__
        watched = self.found.functions.get((own.co_qualname, own.co_firstlineno))
        code = None if watched is None else with_calls(watched, own, self.call)
        if code is not None:
            function.__code__ = code
        return code is not None


def shown(folder: Path, source: str, *arguments: Any) -> tuple[Any, list[Any]]:
    """What ``f`` of ``source`` returns or raises, which must be the same with and without; and what it shows."""
    namespace, found = load(folder, source)
    before = _outcome(namespace["f"], arguments)
    values = Shown(found)
    assert values.swap(namespace["f"])
    assert _outcome(namespace["f"], arguments) == before
    return before, values.values


def _outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        return function(*arguments)
    except (KeyError, TypeError) as error:
        return type(error), str(error)


@pytest.mark.parametrize(
    ("expression", "arguments", "result", "values"),
    [
        ("x == 5", (4,), False, [4]),
        ("x != y", (4, 5), True, [4, 5]),
        ("1 < x <= y", (0, 5), False, [0]),
        ("1 < x <= y", (3, 5), True, [3, 5]),
        ("x in y", (3, [1, 3]), True, [3, [1, 3]]),
        ("x not in {1, 2}", (3, 0), True, [3]),
        ("x.startswith('ab')", ("abc", 0), True, ["abc"]),
        ("x.endswith(y)", ("abc", ("c", "d")), True, ["abc", ("c", "d")]),
        ("x[y]", ({"k": 1}, "k"), 1, [{"k": 1}, "k"]),
        ("x[y]", ({"k": 1}, "z"), (KeyError, "'z'"), [{"k": 1}, "z"]),
        ("x.get(y, 7)", ({"k": 1}, "z"), 7, [{"k": 1}, "z"]),
        ("x == y == 3", (3, 3), True, [3, 3]),
        ("any(x == z for z in y)", (3, [1, 3, 4]), True, [3, 1, 3, 3]),
        ("[z for z in y if z > x]", (1, [1, 2]), [2], [1, 1, 2, 1]),
        ("(z := x) == y and z", (3, 3), 3, [3, 3]),
        ("x < y", (1, "a"), (TypeError, "'<' not supported between instances of 'int' and 'str'"), [1, "a"]),
    ],
)
def test_operands_are_shown_once_and_in_order(
    tmp_path: Path, expression: str, arguments: tuple[Any, ...], result: Any, values: list[Any]
) -> None:
    given = (*arguments, 0)[:2]
    assert shown(tmp_path, f"def f(x, y):\n    return {expression}\n", *given) == (result, values)


def test_methods_of_the_program_are_called_once(tmp_path: Path) -> None:
    source = """
class Sly:
    calls = []
    def __eq__(self, other):
        self.calls.append("eq")
        return "yes"
    __hash__ = None

def f():
    sly = Sly()
    Sly.calls.clear()
    return (sly == 3, 3 == sly, Sly.calls)
"""
    result, _ = shown(tmp_path, source)
    assert result == ("yes", "yes", ["eq", "eq"])


def test_match_shows_its_subject(tmp_path: Path) -> None:
    source = """
def f(x):
    match x:
        case "a" | "b":
            return 1
        case [5, y]:
            return y
        case {"k": 3}:
            return 3
"""
    assert shown(tmp_path, source, [5, 6]) == (6, [[5, 6]])
    _, found = load(tmp_path, source)
    (site,) = found.sites
    assert site.kind is Kind.MATCH
    assert isinstance(site.right, Fixed)
    assert [(each.place, each.value) for each in site.right.value] == [(None, "a"), (None, "b"), (0, 5), ("k", 3)]


def test_annotations_stay_texts_for_others(tmp_path: Path) -> None:
    source = """
from __future__ import annotations

def f(x):
    y: dict[str, x == 3] = {}
    def g(a: dict[str, int]) -> list[x == 4]: return a
    return g.__annotations__, x == 5
"""
    (annotations, _), values = shown(tmp_path, source, 1)
    assert annotations == {"a": "dict[str, int]", "return": "list[x == 4]"}
    assert values == [1]


def test_generators_coroutines_methods_and_closures(tmp_path: Path) -> None:
    source = """
import functools

class A:
    def __init__(self): self.__secret = 3
    def check(self, x): return x == self.__secret
    def who(self, x): return super().__eq__(x), x == 1, __class__

def decorated(function):
    @functools.wraps(function)
    def wrapper(x): return function(x) if x == 0 else function(x) == x
    return wrapper

@decorated
def twice(x): return 2 * x == 4

def steps(x):
    while (y := (yield x)) != 3:
        x += y

async def later(x): return x == 3

def outer(secret):
    def inner(x): return x == secret
    return inner
"""
    namespace, found = load(tmp_path, source)
    values = Shown(found)
    a = namespace["A"]
    assert values.swap(a.check)
    assert values.swap(a.who)
    assert a().check(3)
    assert a().who(2) == (NotImplemented, False, a)
    assert values.swap(namespace["twice"])
    assert values.swap(namespace["twice"].__wrapped__)
    assert namespace["twice"](0) is False
    assert values.swap(namespace["steps"])
    steps: Iterator[int] = namespace["steps"](1)
    assert [next(steps), steps.send(5)] == [1, 6]  # type: ignore[attr-defined]
    assert values.swap(namespace["later"])
    with pytest.raises(StopIteration) as stop:
        namespace["later"](3).send(None)
    assert stop.value.value is True
    inner = namespace["outer"](7)
    assert values.swap(inner)
    assert inner(7)
    assert values.values[-2:] == [7, 7]


def test_functions_that_a_swapped_one_defines_stay_as_they_are(tmp_path: Path) -> None:
    source = "def f(x):\n    def g(y): return y == 3\n    return g if x == 1 else None\n"
    namespace, found = load(tmp_path, source)
    own = namespace["f"](1).__code__
    values = Shown(found)
    assert values.swap(namespace["f"])
    assert namespace["f"](1).__code__ is own


def test_code_that_the_source_does_not_make_is_refused(tmp_path: Path) -> None:
    namespace, _ = load(tmp_path, "def f(x):\n    return x == 3\n")
    _, changed = load(tmp_path, "def f(x):\n    return x == 4\n")
    assert not Shown(changed).swap(namespace["f"])


@pytest.mark.parametrize("module_name", ["argparse", "json.decoder", "dataclasses", "asyncio.base_events"])
def test_large_modules_compile_to_what_runs(module_name: str) -> None:
    module = __import__(module_name, fromlist=["x"])
    assert module.__file__ is not None
    found = find_comparisons(Path(module.__file__).read_text(encoding="utf-8"), module.__file__)
    assert found is not None
    running = [each for each in vars(module).values() if isinstance(each, types.FunctionType)]
    keys = {(each.__code__.co_qualname, each.__code__.co_firstlineno): each for each in running}
    for key, watched in found.functions.items():
        assert list(operands_in(watched.marked))
        if key in keys and keys[key].__code__.co_filename == module.__file__:
            assert with_calls(watched, keys[key].__code__, lambda _: lambda value: value) is not None
