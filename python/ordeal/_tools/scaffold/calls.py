"""A call that is tried: which values its parameters may take, how it is made, and what it says."""

from __future__ import annotations

import re
import sys
import types
from collections import Counter
from collections.abc import Iterator, MappingView, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any

from ordeal._tools.scaffold.typed import NothingGivenError
from ordeal._tools.scaffold.values import Candidate, is_bundle

#: So many of what something iterates over are taken.
ITEMS_MAX = 100
CHOICES_MAX = 24


@dataclass(slots=True)
class Parameter:
    name: str
    keyword: bool
    candidates: list[Candidate]
    is_guessed: bool = False  # nothing says which type it has


@dataclass(slots=True)
class Method:
    name: str
    form: str  # call, item, operator
    parameters: list[Parameter]
    chosen: tuple[Candidate, ...] = ()
    answers: set[type[BaseException]] = field(default_factory=set)
    passed: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    refused: str = ""
    iterates: bool = False
    endless: bool = False
    gives_own: bool = True
    gives: set[type] = field(default_factory=set)
    ends: bool = False

    @property
    def takes_given(self) -> bool:
        """Whether it takes what other calls have returned."""
        return any(is_bundle(each.strategy) for each in self.chosen)


def never_passed(method: Method) -> str:
    """Return why a method cannot be a rule that was not refused; nothing if it can."""
    if method.passed or method.ends:
        return ""
    if not method.failed:
        return "there was no time to try it"
    said = method.failed.most_common(1)[0][0]
    return "" if share_of(said) >= _NOTHING_THERE else said


def is_of_wrong_type(error: BaseException | None, method: Method, values: Sequence[object]) -> bool:
    """Return whether a call failed as an object lacks what it needs, and it is of a type that was a guess."""
    if not isinstance(error, TypeError | AttributeError):
        return False
    lacking = re.match(r"'(\w+)' object ", said(error).partition(": ")[2])
    guessed = {type(value).__name__ for each, value in zip(method.parameters, values, strict=True) if each.is_guessed}
    return lacking is not None and lacking[1] in guessed


def share_of(said: str) -> float:
    """Return how much of a passed call an exception is worth: nothing is at a key as long as nothing was put there."""
    return (
        _NOTHING_THERE if said.startswith(("KeyError", "IndexError")) else 0.3 if said.startswith("ValueError") else 0.0
    )


_NOTHING_THERE = 0.8
LEFT_OUT = object()
OMITTED = Candidate("", "", lambda _: LEFT_OUT)


def choices(parameters: Sequence[Parameter], most: int = CHOICES_MAX) -> Iterator[tuple[Candidate, ...]]:
    """Yield what the parameters may be together, the likeliest first."""
    depths = [range(len(each.candidates)) for each in parameters]
    combined = islice(product(*depths), 4096)
    for picked in sorted(combined, key=sum)[:most]:
        yield tuple(each.candidates[number] for each, number in zip(parameters, picked, strict=True))


def invoke(function: Any, parameters: Sequence[Parameter], values: Sequence[Any]) -> Any:
    positional, named, by_name = [], {}, False
    for parameter, value in zip(parameters, values, strict=True):
        if value is LEFT_OUT:
            by_name = True
        elif by_name or parameter.keyword:
            named[parameter.name] = value
        else:
            positional.append(value)
    return function(*positional, **named)


def call(thing: Any, method: Method, values: Sequence[Any]) -> Any:
    result = invoke(getattr(thing, method.name), method.parameters, values)
    if result is NotImplemented and method.form == "operator" and method.name != "__eq__":
        raise TypeError("it takes no such operand")  # as the operator itself would say
    return result


def consumed(result: Any, method: Method) -> Any:
    if isinstance(result, types.GeneratorType | Iterator | MappingView):
        method.iterates = True
        items = list(islice(result, ITEMS_MAX))  # type: ignore[arg-type]
        method.endless |= len(items) == ITEMS_MAX
    return result


def text_of(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    if isinstance(annotation, type):
        return annotation.__qualname__
    return str(annotation).replace("typing.", "").replace("collections.abc.", "")


def said(error: BaseException) -> str:
    if isinstance(error, NothingGivenError):
        return str(error)
    try:
        words = str(error).partition("\n")[0][:120]
    except Exception:  # noqa: BLE001 - a message of the code under trial
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def public_place(thing: type, package: str) -> tuple[str, str]:
    """Return the module and name under which a person would import a class."""
    name, module = thing.__qualname__, thing.__module__
    if module == "builtins":
        return "", name
    for home in (package, *(module.rsplit(".", depth)[0] for depth in range(module.count("."), 0, -1))):
        if getattr(sys.modules.get(home), name, None) is thing:
            return home, name
    return module, name


def shown(parameters: Sequence[Parameter], choice: Sequence[Candidate]) -> list[dict[str, Any]]:
    found, by_name = [], False
    for parameter, candidate in zip(parameters, choice, strict=False):
        if candidate is OMITTED:
            by_name = True
        else:
            found.append(
                {
                    "name": parameter.name,
                    "keyword": by_name or parameter.keyword,
                    "strategy": candidate.strategy,
                    "type": candidate.type,
                    "imports": list(candidate.imports),
                }
            )
    return found
