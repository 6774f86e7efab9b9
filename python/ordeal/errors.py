"""The errors that a user of ordeal can cause, each with what to write instead, and the failure of a comparison."""

from __future__ import annotations

from typing import ClassVar

#: Exit codes of the command line; the last is that of a shell for a program ended by Ctrl-C.
FOUND = 1
WRONG_USE = 2
INTERRUPTED = 130


class OrdealError(Exception):
    """An error that the user can correct.

    ``message`` says what is wrong, with the value. ``hint`` says what to write instead, or is ``None``.
    ``str(error)`` is the message, followed by a line ``hint: ...`` when there is a hint.
    The command line ends with ``exit_code``.
    """

    exit_code: ClassVar[int] = WRONG_USE

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"

    def __reduce__(self) -> tuple[object, ...]:
        # The default would rebuild the error from its arguments alone and lose the hint; the state carries it.
        return (type(self), (self.message,), dict(self.__dict__))


class ConfigError(OrdealError):
    """A configuration file, option or argument has a value that cannot be used."""


class TargetError(OrdealError):
    """A target module cannot be imported, or a target pattern matches nothing."""


class MachineError(OrdealError):
    """A class cannot be explored: it is not a rule machine, has no rules, or its definition raises."""


class SkippedError(OrdealError):
    """The module of a class asks to be skipped, as ``pytest.importorskip`` does."""


class TraceError(OrdealError):
    """A trace file cannot be read, is damaged, or does not fit the machine."""


class OutdatedTraceError(TraceError):
    """A trace no longer applies to its class: a rule, fault or argument is gone, or a step cannot run any more."""


class StateError(OrdealError):
    """A state file cannot be written or read, is damaged, or belongs to another exploration."""


class StoreError(OrdealError):
    """A store has a wrong address, or cannot be reached or used when a session begins."""


class FaultError(OrdealError, ValueError):
    """A fault cannot be built, switched on, or taken back.

    It is a ``ValueError`` too, because most of its causes are arguments of a fault.
    """


class PropertyError(OrdealError, ValueError):
    """A property is declared or checked in a way that cannot be counted."""


class GenerationError(OrdealError, ValueError):
    """An exhaustive generation was asked for something impossible: see ``ordeal.exhaustive``.

    It is a ``ValueError`` too, because most of its causes are arguments.
    """


class InfiniteStrategyError(GenerationError):
    """A strategy has too many values to enumerate."""


class Incomplete(GenerationError):  # noqa: N818 - it says how far the test came, and that is not a mistake of its code
    """The limit was reached before every case had run, so the test says nothing about the rest."""


class NonDeterministicGeneration(GenerationError):  # noqa: N818 - the same
    """A case made other choices than an earlier one with the same beginning: something else decides."""


class DivergenceError(AssertionError):
    """Two things that should be equal differ: a system and its model, or what an oracle compares.

    ``operation`` is the name of the operation after which they differ, if it is not the one that raises.
    """

    # It has always been a name of that package, and buckets and names of seeds contain it.
    __module__ = "ordeal.model"

    operation: str = ""

    @classmethod
    def after(cls, operation: str, message: str) -> DivergenceError:
        """Return the error for a difference that a comparison after ``operation`` shows; ``message`` names it."""
        error = cls(message)
        error.operation = operation
        return error
