"""Writes to the terminal: data to stdout, everything else to stderr. Opens pages where a browser has a window."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TextIO

import click

from ordeal._base.formatting import error_text
from ordeal.errors import OrdealError


def accept_any_text() -> None:
    """Escape what the encoding of a stream lacks: an ASCII terminal must not turn a report into a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _KeptStream:
    """The streams of the command, kept from the program under test, which may close or replace its own."""

    out: TextIO | None = None
    err: TextIO | None = None


@contextmanager
def kept_streams() -> Iterator[None]:
    """Keep writing to the present streams during the block, whatever happens to them."""
    _KeptStream.out, _KeptStream.err = _twin(sys.stdout), _twin(sys.stderr)
    try:
        yield
    finally:
        for stream in (_KeptStream.out, _KeptStream.err):
            if stream not in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):
                    stream.close()
        _KeptStream.out = _KeptStream.err = None


def _twin(stream: TextIO) -> TextIO:
    """Return a stream to the same place as ``stream`` with its own descriptor, or the same one if it has none."""
    if type(stream) is not io.TextIOWrapper:
        return stream
    try:
        stream.flush()
        descriptor = os.dup(stream.fileno())
    except (OSError, ValueError):
        return stream
    return os.fdopen(descriptor, "w", encoding=stream.encoding, errors=stream.errors)


def _out() -> TextIO:
    return _KeptStream.out or sys.stdout


def _err() -> TextIO:
    return _KeptStream.err or sys.stderr


def error_stream() -> TextIO:
    """Return the stream of messages, for what draws on it by itself."""
    return _err()


def write(text: str) -> None:
    """Write data to stdout unchanged."""
    # click.echo would write UTF-8 even to an ASCII stream.
    _out().write(text)
    _out().flush()


def say(text: str, *, newline: bool = True) -> None:
    """Print a message on stderr. Colours are dropped for a file or pipe, and when ``NO_COLOR`` is set."""
    coloured = is_terminal() and not os.environ.get("NO_COLOR")
    _err().write((text if coloured else click.unstyle(text)) + ("\n" if newline else ""))
    _err().flush()


def say_error(message: str, hint: str | None = None) -> None:
    """Show ``error: ...`` and its hint on stderr."""
    lines = error_text(message, hint).split("\n")
    words = [line.partition(": ") for line in lines]
    colours = {"error": "red", "hint": "cyan"}
    say("\n".join(f"{_bold(word, colours[word])}: {rest}" if word in colours else word for word, _, rest in words))


def show_error(error: OrdealError) -> None:
    """Show an error that the user can correct."""
    say_error(error.message, error.hint)


def _bold(word: str, colour: str) -> str:
    return click.style(word, fg=colour, bold=True)


def is_terminal() -> bool:
    """Return whether stderr is a terminal, so that a line can be overwritten."""
    return _err().isatty()


def can_redraw() -> bool:
    """Return whether several lines of stderr can be drawn anew."""
    return is_terminal() and os.environ.get("TERM") not in (None, "", "dumb")


def can_ask() -> bool:
    """Return whether a person reads the messages and can answer."""
    return is_terminal() and sys.stdin is not None and sys.stdin.isatty()


def ask_number(question: str, least: int, most: int, *, default: int) -> int:
    """Ask on stderr until the answer is a number in the range; nothing stands for ``default``."""
    number: int = click.prompt(question, type=click.IntRange(least, most), default=default, err=True)
    return number


def writes_to_terminal() -> bool:
    """Return whether stdout is a terminal, where a person reads the report."""
    return _out().isatty()


@contextmanager
def contained(*, verbose: bool) -> Iterator[None]:
    """Keep what the program under test prints out of the listing."""
    if verbose:
        with redirect_stdout(sys.stderr):
            yield
        return
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        yield


def open_page(path: Path) -> None:
    """Open a page in a browser where somebody sits before a screen."""
    if has_screen(os.environ) and is_terminal():
        importlib.import_module("webbrowser").open(path.absolute().as_uri())


def has_screen(environment: Mapping[str, str]) -> bool:
    """Return whether a browser has a window to open in: one that draws in this terminal would take it over."""
    return sys.platform == "darwin" or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
