"""Child processes that are only declared: the commands that a program gives, and what the processes print."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from ordeal.simulate.errors import SimulationError
from ordeal.simulate.outside.declared import Declared, is_missing, words_of


@dataclass(frozen=True, slots=True)
class Command:
    """What a child process is told."""

    program: str
    """The name of the program, without its folder."""
    arguments: tuple[str, ...]
    stdin: bytes = b""

    @property
    def line(self) -> str:
        """The arguments as a shell has them."""
        return shlex.join(self.arguments)


@dataclass(frozen=True, slots=True)
class Output:
    """What a child process does: what it prints, its exit code, and how long it runs in simulated seconds."""

    stdout: str | bytes = b""
    stderr: str | bytes = b""
    code: int = 0
    seconds: float = 0.0

    def printed(self, number: int) -> bytes:
        """Return what it writes to its standard output, 1, or its standard error, 2."""
        text = self.stdout if number == 1 else self.stderr
        return text.encode() if isinstance(text, str) else bytes(text)


def output(answer: Any) -> Output:
    """Return an answer as an Output: a text or bytes alone are what is printed.

    Raises:
        SimulationError: it is none.
    """
    if isinstance(answer, Output):
        return answer
    if isinstance(answer, str | bytes):
        return Output(answer)
    raise SimulationError(
        f"a child process answers {answer!r:.100}",
        hint="return what it prints, as a text, or simulate.Output(stdout, stderr, code)",
    )


def command(arguments: Any) -> Command:
    """Return the command that a program gives, as a text for the shell or as a sequence."""
    program, *rest = words_of(arguments) or [""]
    return Command(PurePath(program).name, tuple(rest))


class Programs:
    """The programs that a world has declared."""

    def __init__(self) -> None:
        self._declared: dict[str, Declared] = {}

    def add(self, name: Any, answers: Any) -> None:
        """Declare what a program answers.

        Raises:
            SimulationError: the name is none.
        """
        if not isinstance(name, str) or not name or "/" in name:
            raise SimulationError(f"{name!r:.100} is no name of a program", hint='write the name alone, such as "git"')
        self._declared.setdefault(name, Declared(f"world.process({name!r})")).add(answers, is_table_needed=False)

    def find(self, asked: Command) -> Any:
        """Return the answer to a command, None if there is none."""
        declared = self._declared.get(asked.program)
        answer = None if declared is None else declared.find(asked.line)
        return None if is_missing(answer) else answer
