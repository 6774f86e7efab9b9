"""Arguments of faults are refused where they are written, with the factory, the value and what to write instead."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from ordeal.errors import FaultError
from ordeal.faults import arguments


class NeedsTwo(Exception):
    """Cannot be made of one text."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text, code)


@pytest.mark.parametrize(
    ("check", "values"),
    [
        (lambda v: arguments.check_fraction("f", v), [0, 1, 0.5]),
        (lambda v: arguments.check_seconds("f", "delay", v), [0, 0.0, 1e9, math.inf]),
        (lambda v: arguments.check_number("f", "value", v), [-1, 0.5, math.inf]),
        (lambda v: arguments.check_count("f", "size", v), [-1, 0, 5]),
        (lambda v: arguments.check_count("f", "size", v, 1), [1, 5]),
        (lambda v: arguments.check_every_n("f", v), [1, 10**9]),
        (lambda v: arguments.check_status("f", v), [100, 404, 599]),
        (lambda v: arguments.check_mode("f", v), ["simulate", "real"]),
        (lambda v: arguments.check_text("f", "target", v), ["", "a"]),
        (lambda v: arguments.check_command("f", v), ["git push"]),
        (lambda v: arguments.check_output("f", "stdout", v), [None, "", b""]),
        (lambda v: arguments.check_error("f", v), [OSError, TimeoutError, KeyboardInterrupt]),
    ],
)
def test_what_fits_is_taken(check: Callable[[Any], None], values: list[Any]) -> None:
    for value in values:
        check(value)


NUMBERS = "write a number between 0 and 1"
SECONDS = "write a number of seconds that is not negative"
STATUS = "write a status code of HTTP, from 100 to 599"


@pytest.mark.parametrize(
    ("check", "message", "hint"),
    [
        (lambda: arguments.check_fraction("f", 1.01), "f() got the fraction 1.01", NUMBERS),
        (lambda: arguments.check_fraction("f", -0.1), "f() got the fraction -0.1", NUMBERS),
        (lambda: arguments.check_fraction("f", math.nan), "f() got the fraction nan", NUMBERS),
        (lambda: arguments.check_fraction("f", True), "f() got the fraction True", NUMBERS),
        (lambda: arguments.check_seconds("f", "delay", -1), "f() got the delay -1", SECONDS),
        (lambda: arguments.check_seconds("f", "delay", "1"), "f() got the delay '1'", SECONDS),
        (lambda: arguments.check_number("f", "value", None), "f() got the value None", "write a number"),
        (lambda: arguments.check_number("f", "value", math.nan), "f() got the value nan", "write a number"),
        (lambda: arguments.check_count("f", "size", 1.0), "f() got size=1.0", "write a whole number"),
        (lambda: arguments.check_count("f", "size", 0, 1), "f() got size=0", "write 1 or more"),
        (lambda: arguments.check_count("f", "size", True, 1), "f() got size=True", "write 1 or more"),
        (lambda: arguments.check_mode("f", "fake"), "f() has no mode 'fake'", 'write mode="simulate" or mode="real"'),
        (lambda: arguments.check_every_n("f", 0), "f() got every_n=0", "write 1 to fail at every call, or more"),
        (lambda: arguments.check_status("f", 99), "f() got status_code=99", STATUS),
        (lambda: arguments.check_status("f", 600), "f() got status_code=600", STATUS),
        (lambda: arguments.check_text("f", "target", b"a"), "f() got the target b'a'", "write a text"),
        (
            lambda: arguments.check_command("f", ["git"]),
            "f() got the target ['git']",
            'write a part of the command that starts the child, such as "git push"',
        ),
        (
            lambda: arguments.check_output("f", "stdout", 3),
            "f() got the stdout 3",
            "write a text, bytes, or None",
        ),
        (
            lambda: arguments.check_error("f", OSError("made already")),
            "f() got the error OSError('made already')",
            "give a class of exceptions, such as TimeoutError",
        ),
        (
            lambda: arguments.check_error("f", int),
            "f() got the error <class 'int'>",
            "give a class of exceptions, such as TimeoutError",
        ),
    ],
)
def test_what_does_not_fit_is_refused(check: Callable[[], None], message: str, hint: str) -> None:
    with pytest.raises(FaultError) as caught:
        check()
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_an_error_that_needs_more_than_a_text_is_refused_with_the_reason() -> None:
    with pytest.raises(FaultError, match=r"^f\(\) cannot make a NeedsTwo of a text: .*'code'") as caught:
        arguments.check_error("f", NeedsTwo)
    assert isinstance(caught.value.__cause__, TypeError)
