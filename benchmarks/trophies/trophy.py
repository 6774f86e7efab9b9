"""What is known of a bug in a library, as the page shows it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Trophy:
    """A bug: what is wrong, what the documentation of the library means instead, and what shows it.

    ``shows`` is a regular expression: failures of ``machine`` whose message it matches are this bug. ``repro`` is plain
    Python that asserts what the library does wrong; where it ``ends`` in an error instead, this is its type. ``known``
    says what public reports there are.
    """

    name: str
    wrong: str
    meant: str
    machine: Any
    shows: str
    repro: Callable[[], None]
    ends: str = ""
    known: str = "no report found"
