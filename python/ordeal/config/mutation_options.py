"""The options of mutation testing that a settings file may hold: what is mutated, who judges, and what is enough."""

from __future__ import annotations

from dataclasses import dataclass, field

from ordeal.config.checks import Check, number, one_of, seconds, text
from ordeal.config.option import Option

#: Where the accepted mutants are named, unless the settings say otherwise.
ACCEPTED_FILE = "ordeal-accepted.toml"
JUDGE_NAMES = ("tests", "machines", "both")
PRESET_NAMES = ("extreme", "essential", "standard", "thorough", "chimp")


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    found = tuple(each for each in value if isinstance(each, str) and each and "\0" not in each)
    return found if len(found) == len(value) else None


def _list(expected: str, example: str) -> Check:
    return Check(expected, [example], "list of strings", _texts)


_PERCENT = number("a number from 0 to 100", 80, "0 to 100", lambda value: 0 <= value <= 100)
_SECONDS = seconds("a number of seconds above 0", 60, "seconds above 0", lambda value: value > 0)


@dataclass(frozen=True, kw_only=True)
class MutationsConfig:
    """The section ``[mutations]``: what ``ordeal mutate`` does where its options say nothing.

    ``preset`` and ``judges`` are None for the defaults of the command, numbers for no limit.
    """

    targets: tuple[str, ...] = field(
        default=(), metadata=Option(_list("a list of files and folders", "src/shop"), "the packages here").metadata
    )
    exclude: tuple[str, ...] = field(
        default=(), metadata=Option(_list("a list of patterns of paths", "src/shop/vendor"), "none").metadata
    )
    tests: tuple[str, ...] = field(
        default=(), metadata=Option(_list("a list of arguments of pytest", "tests/unit"), "none").metadata
    )
    preset: str | None = field(
        default=None, metadata=Option(one_of(*PRESET_NAMES, example="essential"), '`"standard"`').metadata
    )
    operators: tuple[str, ...] = field(
        default=(), metadata=Option(_list("a list of operators", "comparison"), "those of the preset").metadata
    )
    judges: str | None = field(
        default=None, metadata=Option(one_of(*JUDGE_NAMES, example="both"), '`"tests"`', key="with").metadata
    )
    threshold: float | None = field(default=None, metadata=Option(_PERCENT, "none").metadata)
    assertion_threshold: float | None = field(default=None, metadata=Option(_PERCENT, "none").metadata)
    accept_file: str = field(
        default=ACCEPTED_FILE, metadata=Option(text("the path of a file", "accepted.toml")).metadata
    )
    budget: float | None = field(default=None, metadata=Option(_SECONDS, "none").metadata)
    kill_budget: float | None = field(default=None, metadata=Option(_SECONDS, "`20`").metadata)
