"""Declared answers of services and programs outside the run, and the declaration to paste where one is missing."""

from __future__ import annotations

import fnmatch
import inspect
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from ordeal.simulate.errors import SimulationError

_MISSING = object()
WEB_PORTS = (80, 443)


class Declared:
    """The answers of one program or host. Later answers stand next to earlier ones."""

    def __init__(self, what: str) -> None:
        """``what`` is the call that declares them, for messages."""
        self._what = what
        self._table: dict[str, Any] = {}
        self._for_all: Any = _MISSING

    def add(self, answers: Any, *, is_table_needed: bool) -> None:
        """Add a table of answers, or one for everything that the table does not have.

        Raises:
            SimulationError: it is not clear what it answers.
        """
        if isinstance(answers, Mapping):
            for asked in answers:
                if not isinstance(asked, str):
                    raise SimulationError(
                        f"{self._what} got the key {asked!r:.100}", hint="write what is asked as a text"
                    )
            self._table.update(answers)
        elif is_table_needed and not callable(answers):
            raise SimulationError(
                f"{self._what} got {answers!r:.100}",
                hint='pass a table such as {"GET /users/1": {"name": "Ann"}}, or a function of the request',
            )
        else:
            self._for_all = answers

    def find(self, *asked: str) -> Any:
        """Return the answer to the first of these texts that has one, directly or by a pattern."""
        for text in asked:
            if text in self._table:
                return self._table[text]
        for text in asked:
            for pattern, answer in self._table.items():
                if fnmatch.fnmatchcase(text, pattern):
                    return answer
        return self._for_all


def is_missing(answer: object) -> bool:
    """Return True if ``find`` found nothing."""
    return answer is _MISSING


async def said(answer: Any, asked: object) -> Any:
    """Return what an answer says: itself, or what a function, which may be ``async def``, returns for what is asked."""
    if callable(answer):
        answer = answer(asked)
        if inspect.isawaitable(answer):
            answer = await answer
    return answer


def process_stub(asked: Command) -> str:
    """Return the call that declares what a program prints."""
    return f"world.process({_quoted(asked.program)}, {{{_quoted(asked.line)}: {_quoted('what it prints')}}})"


def http_stub(host: str, asked: str = "GET /*") -> str:
    """Return the call that declares what a host answers."""
    return f"world.http({_quoted(host)}, {{{_quoted(asked)}: {_quoted('the body')}}})"


def host_hint(host: str, port: object, *, has_world: bool) -> str:
    """Return what to write where a program connects to a host that is not in the run."""
    if port in WEB_PORTS:
        return stub_hint(http_stub(host), has_world=has_world)
    stub = f"world.node({_quoted(host)}, serve)"
    return f"{stub_hint(stub, has_world=has_world)}, where `serve` is an `async def` function that starts such a server"


def stub_hint(stub: str, *, has_world: bool) -> str:
    """Return the hint that says where to paste a call."""
    where = "in the test" if has_world else "in the test, which gets `world` as a parameter of that name"
    return f"declare the answer {where}: {stub}"


def event_hint(event: str, arguments: tuple[Any, ...], *, has_world: bool) -> str | None:
    """Return what to write in place of what an audit event reports; None where nothing can be declared."""
    if event == "os.system":
        arguments = "", *arguments
    if event in ("subprocess.Popen", "os.system"):
        stub = stub_hint(process_stub(command(arguments[1])), has_world=has_world)
        return f"{stub}, and await asyncio.create_subprocess_exec"
    if event == "socket.getaddrinfo" and isinstance(arguments[0], str):
        return host_hint(arguments[0], arguments[1], has_world=has_world)
    return None


def words_of(arguments: Any) -> list[str]:
    """Return the words of a command, given as a text or as a sequence."""
    if isinstance(arguments, list | tuple):
        return [_text(each) for each in arguments]
    text = _text(arguments)
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else str(PurePath(value)) if hasattr(value, "__fspath__") else ""


def _quoted(text: str) -> str:
    return json.dumps(text[:200], ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Command:
    """What a child process receives: its program, ``arguments`` and ``stdin``."""

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
    """What a child process does: it prints ``stdout`` and ``stderr``, and exits with ``code`` after ``seconds``."""

    stdout: str | bytes = b""
    stderr: str | bytes = b""
    code: int = 0
    seconds: float = 0.0

    def printed(self, number: int) -> bytes:
        """Return what it writes to stream ``number``: 1 is standard output, 2 standard error."""
        text = self.stdout if number == 1 else self.stderr
        return text.encode() if isinstance(text, str) else bytes(text)


def output(answer: Any) -> Output:
    """Return an answer as an Output: a text or bytes alone are what is printed.

    Raises:
        SimulationError: it is not an answer.
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
            SimulationError: the name is not that of a program.
        """
        if not isinstance(name, str) or not name or "/" in name:
            raise SimulationError(
                f"{name!r:.100} is not a name of a program", hint='write the name alone, such as "git"'
            )
        self._declared.setdefault(name, Declared(f"world.process({name!r})")).add(answers, is_table_needed=False)

    def find(self, asked: Command) -> Any:
        """Return the answer to a command, None if there is none."""
        declared = self._declared.get(asked.program)
        answer = None if declared is None else declared.find(asked.line)
        return None if is_missing(answer) else answer
