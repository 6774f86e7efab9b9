"""Keeps ``hypothesis.note()`` from printing while a search runs: nobody reads the notes of all its runs."""

from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import Verbosity, settings
from hypothesis._settings import local_settings


@contextmanager
def unprinted_notes() -> Iterator[None]:
    """Have no run in the block print or format its notes, whatever verbosity the profile of the user's tests has."""
    default = settings.default or settings()
    if default.verbosity < Verbosity.verbose:
        yield
        return
    with local_settings(settings(verbosity=Verbosity.normal)):
        yield
