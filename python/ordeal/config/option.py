"""What there is to say about one option: its check, its forms on a command line and as an argument, its default."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from ordeal.config.checks import Check, as_word


class Default(Enum):
    """The default of an argument that has no value of its own as default."""

    SAME = "that of the option"
    ABSENT = "there is no such argument"


SAME = Default.SAME
ABSENT = Default.ABSENT
#: Where an option can be an argument.
Place = Literal["init", "run", "exhaustive"]

METADATA = "option"


@dataclass(frozen=True, slots=True)
class Flag:
    """How an option is written on a command line: with a value if there is a ``metavar``.

    ``default`` is the default shown in the help, if it differs from the option's own. ``sets`` is the value that a flag
    without a value sets. One that ``repeats`` adds to what the settings file lists.
    """

    name: str
    metavar: str
    help: str
    default: str = ""
    short: str = ""
    sets: bool = True
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """What there is to say about an option besides its name, type and default, which come from the field.

    - ``words``: the default in words for the reference and the help, if it is no value.
    - ``key``: its name in the settings file, if no field can have that name.
    - ``flag``: its form on a command line; the list of each command says whether it has it.
    - ``init``, ``run``, ``exhaustive``: the default of the argument of ``Explorer``, ``Explorer.run`` and
      ``Explorer.exhaustive``: a value if it differs from the option's, ``ABSENT`` if there is no such argument.
    - ``saved``: its position among the options in a saved state, if it decides the search.
    - ``core``: its name in the session of the core.
    - ``replaces``: in an entry of ``[[tests]]``, the option that it overrides.
    """

    check: Check
    words: str = ""
    key: str = ""
    flag: Flag | None = None
    init: object = ABSENT
    run: object = ABSENT
    exhaustive: object = ABSENT
    saved: int = 0
    core: str = ""
    replaces: str = ""
    name: str = ""
    default: object = ABSENT

    @property
    def metadata(self) -> dict[str, Option]:
        """Return the metadata that makes a field of a dataclass this option."""
        return {METADATA: self}

    def argument_default(self, place: Place) -> object:
        """Return the default of the argument at ``place``; ``ABSENT`` when there is none."""
        default = getattr(self, place)
        return self.default if default is SAME else default

    def help_text(self) -> str:
        """Return what the help of a command says of the option: what it does, and a default that is worth telling."""
        assert self.flag is not None
        told = self.flag.default
        if not told and not self.words and not isinstance(self.default, bool | None):
            told = as_word(self.default)
        return f"{self.flag.help} [default: {told}]" if told and self.flag.metavar else self.flag.help

    def default_text(self) -> str:
        """Return the default as the help shows it."""
        if self.flag is not None and self.flag.default:
            return self.flag.default
        return self.words or as_word(self.default)


# How to explore
