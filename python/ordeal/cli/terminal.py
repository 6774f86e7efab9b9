"""Writes to the terminal: data goes to stdout, everything that is said about it to stderr."""

from __future__ import annotations

import io
import os
import sys

import click

from ordeal._engine.formatting import error_text
from ordeal.errors import OrdealError


def accept_any_text() -> None:
    """Make both streams escape what their encoding lacks: an ASCII terminal must not turn a report into a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write(text: str) -> None:
    """Write data to stdout, as it is."""
    # click.echo would write UTF-8 to a stream that was set to ASCII.
    sys.stdout.write(text)
    sys.stdout.flush()


def say(text: str, *, newline: bool = True) -> None:
    """Tell the user something, on stderr. Colours are dropped for a file or pipe, and when ``NO_COLOR`` is set."""
    coloured = is_terminal() and not os.environ.get("NO_COLOR")
    sys.stderr.write((text if coloured else click.unstyle(text)) + ("\n" if newline else ""))
    sys.stderr.flush()


def say_error(message: str, hint: str | None = None) -> None:
    """Show ``error: ...`` and its hint on stderr."""
    lines = error_text(message, hint).split("\n")
    words = [line.partition(": ") for line in lines]
    colours = {"error": "red", "hint": "cyan"}
    say("\n".join(f"{_bold(word, colours[word])}: {rest}" if word in colours else word for word, _, rest in words))


def show_error(error: OrdealError) -> None:
    """Show an error that the user can put right."""
    say_error(error.message, error.hint)


def _bold(word: str, colour: str) -> str:
    return click.style(word, fg=colour, bold=True)


def is_terminal() -> bool:
    """Return whether stderr is a terminal, so that a line can be overwritten."""
    return sys.stderr.isatty()
