"""Checks of arguments that several faults share; each raises FaultError and names the factory."""

from __future__ import annotations

from typing import Any

from ordeal.errors import FaultError


def is_number(value: Any) -> bool:
    """Return True for a number, but not for a boolean or NaN."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def is_whole(value: Any) -> bool:
    """Return True if it is an int and not a boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def check_fraction(factory: str, fraction: Any) -> None:
    """Check a share, from 0 to 1."""
    if not (is_number(fraction) and 0 <= fraction <= 1):
        raise FaultError(f"{factory}() got the fraction {fraction!r}", hint="write a number between 0 and 1")


def check_seconds(factory: str, argument: str, seconds: Any) -> None:
    """Check a duration, 0 or more."""
    if not (is_number(seconds) and seconds >= 0):
        raise FaultError(
            f"{factory}() got the {argument} {seconds!r}", hint="write a number of seconds that is not negative"
        )


def check_number(factory: str, argument: str, value: Any) -> None:
    """Check a number."""
    if not is_number(value):
        raise FaultError(f"{factory}() got the {argument} {value!r}", hint="write a number")


def check_count(factory: str, argument: str, value: Any, least: int | None = None) -> None:
    """Check a whole number of at least ``least``, if given."""
    if not (is_whole(value) and (least is None or value >= least)):
        hint = "write a whole number" if least is None else f"write {least} or more"
        raise FaultError(f"{factory}() got {argument}={value!r}", hint=hint)


def real_seconds(factory: str, argument: str, seconds: float, mode: str) -> float:
    """Return how long to sleep: ``seconds`` with the mode ``real``, and 0 with ``simulate``. Checks both."""
    if mode not in ("simulate", "real"):
        raise FaultError(f"{factory}() has no mode {mode!r}", hint='write mode="simulate" or mode="real"')
    check_seconds(factory, argument, seconds)
    return seconds if mode == "real" else 0.0


def check_every_n(factory: str, every_n: Any) -> None:
    """Check a count of calls, 1 or more."""
    if not (is_whole(every_n) and every_n >= 1):
        raise FaultError(f"{factory}() got every_n={every_n!r}", hint="write 1 to fail at every call, or more")


def check_status(factory: str, status_code: Any) -> None:
    """Check an HTTP status code."""
    if not (is_whole(status_code) and 100 <= status_code <= 599):
        raise FaultError(
            f"{factory}() got status_code={status_code!r}", hint="write a status code of HTTP, from 100 to 599"
        )


def check_text(factory: str, argument: str, text: Any, hint: str = "write a text") -> None:
    """Check a ``str``."""
    if not isinstance(text, str):
        raise FaultError(f"{factory}() got the {argument} {text!r}", hint=hint)


def check_command(factory: str, target: Any) -> None:
    """Check the text that identifies a child process."""
    check_text(factory, "target", target, 'write a part of the command that starts the child, such as "git push"')


def check_output(factory: str, argument: str, output: Any) -> None:
    """Check the output of a child process."""
    if not isinstance(output, (str, bytes, type(None))):
        raise FaultError(f"{factory}() got the {argument} {output!r}", hint="write a text, bytes, or None")


def check_error(factory: str, error: Any) -> None:
    """Check a class of exceptions made from one text; otherwise the program under test would get a TypeError."""
    if not (isinstance(error, type) and issubclass(error, BaseException)):
        raise FaultError(
            f"{factory}() got the error {error!r}", hint="give a class of exceptions, such as TimeoutError"
        )
    try:
        error("text")
    except TypeError as refusal:
        raise FaultError(
            f"{factory}() cannot make a {error.__name__} of a text: {refusal}",
            hint="give a separate class that needs one argument, or raise the error in the wrapper of a PatchFault",
        ) from refusal
