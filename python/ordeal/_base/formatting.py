"""The building blocks of all reports: lines that are safe to print, names, counts, errors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence

from ordeal._base.limits import LINE_CHARS_MAX, LINES_MAX, TEXT_CHARS_MAX
from ordeal._base.untrusted import error_message, type_name

JSON_SCHEMA_VERSION = 1


#: What a terminal, a page, XML or a log may take for more than a character. A space may be any of several.
_SPECIAL = re.compile(r"[^\x20-\x7e]")
#: The beginnings of lines that a service of CI takes for commands.
_COMMAND = re.compile(r"^(\s*)(:|#)(?=:|#\[)", re.MULTILINE)


def writable_text(text: str) -> str:
    """Return ``text`` in a form that any file and message can hold."""
    return text.encode("utf-8", "backslashreplace").decode()


def printable(text: str, *, keep: str = "\n\t") -> str:
    """Return ``text`` with each character escaped that is not printable and that ``keep`` does not hold."""

    def shown(found: re.Match[str]) -> str:
        char = found[0]
        return char if char.isprintable() or char in keep else char.encode("unicode_escape").decode("ascii")

    # A subclass may have its own methods.
    return _SPECIAL.sub(shown, str.__str__(text))


def one_line(text: str, *, limit: int = LINE_CHARS_MAX) -> str:
    """Return ``text`` safe to print on one line: control characters escaped, at most ``limit`` characters.

    Messages come from the program under test. A newline in one would break the layout, and a terminal escape could
    rewrite what is already on the screen.
    """
    # Cut first: a message of many megabytes must not be escaped in full to show its beginning.
    safe = printable(text[: limit + 1], keep="")
    return safe if len(safe) <= limit else safe[: limit - 3] + "..."


def aligned(rows: Iterable[Sequence[str]], right: Container[int] = ()) -> list[str]:
    """Return a line for each row, in columns; those whose numbers are in ``right`` hold numbers, which end together."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:{'>' if at in right else '<'}{widths[at]}}" for at, cell in enumerate(row)).rstrip()
        for row in rows
    ]


def safe_lines(text: str) -> str:
    """Return ``text`` safe to print on several lines: control characters other than newlines escaped.

    No line begins as a command to a service of CI does.
    """
    lines = "\n".join(one_line(line) for line in text.rstrip().split("\n"))
    return _COMMAND.sub(lambda found: f"{found[1]}\\x{ord(found[2]):x}", lines)


def describe_error(error: BaseException) -> str:
    """Return ``Type: message`` on one line, or the type alone without a message; see ``error_line``."""
    return error_line(type_name(type(error)), error_message(error))


def error_line(name: str, message: str) -> str:
    """Return ``name: message`` with the first line of a longer message, which says what is wrong.

    In later lines pytest writes the values of an ``assert``, and others complete tables.
    """
    # Cut first: only the beginning of a message of many megabytes is shown.
    first = message[: 4 * LINE_CHARS_MAX].strip().partition("\n")[0].rstrip()
    return one_line(f"{name}: {first}" if first else name)


#: The nouns of what strikes in a simulated world that take more than an ``s``.
PLURALS = {
    "change of order": "changes of order",
    "datagram lost, doubled or late": "datagrams lost, doubled or late",
    "loss of what was not synced": "losses of what was not synced",
    "silent crash": "silent crashes",
    "crash": "crashes",
}


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 step`` or ``3 steps``; ``plural`` is for nouns that take more than an ``s``."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or f'{noun}s'}"


def percent(share: float) -> str:
    """Return a share as text: ``0%`` only for none, and ``100%`` only for all."""
    if share < 0.1:
        return f"{100 * share:.2g}%"
    return "100%" if share >= 1 else f"{min(99, round(100 * share))}%"


def short_names(names: Sequence[str]) -> list[str]:
    """Shorten fault names but keep them distinct: ``timeout(db.call, 3s)`` to ``timeout``, or ``timeout(call)``."""
    forms = [_short_forms(name) for name in names]
    shown = [form[0] for form in forms]
    for length in range(1, len(_short_forms(""))):
        shared = Counter(shown)
        shown = [one if shared[one] == 1 else form[length] for one, form in zip(shown, forms, strict=True)]
    return shown


def _short_forms(name: str) -> tuple[str, str, str, str]:
    """Return what stands for a fault, the shortest first: its kind, with the function that it hits, with its target."""
    kind, bracket, rest = name.partition("(")
    if not bracket:
        return name, name, name, name
    target = rest.removesuffix(")").partition(", ")[0]
    return kind, f"{kind}({target.rpartition('.')[2]})", f"{kind}({target})", name


def name_list(names: Sequence[str]) -> str:
    """Return the names on one line, or ``none``."""
    return one_line(", ".join(names)) if names else "none"


def indented(lines: Iterable[str], blanks: int) -> list[str]:
    """Return the lines, each non-empty one indented by ``blanks`` blanks."""
    return [" " * blanks + line if line else "" for line in lines]


def capped(lines: Sequence[str], limit: int) -> list[str]:
    """Return at most ``limit`` of the lines, and one that counts the rest."""
    left_out = len(lines) - limit
    return list(lines) if left_out <= 0 else [*lines[:limit], f"... and {left_out} more"]


def program_lines(program: str) -> list[str]:
    """Return at most 60 lines of a program, safe to print. What is left of it is still Python."""
    # Not splitlines(): it would also break at separators that a Python string may contain.
    lines = [one_line(line, limit=TEXT_CHARS_MAX) for line in program.rstrip("\n").split("\n")]
    left_out = len(lines) - LINES_MAX
    return lines if left_out <= 0 else [*lines[:LINES_MAX], f"# ... and {counted(left_out, 'more line')}"]


_MADE = re.compile(r"state = \w+\(\)")


def runnable_program(lines: Sequence[str], test_class: str) -> str:
    """Return the recorded program of a machine with the import of what makes it, which traces name as ``module:Class``.

    That may be another name of the class, or a function.
    """
    module, _, name = test_class.partition(":")
    place = next((number for number, line in enumerate(lines) if _MADE.fullmatch(line)), -1)
    if place < 0 or module == "__main__" or not all(part.isidentifier() for part in name.split(".")):
        return "\n".join(lines)
    needed = f"from {module} import {name.partition('.')[0]}"
    return "\n".join([needed, *lines[:place], f"state = {name}()", *lines[place + 1 :]])


def error_text(message: str, hint: str | None = None) -> str:
    """Return ``error: ...`` and, when there is a hint, a blank line and ``hint: ...``."""
    text = f"error: {one_line(message, limit=4 * LINE_CHARS_MAX)}"
    return text if hint is None else f"{text}\n\nhint: {one_line(hint, limit=4 * LINE_CHARS_MAX)}"


def weights_text(weights: Mapping[str, int]) -> str:
    """Return the weights of operations: the kept ones, heaviest first, then the names of the others."""
    kept = sorted((name for name in weights if weights[name]), key=lambda name: -weights[name])
    left_out = [name for name in weights if not weights[name]]
    text = ", ".join(f"{name} {weights[name]}" for name in kept)
    return f"{text}; without {', '.join(left_out)}" if left_out else text
