"""What the value of an option must be: the check, and the text for messages that refuse it."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from ordeal._base.formatting import one_line
from ordeal._base.limits import COUNT_MAX, MESSAGE_CHARS_MAX, VALUE_CHARS_MAX
from ordeal.errors import ConfigError

_NO_NUL = r"[^\0]+"
_NOT_BLANK = r"(?s:.*\S.*)"
_PAGE_NAMES = {2**64 - 1: "2⁶⁴ − 1"}  # noqa: RUF001 - the minus sign of the reference


class Check(msgspec.Struct, frozen=True):
    """What a value must be.

    ``expected`` completes "is not ...", in the terms of TOML, ``example`` is a valid value, and ``page`` is the type as
    the reference names it. ``accept`` returns the value in its final type, or ``None`` when it is invalid; no option
    has ``None`` as a value. ``of_number`` says whether the text on a command line must spell a number, and ``endless``
    whether Python's infinity is valid too, for which a settings file has other words.
    """

    expected: str
    example: object
    page: str
    accept: Callable[[object], Any]
    of_number: bool = False
    endless: bool = False


def integer(lowest: int, highest: int = COUNT_MAX, *, expected: str = "", example: int) -> Check:
    """Check for a whole number in a range, which is also the default of ``expected``."""

    def accept(value: object) -> int | None:
        # bool is a subclass of int, but `workers = true` is a mistake.
        fits = isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest
        return value if isinstance(value, int) and fits else None

    if highest == COUNT_MAX:
        words, page = f"a whole number, {lowest} or more", f"integer from {lowest}"
    else:
        words = f"a whole number from {lowest} to {highest}"
        page = f"integer, {lowest} to {_PAGE_NAMES.get(highest, highest)}"
    return Check(expected or words, example, page, accept, of_number=True)


def number(
    expected: str, example: float, page: str, fits: Callable[[float], bool] = math.isfinite, *, endless: bool = False
) -> Check:
    """Check for a finite number that ``fits``; in Python it may also be infinite if ``endless``."""

    def accept(value: object) -> float | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        try:
            converted = float(value)
        except OverflowError:
            return None
        return converted if math.isfinite(converted) and fits(converted) else None

    return Check(expected, example, page, accept, of_number=True, endless=endless)


def one_of(*choices: str, example: str = "", quoted: bool = True) -> Check:
    """Check for one of a few words; ``quoted`` unless it can only stand on the command line."""
    words = [f'"{choice}"' for choice in choices]
    expected = f"one of {', '.join(words if quoted else choices)}"

    def accept(value: object) -> str | None:
        return value if isinstance(value, str) and value in choices else None

    return Check(expected, example or choices[0], ", ".join(f"`{word}`" for word in words), accept)


def some_of(*choices: str, example: str) -> Check:
    """Check for a list of words; a text in it may hold several, with commas between them."""

    def accept(value: object) -> tuple[str, ...] | None:
        if not isinstance(value, list | tuple) or not all(isinstance(part, str) for part in value):
            return None
        words = tuple(word.strip() for part in value for word in part.split(","))
        return tuple(dict.fromkeys(words)) if set(words) <= {*choices} else None

    expected = f"a list of {', '.join(choices[:-1])} or {choices[-1]}"
    return Check(expected, [example], f"list of {', '.join(f'`"{choice}"`' for choice in choices)}", accept)


def text(expected: str, example: str, page: str = "path", pattern: str = _NO_NUL) -> Check:
    """Check for a text that matches ``pattern``: by default one that is not empty and holds no NUL."""

    def accept(value: object) -> str | None:
        return value if isinstance(value, str) and re.fullmatch(pattern, value) else None

    return Check(expected, example, page, accept)


def texts(expected: str, example: str, pattern: str = _NO_NUL, page: str = "list of strings") -> Check:
    """Check for a list of texts that match ``pattern``."""

    def accept(value: object) -> tuple[str, ...] | None:
        if not isinstance(value, list | tuple):
            return None
        found = tuple(each for each in value if isinstance(each, str) and re.fullmatch(pattern, each))
        return found if len(found) == len(value) else None

    return Check(expected, [example], page, accept)


def _class_path(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    module, colon, name = value.partition(":")
    return value if colon and _is_dotted(module) and _is_dotted(name) else None


def _is_dotted(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


SWITCH = Check("a boolean", True, "boolean", lambda value: value if isinstance(value, bool) else None)
PERCENT_FROM_0 = number("a number of percent, 0 or more", 5, "0 or more", lambda value: value >= 0)
PROBABILITY = number("a number from 0 to 1", 0.4, "0 to 1", lambda value: 0 <= value <= 1)
MODULES = texts("a list of module names", "myapp", _NOT_BLANK)
KNOWN = texts("a list of texts that are not empty", "3f1c0a9b7d24", _NOT_BLANK)
CLASS_PATH = Check(
    'a class path "module.path:ClassName"', "tests.test_chaos:MyServiceChaos", '`"module.path:ClassName"`', _class_path
)
PATH = Check(
    "a path", ".ordeal/state", "path", lambda value: Path(value) if isinstance(value, str | os.PathLike) else None
)
TRACES = Check(
    'a boolean or "sample"',
    True,
    'boolean or `"sample"`',
    lambda value: value if isinstance(value, bool) or value == "sample" else None,
)


def accepted(check: Check, value: object, problem: str, example: str) -> Any:
    """Return ``value`` in its final type.

    Raises ``ConfigError`` with the ``problem``, what is expected, and an ``example`` of how to write it.
    """
    result = check.accept(value)
    if result is None:
        raise refusal(f"{problem}, not {check.expected}", f"write {check.expected}, for example {example}")
    return result


def refusal(message: str, hint: str) -> ConfigError:
    """Return the error for an invalid value, with both texts on one line each.

    They quote keys, values and paths, which can hold a newline or a terminal escape.
    """
    return ConfigError(one_line(message, limit=MESSAGE_CHARS_MAX), hint=one_line(hint, limit=MESSAGE_CHARS_MAX))


def cut(line: str) -> str:
    """Return the beginning of a text that is quoted in an error."""
    return line[:VALUE_CHARS_MAX]


def shown(value: object) -> str:
    """Return a value as TOML would write it if that differs from Python, cut to a readable length."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and value.bit_length() > 256:
        return f"a number of {value.bit_length()} bits"
    written = f'"{value}"' if isinstance(value, str) else repr(value)
    return written if len(written) <= VALUE_CHARS_MAX else cut(written[: VALUE_CHARS_MAX - 3]) + "..."


def as_toml(value: object) -> str:
    """Return the literal of a value in TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    return as_python(list(value) if isinstance(value, tuple) else value)


def as_python(value: object) -> str:
    """Return the literal of a value in Python, with double quotes."""
    return repr(value).replace("'", '"')


def as_word(value: object) -> str:
    """Return a value as written on the command line."""
    if isinstance(value, list | tuple):
        return ",".join(str(part) for part in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
