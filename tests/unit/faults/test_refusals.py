"""Each argument of each fault is refused where it is written, with the factory, the value and what to write instead."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ordeal._base.live_threads import has_gil
from ordeal.errors import FaultError
from ordeal.faults import catalog


class NeedsTwo(Exception):
    """Cannot be made of one text."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text, code)


T = "shop_app.api.charge"
# Values that are wrong, what is said of each, and the hint.
Kind = tuple[list[Any], str, str]
SECONDS: Kind = (
    [-1, "2", math.nan, True],
    "{factory}() got the {argument} {value!r}",
    "write a number of seconds that is not negative",
)
OUTPUT: Kind = ([7], "{factory}() got the {argument} {value!r}", "write a text, bytes, or None")
WHOLE: Kind = (["2", 1.0], "{factory}() got {argument}={value!r}", "write a whole number")
SIZES: Kind = (
    ["2", "23", 3, (-1,), (1.5,), (True,)],
    "{factory}() got {argument}={value!r}",
    "write a tuple of sizes, such as (2, 3)",
)
COMMAND: Kind = (
    [7, None, ["git"]],
    "{factory}() got the target {value!r}",
    'write a part of the command that starts the child, such as "git push"',
)
KINDS: dict[str, Kind] = {
    "target": (
        ["charge"],
        "the target of a fault must be a dotted path, got {value!r}",
        'write the module and the attribute, for example "shop.api.charge" or "shop.api.Client.send"',
    ),
    "error": (
        ["2", int, OSError("made already")],
        "{factory}() got the error {value!r}",
        "give a class of exceptions, such as TimeoutError",
    ),
    "message": ([2], "{factory}() got the message {value!r}", "write a text"),
    "mode": (["now", ""], "{factory}() has no mode {value!r}", 'write mode="simulate" or mode="real"'),
    "every_n": ([0, "2"], "{factory}() got every_n={value!r}", "write 1 to fail at every call, or more"),
    "fraction": (
        [1.01, -0.1, math.nan, True, "2"],
        "{factory}() got the fraction {value!r}",
        "write a number between 0 and 1",
    ),
    "status_code": (
        [99, 600, "2"],
        "{factory}() got status_code={value!r}",
        "write a status code of HTTP, from 100 to 599",
    ),
    "magnitude": (["2", None, math.nan], "{factory}() got the magnitude {value!r}", "write a number"),
    "kind": ([["int"], "float"], "{factory}() has no kind {value!r}", "write one of str, int, bool, object"),
    "corrupt_type": (["zero"], "{factory}() has no type {value!r}", "write one of nan, inf, -inf, max, min"),
    "min_items": ([-1], "{factory}() got min_items={value!r}", "write 0 or more"),
    "n": ([0, "2"], "{factory}() got n={value!r}", "write 1 or more"),
    "signum": ([0, True], "{factory}() got signum={value!r}", "write 1 or more"),
    "attr": ([5], "{factory}() got the attribute {value!r}", "write the name of the attribute"),
    **dict.fromkeys(["delay", "timeout", "timeout_sec", "retry_after", "contention"], SECONDS),
    **dict.fromkeys(["stdout", "stderr"], OUTPUT),
    **dict.fromkeys(["returncode", "shift"], WHOLE),
    **dict.fromkeys(["expected", "actual"], SIZES),
}
# Any key, value to fill in, object and stale value may be meant.
ANYTHING_GOES = {"key", "fill", "obj", "stale_value"}
REQUIRED = {"target": T, "expected": (2,), "actual": (3,), "obj": SimpleNamespace(a=1), "attr": "a", "stale_value": 0}
FITTING: dict[str, list[Any]] = {
    "delay": [0, 0.0, 1e9, math.inf],
    "fraction": [0, 1, 0.5],
    "magnitude": [-1, 0.5, math.inf],
    "shift": [-1, 0, 5],
    "every_n": [1, 10**9],
    "status_code": [100, 404, 599],
    "mode": ["simulate", "real"],
    "stdout": [None, "", b""],
    "error": [OSError, TimeoutError, KeyboardInterrupt],
}


def kind_of(factory: str, argument: str) -> Kind:
    is_command = argument == "target" and (factory.startswith("subprocess") or factory == "corrupt_stdout")
    return COMMAND if is_command else KINDS[argument]


def each(values_of: Callable[[str, str], list[Any]]) -> pytest.MarkDecorator:
    """One case for each argument of each fault and each of its values."""
    cases: dict[str, Any] = {}
    for entry in catalog():
        if entry["name"] == "fail_nth" and not has_gil():
            continue  # it says so, whatever it is given
        make = getattr(sys.modules[entry["module"]], entry["name"])
        needed = [name for name, it in inspect.signature(make).parameters.items() if it.default is it.empty]
        for argument in inspect.signature(make).parameters.keys() - ANYTHING_GOES:
            for value in values_of(entry["name"], argument):
                arguments = {**{name: REQUIRED[name] for name in needed}, argument: value}
                cases[f"{entry['name']}-{argument}-{value!r}"] = make, argument, arguments
    ids = sorted(cases)
    return pytest.mark.parametrize(("make", "argument", "arguments"), [cases[each] for each in ids], ids=ids)


@each(lambda factory, argument: kind_of(factory, argument)[0])
def test_a_wrong_argument_is_refused(make: Callable[..., object], argument: str, arguments: dict[str, Any]) -> None:
    _, text, hint = kind_of(make.__name__, argument)
    with pytest.raises(FaultError) as refused:
        make(**arguments)
    said = text.format(factory=make.__name__, argument=argument, value=arguments[argument])
    assert str(refused.value) == f"{said}\nhint: {hint}"


@each(lambda _, argument: FITTING.get(argument, []))
def test_what_fits_is_taken(make: Callable[..., object], argument: str, arguments: dict[str, Any]) -> None:
    make(**arguments)


@each(lambda _, argument: [NeedsTwo] if argument == "error" else [])
def test_an_error_that_needs_more_than_a_text_is_refused_with_the_reason(
    make: Callable[..., object], argument: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(FaultError, match=rf"^{make.__name__}\(\) cannot make a NeedsTwo of a text: .*'code'") as caught:
        make(**arguments)
    assert isinstance(caught.value.__cause__, TypeError)
    assert "hint: give a separate class that needs one argument" in str(caught.value)
