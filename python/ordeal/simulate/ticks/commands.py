"""Commands: messages to a program, drawn from the types of their fields, most often with existing ids."""

from __future__ import annotations

import dataclasses
import keyword
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

from hypothesis import strategies as st

from ordeal.errors import ConfigError, MachineError
from ordeal.quickcheck.by_type import strategy_for_type

#: Of ten ids, this number is taken from existing things.
LIVE_OF_TEN = 9
#: Where a new word begins in a name such as HTTPGet.
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class CommandType:
    """A class whose instances are commands: its name as that of a rule, and a strategy for each field."""

    cls: Any
    name: str
    fields: Mapping[str, st.SearchStrategy[Any]]

    def draw(self, data: st.DataObject, live: Mapping[str, Collection[Any]]) -> Any:
        """Draw a command; a field that ``live`` has ids for gets one of them, nine times out of ten.

        Returns None where the class refuses what was drawn for its fields.
        """
        drawn = {name: _often_live(field, live.get(name, ())) for name, field in self.fields.items()}
        return data.draw(st.fixed_dictionaries(drawn).map(self.made), label=self.name)

    def made(self, values: Mapping[str, Any]) -> Any:
        """Build a command from its fields; None where the class refuses them."""
        try:
            return self.cls(**values)
        except (TypeError, ValueError):
            # Types say less than what a class checks, such as that one field is larger than another.
            return None


def as_fields(command: Any) -> dict[str, Any]:
    """Return the fields of a command by name."""
    return {name: getattr(command, attribute) for name, attribute, _ in _fields(type(command))}


def _often_live(field: st.SearchStrategy[Any], live: Collection[Any]) -> st.SearchStrategy[Any]:
    if not live:
        return field
    ids = st.sampled_from(list(live))
    return st.integers(1, 10).flatmap(lambda tenth: ids if tenth <= LIVE_OF_TEN else field)


def command_types(machine: str, given: Any) -> list[CommandType]:
    """Return the command types that the ``commands`` of a machine name.

    Raises:
        MachineError: they are no list of dataclasses, or of classes of attrs or pydantic.
    """
    if isinstance(given, str) or not isinstance(given, Collection):
        raise MachineError(f"{machine}.commands is {given!r:.100}", hint="write a list of classes: `commands = [Buy]`")
    types = []
    for cls in given:
        try:
            fields = {name: strategy_for_type(tp) for name, _, tp in _fields(cls)}
        except ConfigError as error:
            problem = f"{machine}.commands has {cls.__name__}, and {error.message}"
            raise MachineError(problem, hint=error.hint) from error
        except TypeError as error:
            raise MachineError(
                f"{machine}.commands has {cls!r:.100}, which has no fields with types",
                hint="write a dataclass, or a class of attrs or pydantic",
            ) from error
        name = _WORDS.sub("_", cls.__name__).lower()
        types.append(CommandType(cls, f"{name}_" if keyword.iskeyword(name) else name, fields))
    return types


def _fields(cls: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield what a command is made of: argument, attribute and type. Raises TypeError for a class of another kind."""
    if not isinstance(cls, type):
        raise TypeError(cls)
    hints = get_type_hints(cls, include_extras=True)
    if dataclasses.is_dataclass(cls):
        yield from ((field.name, field.name, hints[field.name]) for field in dataclasses.fields(cls) if field.init)
    elif (attributes := getattr(cls, "__attrs_attrs__", None)) is not None:
        yield from ((each.alias, each.name, hints.get(each.name, Any)) for each in attributes if each.init)
    elif (models := getattr(cls, "model_fields", None)) is not None:
        for name, field in models.items():
            hint = field.annotation
            yield name, name, Annotated[hint, *field.metadata] if field.metadata else hint
    else:
        raise TypeError(cls)
