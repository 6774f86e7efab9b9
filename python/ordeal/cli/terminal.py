"""Writes to the terminal: data to stdout, everything else to stderr. Opens pages where a browser has a window."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TextIO, override

import click

from ordeal._base.formatting import error_text
from ordeal.errors import OrdealError


class _Lasting(io.TextIOWrapper):
    """A stream that drops what it cannot write: a full disk, or a reader that is gone, must not end a command.

    Attributes:
        trouble: why something was dropped; None where all was written.
    """

    trouble: OSError | None = None

    @override
    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as error:
            self.trouble = error
        return len(text)

    @override
    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self.trouble = error


class _KeptStream:
    """The streams of the command, kept from the program under test, which may close or replace its own."""

    out: TextIO | None = None
    err: TextIO | None = None


@contextmanager
def kept_streams() -> Iterator[None]:
    """Keep writing to the present streams during the block, even if they or their targets change."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            # A file that is opened later would get the number of a stream that is closed.
            nowhere = os.open(os.devnull, os.O_RDWR)
            if name != "stdin":  # without it, no question is asked
                setattr(sys, name, os.fdopen(nowhere, "w"))
    before = sys.stdout, sys.stderr
    _KeptStream.out, _KeptStream.err = map(_twin, before)
    sys.stdout, sys.stderr = map(_twin, before)
    try:
        yield
    finally:
        own = _KeptStream.out, _KeptStream.err, sys.stdout, sys.stderr
        _KeptStream.out = _KeptStream.err = None
        sys.stdout, sys.stderr = before
        for stream in own:
            if type(stream) is _Lasting:
                with suppress(OSError, ValueError):
                    stream.close()


def _twin(stream: TextIO) -> TextIO:
    """Return a lasting stream to the same place as ``stream``, or the same one if it has no descriptor.

    It escapes what its encoding lacks: an ASCII terminal must not turn a report into a traceback.
    """
    if type(stream) is not io.TextIOWrapper:
        return stream
    with suppress(OSError):
        stream.flush()
    try:
        binary = os.fdopen(os.dup(stream.fileno()), "wb")
    except (OSError, ValueError):
        return stream
    return _Lasting(
        binary, encoding=stream.encoding, errors="backslashreplace", line_buffering=True, write_through=True
    )


def unwritten() -> str:
    """Return why data was not written to stdout; empty where all was, and where its reader wanted no more."""
    trouble = getattr(_KeptStream.out, "trouble", None)
    return "" if trouble is None or isinstance(trouble, BrokenPipeError) else trouble.strerror or str(trouble)


def _out() -> TextIO:
    return _KeptStream.out or sys.stdout


def _err() -> TextIO:
    return _KeptStream.err or sys.stderr


def error_stream() -> TextIO:
    """Return the stream of messages, for code that draws on it directly."""
    return _err()


def write(text: str) -> None:
    """Write data to stdout unchanged."""
    # click.echo would write UTF-8 even to an ASCII stream.
    _out().write(text)
    _out().flush()


def say(text: str, *, newline: bool = True) -> None:
    """Print a message on stderr, with its colours where `has_colours`."""
    coloured = has_colours(on_terminal=is_terminal())
    _err().write((text if coloured else click.unstyle(text)) + ("\n" if newline else ""))
    _err().flush()


def has_colours(*, on_terminal: bool) -> bool:
    """Return True if a stream gets colours: on a terminal or with ``FORCE_COLOR``, and never with ``NO_COLOR``."""
    return (on_terminal or bool(os.environ.get("FORCE_COLOR"))) and not os.environ.get("NO_COLOR")


def say_error(message: str, hint: str | None = None) -> None:
    """Show ``error: ...`` and its hint on stderr."""
    lines = error_text(message, hint).split("\n")
    words = [line.partition(": ") for line in lines]
    bold = {word: click.style(word, fg=colour, bold=True) for word, colour in (("error", "red"), ("hint", "cyan"))}
    say("\n".join(f"{bold[word]}: {rest}" if word in bold else word for word, _, rest in words))


def show_error(error: OrdealError) -> None:
    """Show an error that the user can correct."""
    say_error(error.message, error.hint)


def is_terminal() -> bool:
    """Return True if stderr is a terminal, so that a line can be overwritten."""
    return _err().isatty()


def can_redraw() -> bool:
    """Return True if several lines of stderr can be redrawn."""
    return is_terminal() and os.environ.get("TERM") not in (None, "", "dumb")


def writes_to_terminal() -> bool:
    """Return True if stdout is a terminal, where a person reads the report."""
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
    """Open a page in a browser if there is a screen."""
    if has_screen(os.environ) and is_terminal():
        importlib.import_module("webbrowser").open(path.absolute().as_uri())


def has_screen(environment: Mapping[str, str]) -> bool:
    """Return True if a browser has a window to open in: one that draws in this terminal would take it over."""
    return sys.platform == "darwin" or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C: a job ended by its scheduler still reports what it found."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
