"""What is noted of a run that is repeated for the report of its failure: its last events, logged errors, and causes."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ordeal._base import untrusted
from ordeal._base.formatting import one_line
from ordeal._base.limits import LINE_CHARS_MAX
from ordeal.simulate.runtime.decisions import Decided, name_of
from ordeal.simulate.runtime.loop import TIMERS, SimulationLoop
from ordeal.simulate.runtime.sites import UNKNOWN, innermost_site

#: The most of each kind in a report, which should fit a screen.
_EVENTS_MAX, _LINES_MAX = 12, 5


@dataclass(frozen=True, slots=True)
class Examined:
    """What a report says of the run besides its decisions."""

    events: tuple[str, ...] = ()
    """The last steps of tasks, timers and faults."""
    logged: tuple[str, ...] = ()
    """The errors that were logged."""
    ended: tuple[str, ...] = ()
    """The tasks that ended with an error, besides the test."""
    names: dict[str, str] = field(default_factory=dict)
    """How the program calls the tasks that decisions know by their function, by what decisions call them."""
    causes: dict[str, str] = field(default_factory=dict)
    """What a decision did, by its label, where that is known from the run alone."""

    def lines(self, *, has_events: bool) -> list[str]:
        """Return all of it as text, for people."""
        parts = (
            ("Last events:", self.events if has_events else ()),
            ("Logged:", self.logged[-_LINES_MAX:]),
            ("Ended with an error:", self.ended[-_LINES_MAX:]),
        )
        return [line for title, found in parts if found for line in (title, *(f"  {each}" for each in found))]


class Examination:
    """Takes the notes of one run, in ``watching()``."""

    def __init__(self) -> None:
        self._events = deque[tuple[float, str, str]](maxlen=_EVENTS_MAX)
        self._logged: list[str] = []

    def log(self, at: float, who: str, what: str) -> None:
        """Note an event of the loop, unless it is of a task of the simulation itself."""
        if what != UNKNOWN.name:
            self._events.append((at, who, what))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Note the errors that are logged in the block."""
        original = logging.Logger.callHandlers

        def pass_on(logger: logging.Logger, record: logging.LogRecord) -> None:
            if record.levelno >= logging.ERROR:
                self._logged.append(_logged_text(record))
            original(logger, record)

        logging.Logger.callHandlers = pass_on  # type: ignore[method-assign, assignment]
        try:
            yield
        finally:
            logging.Logger.callHandlers = original  # type: ignore[method-assign]

    def found(
        self, loop: SimulationLoop, decided: Sequence[Decided] = (), failure: BaseException | None = None
    ) -> Examined:
        """Return what was noted, before the loop is closed. ``failure`` is reported elsewhere."""
        width = max((len(who) for _, who, _ in self._events), default=0)
        rows = [f"{at:.3f} s  {who:{width}}  {what}" for at, who, what in self._events]
        names = {name_of(record.key): record.name for record in loop.records}
        return Examined(
            events=tuple(one_line(row, limit=LINE_CHARS_MAX) for row in rows),
            logged=tuple(self._logged),
            ended=tuple(_ended(loop, failure)),
            names={label: name for label, name in names.items() if label != name},
            causes=_causes(loop, decided),
        )


def _logged_text(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
    raised = "" if error is None else f" ({untrusted.type_name(type(error))}: {untrusted.error_message(error)})"
    try:
        message = record.getMessage()
    except Exception:  # noqa: BLE001 - the arguments are the program's, and may not fit
        message = str(record.msg)
    return one_line(f"{record.name}: {message}{raised}", limit=LINE_CHARS_MAX)


def _ended(loop: SimulationLoop, failure: BaseException | None) -> Iterator[str]:
    for record in loop.records:
        task = record.task
        error = task._exception if task is not loop._main and task.done() else None
        if error is not None and error is not failure:
            place = innermost_site(error.__traceback__)
            where = "" if place is None else f", at {place.where}: {place.name}"
            said = f"{record.name} with {untrusted.type_name(type(error))}: {untrusted.error_message(error)}{where}"
            yield one_line(said, limit=LINE_CHARS_MAX)


def _causes(loop: SimulationLoop, decided: Sequence[Decided]) -> dict[str, str]:
    """Return what the loop noted of each decision: it makes those of a kind one after another."""
    found: dict[str, str] = {}
    for kind, causes in loop.causes.items():
        made = [each.label for each in decided if each.kind == kind and (kind != "order" or each.site == TIMERS)]
        found.update(zip(made, causes, strict=False))
    return found
