"""The seed of a session: how it is written, where it comes from, and what is derived from it by name.

A session is a pytest run, or another program. Everything derived depends only on the seed and a name: not on what else
was derived, nor on the process, the machine, or the version of Python.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import sys
import threading

from ordeal._base.limits import SEED_MAX, VALUE_CHARS_MAX
from ordeal.errors import ConfigError

__all__ = ["current", "for_", "rng"]


#: The first of these variables that is set and not empty gives the seed.
VARIABLES = ("ORDEAL_SEED", "TEST_SEED")

#: Instead of a seed, this word asks for a new one.
FRESH = "fresh"
#: Instead of a seed, this word asks pytest for the one of its last run.
LAST = "last"

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# The bound keeps a number from growing without limit while it is parsed.
_NUMBER = re.compile(r"0x[0-9a-f]{1,128}|0o[0-7]{1,128}|0b[01]{1,128}|[0-9]{1,128}")
_BASES = {"0x": 16, "0o": 8, "0b": 2}
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
    """Return the seed of the session, a number from 0 to 2**64 - 1, the same in each call.

    In pytest it is that of the run. Elsewhere it comes from the environment variable ``ORDEAL_SEED``, else
    ``TEST_SEED``; otherwise it is random, and a line on stderr shows it.

    Raises:
        ConfigError: the environment variable holds no seed.
    """
    with _session.lock:
        _session.asked = True
        if _session.seed is not None:
            return _session.seed
        name, value = environment() or ("", FRESH)
        if value == FRESH:
            _session.seed = fresh()
            print(f"ordeal seed: {_session.seed:#x} (replay with ORDEAL_SEED={_session.seed:#x})", file=sys.stderr)
        else:
            try:
                _session.seed = parse(value)
            except ConfigError as error:
                raise wrong_variable(name, error) from None
        return _session.seed


def for_(name: str) -> int:
    """Return the seed for ``name``, from 0 to 2**64 - 1; it differs for other names and other sessions.

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
    """Return 64 bits that depend on all three. Among a million names, two collide with a probability of 3 in 10**8."""
    # BLAKE2b keyed with the seed (Aumasson and others 2013). A domain contains no zero, so no two pairs are equal.
    text = f"{domain}\0{name}".encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(text, digest_size=8, key=seed.to_bytes(8, "little"), person=b"ordeal seed")
    return int.from_bytes(digest.digest(), "little")


def derived_rng(seed: int, domain: str, name: str) -> random.Random:
    """Return a new generator that starts from ``derive`` with these arguments."""
    return random.Random(derive(seed, domain, name))


def fresh() -> int:
    """Return a random seed from the operating system. This is the only such place in ordeal, and is always printed."""
    return int.from_bytes(os.urandom(8), "little")


# Writing and reading


def parse(text: str) -> int:
    """Parse a seed: a number, with 0x, 0o or 0b before it if it is not decimal, or a git commit.

    Raises:
        ConfigError: it is neither.
    """
    plain = text.strip().lower()
    # Forty digits are too many for a seed in any base: what looks like both is a commit.
    if _COMMIT.fullmatch(plain):
        return derive(0, "commit", plain)
    if not _NUMBER.fullmatch(plain):
        raise ConfigError(f"{_shown(text)} is not a seed", hint=_HINT)
    number = int(plain, _BASES.get(plain[:2], 10))
    if number > SEED_MAX:
        raise ConfigError(f"{_shown(text)} is too large for a seed", hint=_HINT)
    return number


def is_commit(text: str) -> bool:
    """Return True if ``text`` is read as a git commit, not as a number."""
    return _COMMIT.fullmatch(text.strip().lower()) is not None


def environment() -> tuple[str, str] | None:
    """Return the variable that gives the seed, and its value; None if there is none. An empty one counts as unset."""
    values = ((name, os.environ.get(name, "").strip()) for name in VARIABLES)
    return next(((name, value) for name, value in values if value), None)


def wrong_variable(name: str, error: ConfigError) -> ConfigError:
    """Return the error to raise when the variable ``name`` holds no seed; ``error`` says why."""
    first, *others = VARIABLES
    # Only the first is named after ordeal. If another has a different meaning for the user, the first overrides it.
    way_out = f"; where {name} is not meant for ordeal, set {first}={FRESH}" if name in others else ""
    return ConfigError(f"the environment variable {name}: {error.message}", hint=f"{error.hint}{way_out}")


def _shown(text: str) -> str:
    return repr(text if len(text) <= VALUE_CHARS_MAX else f"{text[:VALUE_CHARS_MAX]}…")


# For the owner of the session


def enter_session(seed: int) -> tuple[int | None, bool]:
    """Make ``seed`` that of this process, as if it was never used; the result is for ``leave_session``."""
    with _session.lock:
        before = (_session.seed, _session.asked)
        _session.seed, _session.asked = seed, False
        return before


def leave_session(before: tuple[int | None, bool]) -> None:
    """Restore what ``enter_session`` returned."""
    with _session.lock:
        _session.seed, _session.asked = before


def asked() -> int | None:
    """Return the seed of this process if the program has asked for it, else None."""
    with _session.lock:
        return _session.seed if _session.asked else None
