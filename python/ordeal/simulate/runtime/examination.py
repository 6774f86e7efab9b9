"""What is noted of a run that is repeated for the report of its failure: its last events, logged errors, and causes."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ordeal._base.formatting import describe_error, one_line
from ordeal._base.limits import LINE_CHARS_MAX
from ordeal.simulate.runtime.decisions import Decided, name_of
from ordeal.simulate.runtime.loop import TIMERS, SimulationLoop
from ordeal.simulate.runtime.sites import UNKNOWN, raised_at
from ordeal.simulate.runtime.system_loop import name_of_job

#: Whose error asyncio reports with a text, where it is not a task's.
_WHO = {
    "Unhandled exception in client_connected_cb": "what start_server calls for a connection",
    "Future exception was never retrieved": "a future",
}
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
    causes: dict[str, tuple[str, str]] = field(default_factory=dict)
    """What a decision did, and when and where, by its label; the run alone knows it."""

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
        if not what.endswith(f"`{UNKNOWN.name}`"):
            self._events.append((at, who, what))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Note the errors that are logged in the block."""
        original = logging.Logger.callHandlers

        def pass_on(logger: logging.Logger, record: logging.LogRecord) -> None:
            if record.levelno >= logging.ERROR:
                error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
                raised = "" if error is None else f" ({describe_error(error)})"
                try:
                    message = record.getMessage()
                except Exception:  # noqa: BLE001 - the arguments are the program's, and may not fit
                    message = str(record.msg)
                self._logged.append(one_line(f"{record.name}: {message}{raised}", limit=LINE_CHARS_MAX))
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
        digits = max((len(f"{at:.3f}") for at, _, _ in self._events), default=0)
        rows = [f"{at:{digits}.3f} s  {who:{width}}  {what}" for at, who, what in self._events]
        names = {name_of(record.key): record.name for record in loop.records}
        tasks = [(each.name, each.task._exception) for each in loop.records if each.task is not loop._main]
        others = [(who_failed(each), each.get("exception")) for each in loop.unhandled if "task" not in each]
        ended = [
            f"{who} with {one_line(describe_error(error), limit=150)}{raised_at(error)}"
            for who, error in (*tasks, *others)
            if error is not None and error is not failure
        ]
        # The loop makes the decisions of a kind one after another, and notes the causes of some kinds together, those
        # of others by task or node.
        noted = {of: iter(causes) for of, causes in loop.causes.items()}
        causes: dict[str, tuple[str, str]] = {}
        for each in decided:
            of_it = noted.get((each.kind,)) or noted.get((each.kind, each.actor, each.site)) or iter(())
            if each.kind != "order" or each.site == TIMERS:
                causes[each.label] = next(of_it, ("", ""))
        return Examined(
            events=tuple(one_line(row, limit=LINE_CHARS_MAX) for row in rows),
            logged=tuple(self._logged),
            ended=tuple(ended),
            names={label: name for label, name in names.items() if label != name},
            causes=causes,
        )


def who_failed(context: dict[str, Any]) -> str:
    """Return whose error asyncio reports, where it is not a task's."""
    callback = getattr(context.get("handle"), "_callback", None)
    named = "a callback" if callback is None else f"the callback {name_of_job(callback)}"
    return _WHO.get(str(context.get("message", "")), named)
