"""The seed of a session: how it is written, where it comes from, and what is derived from it by name.

A session is a pytest run, or a program outside of one. All that is derived depends on the seed and a name alone: not on
what else was asked for, nor on the process, the machine, or the version of Python.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import sys
import threading

from ordeal.errors import ConfigError

__all__ = ["current", "for_", "rng"]

SEED_MAX = 2**64 - 1

#: The first of these that is set, and not empty, gives the seed.
VARIABLES = ("ORDEAL_SEED", "TEST_SEED")

#: In the place of a seed, this word asks for a new one.
FRESH = "fresh"
#: In the place of a seed, this word asks pytest for the one of its last run.
LAST = "last"

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# The bound keeps a number from growing without limit while it is read.
_NUMBER = re.compile(r"0x[0-9a-f]{1,128}|0o[0-7]{1,128}|0b[01]{1,128}|[0-9]{1,128}")
_BASES = {"0x": 16, "0o": 8, "0b": 2}
_SHOWN_CHARS_MAX = 60
_HINT = "write a whole number from 0 to 2**64 - 1, for example 0x1234, or a whole git commit (`git rev-parse HEAD`)"


class _Session:
    """The seed of this process, None before it is needed, and whether the program has asked for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.seed: int | None = None
        self.asked = False


_session = _Session()


# What programs ask for


def current() -> int:
    """Return the seed of the session, a number from 0 to 2**64 - 1, the same at each call.

    In pytest it is that of the run. Elsewhere it comes from the environment variable ``ORDEAL_SEED``, else
    ``TEST_SEED``, else from chance; then a line on the standard error stream says which it is.

    Raises:
        ConfigError: the environment variable holds no seed.
    """
    with _session.lock:
        _session.asked = True
        if _session.seed is None:
            _session.seed = _from_environment()
        return _session.seed


def for_(name: str) -> int:
    """Return the seed that belongs to ``name``, from 0 to 2**64 - 1; another name or another session has another one.

    Raises:
        ConfigError: as for ``current``.
    """
    return derive(current(), "child", name)


def rng(name: str) -> random.Random:
    """Return a new generator that starts from ``for_(name)``.

    Raises:
        ConfigError: as for ``current``.
    """
    return derived_rng(current(), "child", name)


# Derivation


def derive(seed: int, domain: str, name: str) -> int:
    """Return 64 bits that depend on all three. For a million names, two are the same with a chance of 3 in 10**8."""
    # BLAKE2b keyed with the seed (Aumasson and others 2013). A domain holds no zero, so no two pairs read the same.
    text = f"{domain}\0{name}".encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(text, digest_size=8, key=seed.to_bytes(8, "little"), person=b"ordeal seed")
    return int.from_bytes(digest.digest(), "little")


def derived_rng(seed: int, domain: str, name: str) -> random.Random:
    """Return a new generator that starts from ``derive`` of the same."""
    return random.Random(derive(seed, domain, name))


def fresh() -> int:
    """Return a seed from the operating system's chance. It is the only such thing in ordeal, and always printed."""
    return int.from_bytes(os.urandom(8), "little")


# Writing and reading


def parse(text: str) -> int:
    """Return the seed that ``text`` means: a number, with 0x, 0o or 0b before it if it is not decimal, or a git commit.

    Raises:
        ConfigError: it means none.
    """
    plain = text.strip().lower()
    # Forty digits make no seed in any base: what looks like both is a commit.
    if _COMMIT.fullmatch(plain):
        return derive(0, "commit", plain)
    if not _NUMBER.fullmatch(plain):
        raise ConfigError(f"{_shown(text)} is no seed", hint=_HINT)
    number = int(plain, _BASES.get(plain[:2], 10))
    if number > SEED_MAX:
        raise ConfigError(f"{_shown(text)} is too large for a seed", hint=_HINT)
    return number


def is_commit(text: str) -> bool:
    """Whether ``text`` is read as a git commit, not as a number."""
    return _COMMIT.fullmatch(text.strip().lower()) is not None


def environment() -> tuple[str, str] | None:
    """The variable that gives the seed, and its value; None when none does. An empty one counts as not set."""
    values = ((name, os.environ.get(name, "").strip()) for name in VARIABLES)
    return next(((name, value) for name, value in values if value), None)


def wrong_variable(name: str, error: ConfigError) -> ConfigError:
    """The error to raise where the variable ``name`` holds no seed, for which ``error`` was raised."""
    first, *others = VARIABLES
    # Only the first is named after ordeal. Who means something else by another can have the first go before it.
    way_out = f"; where {name} is not meant for ordeal, set {first}={FRESH}" if name in others else ""
    return ConfigError(f"the environment variable {name}: {error.message}", hint=f"{error.hint}{way_out}")


def _from_environment() -> int:
    name, value = environment() or ("", FRESH)
    if value == FRESH:
        seed = fresh()
        _announce(seed)
        return seed
    try:
        return parse(value)
    except ConfigError as error:
        raise wrong_variable(name, error) from None


def _announce(seed: int) -> None:
    """Tell the user of a program that runs outside of pytest which seed it has got by chance."""
    print(f"ordeal seed: {seed:#x} (replay with ORDEAL_SEED={seed:#x})", file=sys.stderr)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN_CHARS_MAX else f"{text[:_SHOWN_CHARS_MAX]}…")


# For whoever runs the session


def enter_session(seed: int) -> tuple[int | None, bool]:
    """Make ``seed`` that of this process, as if nobody had asked yet; what is returned is for ``leave_session``."""
    with _session.lock:
        before = (_session.seed, _session.asked)
        _session.seed, _session.asked = seed, False
        return before


def leave_session(before: tuple[int | None, bool]) -> None:
    """Put back what ``enter_session`` found."""
    with _session.lock:
        _session.seed, _session.asked = before


def asked() -> int | None:
    """The seed of this process if the program has asked for it, else None."""
    with _session.lock:
        return _session.seed if _session.asked else None
