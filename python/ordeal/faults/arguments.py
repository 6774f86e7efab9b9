"""Checks of the arguments that several faults have in common; each raises FaultError and names the factory."""

from __future__ import annotations

from ordeal.errors import FaultError


def check_fraction(factory: str, fraction: float) -> None:
    """A share of a whole, from 0 to 1."""
    if not 0 <= fraction <= 1:
        raise FaultError(f"{factory}() got the fraction {fraction!r}", hint="write a number between 0 and 1")


def check_seconds(factory: str, argument: str, seconds: float) -> None:
    """A duration, 0 or more."""
    # `not >=` rather than `<`: it refuses nan as well.
    if not seconds >= 0:
        raise FaultError(
            f"{factory}() got the {argument} {seconds!r}", hint="write a number of seconds that is not negative"
        )


def check_mode(factory: str, mode: str) -> None:
    """``simulate`` or ``real``."""
    if mode not in ("simulate", "real"):
        raise FaultError(f"{factory}() has no mode {mode!r}", hint='write mode="simulate" or mode="real"')


def check_every_n(factory: str, every_n: int) -> None:
    """A count of calls, 1 or more."""
    if every_n < 1:
        raise FaultError(f"{factory}() got every_n={every_n!r}", hint="write 1 to fail at every call, or more")


def check_status(factory: str, status_code: int) -> None:
    """A status code of HTTP."""
    if not 100 <= status_code <= 599:
        raise FaultError(
            f"{factory}() got status_code={status_code!r}", hint="write a status code of HTTP, from 100 to 599"
        )
