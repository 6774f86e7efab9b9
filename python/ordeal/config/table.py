"""How an option is declared: a table is a record whose fields say what an option may be, and what it does.

Explorations read their options as attributes of such a record.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from inspect import Parameter, Signature
from typing import Any, ClassVar, Self, dataclass_transform, override

import msgspec

from ordeal._base.formatting import one_line
from ordeal._base.limits import VALUE_CHARS_MAX
from ordeal.config.checks import SWITCH, Check, accepted, as_python, as_word, refusal, shown, text


class Option(msgspec.Struct):
    """Describes an option. Its type is that of the field.

    - ``words``: the default in words for the reference and the help, where the value does not say it.
    - ``key``: its name in the settings file, if no field can have that name.
    - ``flag``: how a command line writes it, such as ``-w, --workers N``; without a last word it takes no value.
    - ``sets``: the value that a flag without a value sets.
    - ``replaces``: in an entry of ``[[tests]]``, the option that it overrides.
    """

    check: Check
    words: str = ""
    default: Any = None
    key: str = ""
    flag: str = ""
    help: str = ""
    sets: bool = True
    replaces: str = ""
    name: str = ""

    def __set_name__(self, _table: type, name: str) -> None:
        """Take the name of the field."""
        self.name = name

    @property
    def short_flag(self) -> str:
        """Return the flag of one letter, or an empty text."""
        return self.flag.partition(", ")[0] if ", " in self.flag else ""

    @property
    def long_flag(self) -> str:
        """Return the long flag; one that no command has is named as it would be."""
        return self.flag.rpartition(", ")[2].partition(" ")[0] or f"--{self.name.replace('_', '-')}"

    @property
    def metavar(self) -> str:
        """Return the word for the value of the flag, empty for a flag without a value."""
        return self.flag.rpartition(", ")[2].partition(" ")[2]

    @property
    def repeats(self) -> bool:
        """Return True if each use of the flag adds a value."""
        return isinstance(self.default, tuple)

    def help_text(self) -> str:
        """Return the help text of the option: what it does, and a default worth showing."""
        is_value = not isinstance(self.default, bool | tuple | None)
        default = self.words or (as_word(self.default) if is_value else "")
        is_shown = self.metavar and default not in ("", "none", "do not")
        return f"{self.help} [default: {default}]" if is_shown else self.help

    def argument(self, value: object) -> Any:
        """Return the argument of a call in its final type. Raises ``ConfigError`` if it cannot be used."""
        check = self.check
        if (value is None and self.default is None) or (check.endless and value == math.inf):
            return value
        result = check.accept(value)
        if result is None:
            # The text is written for a settings file, which quotes strings.
            expected = check.expected.replace('"', "")
            raise refusal(
                f"{self.name} is {one_line(repr(value), limit=VALUE_CHARS_MAX)}; it must be {expected}",
                f"write {expected}, for example `{self.name}={as_python(check.example)}`",
            )
        return result


def option(default: Any, check: Check, words: str = "", **more: Any) -> Any:
    """Declare a field that is an option; see ``Option``."""
    return Option(check, words, default, **more)


def switch(flag: str, what: str) -> Any:
    """Declare a switch of a command line, which is off until it is given."""
    return Option(SWITCH, "off", False, flag=flag, help=what)


def place(flag: str, what: str, words: str = "none") -> Any:
    """Declare the path of a file or folder that a command line names; None unless it is given."""
    return Option(text("a path", "out"), words, flag=flag, help=what)


class _TableSignature:
    """Shows the fields of a table as the arguments of its constructor."""

    def __get__(self, _record: object, table: type[Table]) -> Signature:
        defaults = {name: getattr(table, name, Parameter.empty) for name in table.names}
        return Signature([Parameter(name, Parameter.KEYWORD_ONLY, default=each) for name, each in defaults.items()])


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Table:
    """A frozen record, whose fields are options where they are declared as such.

    It is not a dataclass: each takes half a millisecond to make, and a process that explores needs a dozen.

    Attributes:
        names: the fields, those of the base classes first.
        options: those that are options.
    """

    names: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[Mapping[str, Option]] = {}
    __signature__: ClassVar[Any] = _TableSignature()

    def __init_subclass__(cls) -> None:
        """Take the fields, and leave the default of each as an attribute of the class."""
        tables = [base for base in reversed(cls.__mro__) if base is not cls and issubclass(base, Table)]
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Option)}
        cls.names = tuple(dict.fromkeys([name for table in tables for name in table.names] + [*cls.__annotations__]))
        cls.options = {name: each for table in tables for name, each in table.options.items()} | own
        for name, each in own.items():
            setattr(cls, name, each.default)

    def __init__(self, **values: Any) -> None:
        """Fill in the table. Raises TypeError for a field that it does not have, or one without a value."""
        if wrong := values.keys() - {*self.names}:
            raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument {min(wrong)!r}")
        vars(self).update(values)
        for name in self.names:
            if not hasattr(self, name):
                raise TypeError(f"{type(self).__name__}() misses the argument {name!r}")

    def replaced(self, **values: Any) -> Self:
        """Return a table with other values in some fields."""
        return type(self)(**{**vars(self), **values})

    def with_arguments(self, **given: object) -> Self:
        """Return a table with the arguments of a call, in their final types.

        Raises ``ConfigError`` naming the argument for a value that cannot be used.
        """
        return self.replaced(**{name: self.options[name].argument(value) for name, value in given.items()})

    def with_flags(self, given: Mapping[str, object]) -> Self:
        """Return a table with the values of command line options, by name; ``None`` means not given.

        Names of options of other tables are ignored. Raises ``ConfigError`` naming the option for a value that would be
        invalid in the settings file too.
        """
        values = {}
        for name, each in self.options.items():
            value = given.get(name)
            if value is not None:
                # Several values of one flag are quoted as one text.
                problem = f"`{each.long_flag}` is {shown(as_word(value) if isinstance(value, tuple) else value)}"
                example = f"`{each.long_flag} {as_word(each.check.example)}`"
                values[name] = accepted(each.check, value, problem, example)
        return self.replaced(**values)

    @override
    def __setattr__(self, name: str, _value: object) -> None:
        raise AttributeError(f"cannot assign to field {name!r}")

    @override
    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and values_of(other) == values_of(self)

    __hash__ = None  # type: ignore[assignment]

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={each!r}' for name, each in values_of(self).items())})"


def values_of(table: Table) -> dict[str, Any]:
    """Return the values of a filled-in table by name."""
    return {name: getattr(table, name) for name in table.names}


def keys_of(section: type[Table]) -> dict[str, Option]:
    """Return the options of a section by their keys in the settings file."""
    return {each.key or name: each for name, each in section.options.items()}
